"""Global indexes: built over the rows of a column that have none, and dropped.

An index file covers a range of consecutive row ids of one partition. A build reads the column of
the rows that no index of the type covers, sorts them by key, and writes files of up to `RECORDS`
rows, which share the range. Full-text and vector indexes have one file for each part of a range,
divided at multiples of `global-index.row-count-per-shard`. Rows that are written later have no
index until the next build.

Spec: concepts/spec/tableindex, global index; spark procedures, create_global_index.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.planned_again import planned_again, snapshot_to_plan
from paimon_explore.commit.squash import bucket_messages
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    filter_rows,
    int64_values,
    null_array,
)
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.global_index.column_keys import SortKeys, grouped, sort_keys
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, global_index_keys
from paimon_explore.encoding.global_index.index_sources import (
    encode_snapshot,
    names_snapshot,
    primary_key_sources,
)
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices, undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.index_files.external_sort import sorted_keys
from paimon_explore.maintenance.index_files.search_index import (
    check_search_column,
    search_index,
    shards,
)
from paimon_explore.maintenance.index_files.sorted_index import IndexContent, sorted_index
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite, live_files_of
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.index_lookups import INDEX_TYPES
from paimon_explore.scan.manifest_arrays import byte_rows, numbers, row_array
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.search_indexes import FULL_TEXT, VECTOR_TYPES
from paimon_explore.scan.splits.row_id_ranges import RowRange, consecutive_row_ids, row_ranges
from paimon_explore.scan.splits.split_generator import make_splits
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.parallel import in_parallel, threads_for
from paimon_explore.write.write_target import WriteTarget, abort

SEARCH_TYPES = (FULL_TEXT, *VECTOR_TYPES)
_REFUSED = {
    "multivalue": "Only pypaimon-rust and Java after 2.0 have this type: no condition of a scan "
    "could use it here. ",
    "fm": "Only pypaimon-rust has this type, and its format is not published. ",
    "lumina": "The library of this type has no published format; a vector index of another type "
    "answers the same searches. ",
}
"""Types that other implementations know -> why they are not built."""
RECORDS = 12_000_000
"""Maximum rows of an index file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalIndexReport:
    """The result of building or dropping a global index.

    Attributes:
        files: names of the index files that were added or dropped, or would be dropped.
        row_count: rows that they index.
        snapshot_id: the snapshot that was created; None if nothing changed.
        dry_run: whether the files were only listed.
    """

    files: tuple[str, ...] = ()
    row_count: int = 0
    snapshot_id: int | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the number of files and rows."""
        return f"<{len(self.files):,} global index files of {self.row_count:,} rows>"


_ROWS_AT_ONCE = 1 << 20
"""Up to this many rows, the indexes of several ranges of rows are built at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalIndexOf:
    """An index to build or drop.

    Attributes:
        column: the indexed column.
        index_type: `btree`, `bitmap`, `full-text` or a type of vector index.
        partitions: only the partitions that match one of these; None for all.
    """

    column: str
    index_type: str
    partitions: Sequence[PartitionSpec] | None = None


@planned_again
def create_global_index(
    store: TableStore, schema: TableSchema, options: TableOptions, what: GlobalIndexOf
) -> GlobalIndexReport:
    """Build an index over the rows of a column that have none.

    Args:
        store: the table and branch.
        schema: the latest schema.
        options: effective options.
        what: the index.

    Raises:
        InvalidInputError: the column or partition does not exist, or the type cannot be indexed.
        UnsupportedFeatureError: the table has no data evolution, or another type of index.
    """
    field = _checked_field(schema, options, what)
    snapshot = snapshot_to_plan(store, schema)
    if snapshot is None:
        return GlobalIndexReport()
    target = WriteTarget(store=store, schema=schema, options=options)
    build = _Build(
        target=target,
        snapshot=snapshot,
        field=field,
        keys=None if what.index_type in SEARCH_TYPES else global_index_keys(field.type),
        index_type=what.index_type,
    )
    messages: list[CommitMessage] = []
    with undo_on_error(abort, target, messages), explain_missing_files(store, snapshot):
        messages.extend(build.messages(live_files_of(target, snapshot, what.partitions)))
    if not messages:
        return GlobalIndexReport()
    rows = [row for message in messages for row in message.new_index_files.rows()]
    seen = SeenSnapshot.of(snapshot)
    made = commit_rewrite(
        target,
        messages,
        lambda own: Committer.commit(own, messages, check_appends=True, planned_on=seen),
    )
    return GlobalIndexReport(
        files=tuple(str(row["file_name"]) for row in rows),
        row_count=sum(int(str(row["row_count"])) for row in rows),
        snapshot_id=None if made is None else made.id,
    )


@planned_again
def drop_global_index(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    what: GlobalIndexOf,
    *,
    dry_run: bool = False,
) -> GlobalIndexReport:
    """Drop the index files of a column.

    Args:
        store: the table and branch.
        schema: the latest schema.
        options: effective options.
        what: the index.
        dry_run: only list the files.

    Raises:
        InvalidInputError: the column or partition does not exist.
    """
    field = schema.field(what.column)
    if field is None:
        raise _unknown(schema, what.column)
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return GlobalIndexReport(dry_run=dry_run)
    target = WriteTarget(store=store, schema=schema, options=options)
    with explain_missing_files(store, snapshot):
        index = store.manifests.index_of(snapshot)
    found = _of_field(index, field.id, what.index_type)
    if what.partitions is not None:
        known = live_files_of(target, snapshot, what.partitions).partitions
        found = found.filter(
            np.array([row["partition"] in known for row in found.rows()], np.bool_)
        )
    rows = found.rows()
    report = GlobalIndexReport(
        files=tuple(str(row["file_name"]) for row in rows),
        row_count=sum(int(str(row["row_count"])) for row in rows),
        dry_run=dry_run,
    )
    if dry_run or not rows:
        return report
    messages = bucket_messages({"deleted_index_files": rows})
    made = commit_rewrite(
        target, messages, lambda own: Committer.commit(own, messages, check_appends=True)
    )
    return replace(report, snapshot_id=None if made is None else made.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Build:
    """Builds the index files of a column."""

    target: WriteTarget
    snapshot: Snapshot
    field: DataField
    keys: GlobalIndexKeys | None
    index_type: str

    def messages(self, entries: ManifestEntries) -> Iterator[CommitMessage]:
        """Write the index files of all partitions; yields a message for each range of rows."""
        builds = [*self._builds(entries)]
        is_small = numbers(entries.table, "row_count").sum() <= _ROWS_AT_ONCE
        results = in_parallel(
            lambda build: build(),
            builds,
            threads_for(len(builds), 0, self.target.store.file_io) if is_small else 1,
            discard=lambda message: None if message is None else abort(self.target, [message]),
        )
        with closing(results):
            yield from (message for message in results if message is not None)

    def _builds(self, entries: ManifestEntries) -> Iterator[Callable[[], CommitMessage | None]]:
        known = entries.filter(row_ranges(entries)[0] >= 0)
        found = self.target.store.manifests.index_of(self.snapshot)
        covered = _covered(_of_field(found, self.field.id, self.index_type))
        partitions = byte_rows(known.column("partition").combine_chunks())
        for partition in dict.fromkeys(partitions):
            own = known.filter(np.array([one == partition for one in partitions], np.bool_))
            for part in _without(consecutive_row_ids(own), covered):
                if self.keys is not None:
                    yield partial(self._sorted, partition, own, part, self.keys)
                    continue
                for shard in shards(*part, self._shard_rows):
                    yield partial(self._searched, partition, own, shard)

    @property
    def _names_snapshot(self) -> bool:
        """Whether an index of the table names its snapshot, which releases up to 2.0 do not do."""
        found = self.target.store.manifests.index_of(self.snapshot)
        return any(names_snapshot(row["global_index"]) for row in found.rows())

    @property
    def _shard_rows(self) -> int:
        rows = self.target.options.value(opt.GLOBAL_INDEX_ROW_COUNT_PER_SHARD)
        if rows < 1:
            key = opt.GLOBAL_INDEX_ROW_COUNT_PER_SHARD.key
            raise InvalidInputError(f"Option {key!r} must be at least 1, not {rows}.")
        return rows

    def _sorted(
        self, partition: bytes, entries: ManifestEntries, part: RowRange, keys: GlobalIndexKeys
    ) -> CommitMessage:
        """Write the btree or bitmap files of a range of rows."""
        nulls = BitMap64()

        def rows() -> Iterator[SortKeys]:
            for column, row_ids in self._batches(entries, part):
                found, without = sort_keys(column, row_ids, keys)
                nulls.update(without)
                yield found

        files: list[dict[str, object]] = []
        for _, own in groupby(_of_files(sorted_keys(rows())), key=itemgetter(0)):
            parts = (grouped(found, keys) for _, found in own)
            content = sorted_index(parts, BitMap64() if files else nulls, keys, self.index_type)
            files.append(self._write(content, part))
        if nulls and not files:
            files.append(self._write(sorted_index((), nulls, keys, self.index_type), part))
        return self._message(partition, files)

    def _searched(
        self, partition: bytes, entries: ManifestEntries, part: RowRange
    ) -> CommitMessage | None:
        """Write the full-text or vector file of a range of rows; None if it would be empty."""
        column, row_ids = self._rows(entries, part)
        if not len(row_ids):  # all rows are deleted
            return None
        options = self.target.options
        content = search_index(column, row_ids, self.field, self.index_type, options)
        return None if content is None else self._message(partition, [self._write(content, part)])

    def _message(self, partition: bytes, files: Sequence[dict[str, object]]) -> CommitMessage:
        rows = [{**file, "partition": partition} for file in files]
        return CommitMessage(
            partition=partition, bucket=0, new_index_files=IndexEntries.from_rows(rows)
        )

    def _rows(
        self, entries: ManifestEntries, part: RowRange
    ) -> "tuple[pa.ChunkedArray[Any], Ints]":
        """Read the column of a range of rows, with row ids from the start of the range on."""
        batches = [*self._batches(entries, part)]
        if not batches:  # all rows are deleted
            return pa.chunked_array([null_array(0, to_arrow(self.field.type))]), np.zeros(
                0, np.int64
            )
        ids = np.concatenate([row_ids for _, row_ids in batches])
        order = np.argsort(ids, kind="stable")
        column = pa.chunked_array([values for values, _ in batches]).take(row_array(order))
        return column, ids[order]

    def _batches(self, entries: ManifestEntries, part: RowRange) -> Iterator[tuple[Column, Ints]]:
        """Read the column of a range of rows, with row ids from the start of the range on."""
        starts, ends = row_ranges(entries)
        files = entries.filter((starts < part[1]) & (ends > part[0]))
        store, schema, options = self.target.store, self.target.schema, self.target.options
        scan = ScanTarget(store=store, schema=schema, options=options, snapshot=self.snapshot)
        reader = SplitReader(
            unrestricted=True,
            target=scan,
            columns=(self.field.name,),
            system_columns=(SystemColumn.ROW_ID,),
        )
        for batch in reader.read_each(make_splits(scan.located(files, self.snapshot), scan.rules)):
            ids = int64_values(batch.column(1))
            inside = (ids >= part[0]) & (ids < part[1])
            yield filter_rows(batch.column(0), inside), ids[inside] - part[0]

    def _write(self, content: IndexContent, part: RowRange) -> dict[str, object]:
        """Write an index file; returns its entry without the partition."""
        prefix = "vector-" if self.index_type in VECTOR_TYPES else ""
        name = f"{prefix}{self.index_type}-global-index-{uuid4()}.index"
        self.target.store.file_io.create(self.target.store.paths.index(name), content.data)
        return {
            "kind": 0,
            "bucket": 0,
            "index_type": self.index_type,
            "file_name": name,
            "file_size": len(content.data),
            "row_count": content.row_count,
            "global_index": {
                "row_range_start": part[0],
                "row_range_end": part[1] - 1,
                "index_field_id": self.field.id,
                "index_meta": content.meta,
                "source_meta": encode_snapshot(self.snapshot.id) if self._names_snapshot else None,
            },
        }


def _of_files(parts: Iterable[SortKeys]) -> Iterator[tuple[int, SortKeys]]:
    """Divide sorted rows into files of `RECORDS` rows; yields the number of the file with them."""
    at = 0
    for part in parts:
        start = 0
        while start < len(part):
            file, used = divmod(at, RECORDS)
            found = part.slice(start, start + RECORDS - used)
            yield file, found
            start += len(found)
            at += len(found)


def _checked_field(schema: TableSchema, options: TableOptions, what: GlobalIndexOf) -> DataField:
    field = schema.field(what.column)
    if field is None:
        raise _unknown(schema, what.column)
    if what.index_type not in (*INDEX_TYPES, *SEARCH_TYPES):
        reason = _REFUSED.get(what.index_type, "")
        raise UnsupportedFeatureError(
            f"a global index of type {what.index_type!r}",
            hint=f"{reason}Supported: {choices((*INDEX_TYPES, *SEARCH_TYPES))}.",
        )
    if schema.primary_keys or not options.value(opt.DATA_EVOLUTION_ENABLED):
        raise UnsupportedFeatureError(
            "a global index of a table without data evolution",
            hint=f"Create the table with {opt.ROW_TRACKING_ENABLED.key!r} = 'true' and "
            f"{opt.DATA_EVOLUTION_ENABLED.key!r} = 'true'.",
        )
    if what.index_type in SEARCH_TYPES:
        check_search_column(field, what.index_type)
    return field


def _unknown(schema: TableSchema, column: str) -> InvalidInputError:
    known = choices([field.name for field in schema.fields])
    return InvalidInputError(f"Column {column!r} does not exist.", hint=f"Columns: {known}.")


def _of_field(entries: IndexEntries, field_id: int, index_type: str) -> IndexEntries:
    """Return the index files of a type over one column alone."""
    wanted = []
    for row in entries.rows():
        index = row["global_index"]
        wanted.append(
            isinstance(index, dict)
            and row["index_type"] == index_type
            and index["index_field_id"] == field_id
            and not index["extra_field_ids"]
            and primary_key_sources(index) is None
        )
    return entries.filter(np.array(wanted, np.bool_))


def _covered(entries: IndexEntries) -> list[RowRange]:
    found = [row["global_index"] for row in entries.rows()]
    return [
        (index["row_range_start"], index["row_range_end"] + 1)
        for index in found
        if isinstance(index, dict)
    ]


def _without(parts: Sequence[RowRange], covered: Sequence[RowRange]) -> list[RowRange]:
    """Return what other ranges leave of ranges.

    >>> _without([(0, 10), (20, 30)], [(2, 4), (9, 22)])
    [(0, 2), (4, 9), (22, 30)]
    """
    for start, end in covered:
        cut = [((low, min(high, start)), (max(low, end), high)) for low, high in parts]
        parts = [part for pair in cut for part in pair if part[0] < part[1]]
    return list(parts)
