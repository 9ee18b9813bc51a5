"""Plans the live files that an overwrite removes.

An overwrite replaces all partitions, those with given values, or those of its new files (dynamic
overwrite). It removes their live files in the latest snapshot with their index files, so it is
planned again in every commit attempt.

Spec: sql-write, INSERT OVERWRITE; flink procedures, drop_partition.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, time
from itertools import pairwise
from math import isnan

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.arguments import python_value
from paimon_explore.commit.file_changes import Changes, in_partitions, with_column
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Column, bool_values, valid_mask
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.definitions import DataField, RowType, TypeRoot, with_nullable
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.splits.key_range_sections import key_ranks
from paimon_explore.store.table_store import TableStore

PartitionSpec = Mapping[str, object]
"""Partition column -> value; a str is converted to the column type."""

_CONVERSION_ERRORS = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """The partitions that an overwrite replaces.

    Attributes:
        specs: partitions that match one of these are replaced; an empty spec matches all.
        dynamic: replace the partitions of the new files instead.
        partitions: binary rows of further partitions to replace.
    """

    specs: tuple[PartitionSpec, ...] = ()
    dynamic: bool = False
    partitions: frozenset[bytes] = frozenset()


WHOLE_TABLE = Overwrite(specs=({},))
NEW_PARTITIONS = Overwrite(dynamic=True)


@dataclass(frozen=True, slots=True)
class PartitionMatcher:
    """Matches the partitions that an overwrite replaces.

    Attributes:
        partition_type: the partition columns.
        overwrite: the overwrite.
        new: partitions of the new files.
    """

    partition_type: RowType
    overwrite: Overwrite
    new: frozenset[bytes]

    def matches(self, partitions: Sequence[bytes]) -> Bools:
        """Return the mask of the replaced partitions, for n binary rows.

        Raises:
            InvalidInputError: a spec has a column that is not a partition column, or an invalid
                value.
        """
        if self.overwrite.dynamic:
            return np.array([partition in self.new for partition in partitions], np.bool_)
        rows = pa.array(list(partitions), pa.binary())
        types = [field.type for field in self.partition_type]
        columns = decode_rows(rows, types, where="_PARTITION")
        known = self.overwrite.partitions
        found = np.array([partition in known for partition in partitions], np.bool_)
        for spec in self.overwrite.specs:
            found |= self._match(spec, columns, len(partitions))
        return found

    def _match(self, spec: PartitionSpec, columns: Sequence[Column], count: int) -> Bools:
        found = np.ones(count, np.bool_)
        for name, value in spec.items():
            place = _place_of(name, self.partition_type)
            found &= _equal(columns[place], value, self.partition_type.fields[place])
        return found


def _equal(column: Column, value: object, field: DataField) -> Bools:
    if value is None:
        return ~valid_mask(column)
    wanted = partition_scalar(value, field)
    is_nan = pa.types.is_floating(column.type) and isnan(wanted.as_py())
    same: Column = pc.is_nan(column) if is_nan else pc.equal(column, wanted)
    return bool_values(same) & valid_mask(same)


def partition_scalar(value: object, field: DataField) -> "pa.Scalar[pa.DataType]":
    """Convert a value to the type of a partition column; a str is cast, as in folder names.

    Texts of digits are the days since 1970 of a DATE, as in the folder `dt=20454`.

    Raises:
        InvalidInputError: the value is not valid for the column type.
    """
    if isinstance(value, pa.Scalar) and value.is_valid and value.type == to_arrow(field.type):
        return value
    is_day = is_root(field.type, TypeRoot.DATE)
    try:
        if isinstance(value, str) and not is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR):
            found = default_column(value, field.type)[0]
            if is_day:
                found.as_py()  # raises for '20260101': digits count days, and the year is 57440
            return found
        plain = python_value(value)
        has_time = isinstance(plain, datetime) and plain.time() != time()
        if plain is None or (is_day and has_time):  # pyarrow would drop the time
            raise UncastableError("has a time of day")  # noqa: TRY301 - as for other values
        return pa.scalar(plain, to_arrow(field.type))
    except (*_CONVERSION_ERRORS, UncastableError) as error:
        kind = type_text(with_nullable(field.type, nullable=True))
        raise InvalidInputError(
            f"Partition column {field.name!r} is {kind}, but {value!r} is not a valid {kind}."
        ) from error


def check_partition(partition_type: RowType, spec: PartitionSpec) -> None:
    """Check a partition spec.

    Raises:
        InvalidInputError: a name is not a partition column, or a value is invalid.
    """
    for name, value in spec.items():
        field = partition_type.fields[_place_of(name, partition_type)]
        if value is not None:
            partition_scalar(value, field)


def _place_of(name: str, partition_type: RowType) -> int:
    names = partition_type.names
    if name not in names:
        raise InvalidInputError(
            f"{name!r} is not a partition column.", hint=f"Partition columns: {choices(names)}."
        )
    return names.index(name)


def check_new_files(matcher: PartitionMatcher) -> None:
    """Check that all new files are in the partitions that a static overwrite replaces.

    Raises:
        InvalidInputError: new files are in other partitions.
    """
    partitions = sorted(matcher.new)
    if not bool(matcher.matches(partitions).all()):
        raise InvalidInputError(
            "Some new rows belong to other partitions than the overwritten partition.",
            hint="Pass only rows of the overwritten partition, or omit partition= to replace all "
            "partitions of the new rows.",
        )


def overwrite_changes(
    live: ManifestEntries, index: IndexEntries, changes: Changes, matcher: PartitionMatcher
) -> Changes:
    """Return the changes of an overwrite: removed files, then new files.

    Args:
        live: live files of the table, at least those of the replaced partitions.
        index: all index files.
        changes: the new files.
        matcher: matches the replaced partitions.
    """
    removed = _matching(live, matcher)
    old_index = index.filter(_mask(index.table.column("partition"), matcher))
    return Changes(
        entries=ManifestEntries.concat(
            [part for part in (removed.with_kind(FileKind.DELETE), changes.entries) if len(part)]
        ),
        added_index=changes.added_index,
        deleted_index=IndexEntries.concat(
            [part for part in (old_index, changes.deleted_index) if len(part)]
        ),
    )


def _matching(live: ManifestEntries, matcher: PartitionMatcher) -> ManifestEntries:
    distinct = [partition.as_py() for partition in live.column("partition").unique()]
    found = matcher.matches(distinct)
    wanted = frozenset(p for p, hit in zip(distinct, found.tolist(), strict=True) if hit)
    return live if len(wanted) == len(distinct) else in_partitions(live, wanted)


def all_files(store: TableStore, schema: TableSchema, snapshot: Snapshot) -> ManifestEntries:
    """Return the live files of a snapshot."""
    every = PartitionFilter(row_type=schema.partition_type)
    return live_files(store, snapshot, every)


def files_of_specs(
    live: ManifestEntries, schema: TableSchema, specs: Sequence[PartitionSpec] | None
) -> ManifestEntries:
    """Return the files in the partitions that match one of the specs; None for all.

    Raises:
        InvalidInputError: a spec has a column that is not a partition column, or a wrong value.
    """
    if specs is None or not len(live):
        return live
    what = Overwrite(specs=tuple(specs))
    return _matching(live, PartitionMatcher(schema.partition_type, what, frozenset()))


def _mask(column: "pa.ChunkedArray[pa.Scalar[pa.DataType]]", matcher: PartitionMatcher) -> Bools:
    partitions = [value.as_py() for value in column]
    return matcher.matches(partitions) if partitions else np.zeros(0, np.bool_)


def upgrade_level_0(entries: ManifestEntries, keys: RowType, level: int) -> ManifestEntries:
    """Move new level-0 files of an overwrite to the top level where no merge is needed.

    An overwritten bucket has no other files. So if its new files have disjoint keys and no
    deletions, it is already fully compacted.

    Args:
        entries: the new files.
        keys: the trimmed primary key.
        level: the top level.
    """
    rows = entries.table.select(["partition", "bucket", "level", "delete_row_count"]).to_pylist()
    lows, highs = key_ranks(entries, keys)
    buckets: dict[tuple[object, object], list[int]] = {}
    for position, row in enumerate(rows):
        buckets.setdefault((row["partition"], row["bucket"]), []).append(position)
    levels = [row["level"] for row in rows]
    for positions in buckets.values():
        ranges = sorted((int(lows[i]), int(highs[i])) for i in positions)
        is_run = all(after[0] > before[1] for before, after in pairwise(ranges))
        is_plain = all(
            rows[i]["level"] == 0 and rows[i]["delete_row_count"] == 0 for i in positions
        )
        if is_run and is_plain and all(rows[i]["bucket"] >= 0 for i in positions):
            for i in positions:
                levels[i] = level
    return with_column(entries, "level", pa.array(levels, pa.int32()))
