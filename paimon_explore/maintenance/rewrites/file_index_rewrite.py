"""Rewrite of file indexes: build those that the options ask for, without rewriting data files.

After a change of the options `file-index.…` only new files have the new indexes. The rewrite reads
the indexed columns of each file whose indexes differ, stores a new index, and replaces the manifest
entry of the file in one commit. Files whose indexes are of the same columns and kinds are left.

The new entry is never equal to one that was removed before, by an earlier rewrite: the DELETE entry
of that one, which stays in the manifests until they are rewritten, would remove the file. So an
index that a file had before is stored in a file with a new name, and the indexes of a file that had
none before stay if the options ask for none.

Spec: concepts/spec/fileindex; spark procedures, rewrite_file_index.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count

from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.planned_again import planned_again, snapshot_to_plan
from paimon_explore.data_types.definitions import DataField, MapType
from paimon_explore.encoding.file_index.container import decode_container
from paimon_explore.errors import CommitOutcomeUnknownError, UnsupportedFeatureError
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.fileio.paths import parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.rewrites.rewrite_commit import (
    commit_rewrite,
    identities,
    live_files_of,
    removed_entries,
)
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import INDEX_SUFFIX, file_in, file_index_path
from paimon_explore.read.data_file import ReadRequest, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.file_indexes import FileIndexes, IndexPlan, index_plans
from paimon_explore.write.parallel import in_parallel, threads_for
from paimon_explore.write.write_target import WriteTarget

_MAX_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIndexReport:
    """The result of a rewrite of file indexes.

    Attributes:
        files: sorted paths of the data files whose indexes were replaced, or would be.
        partitions: number of their partitions.
        snapshot_id: the snapshot that was created; None if nothing was replaced.
        dry_run: whether the files were only listed.
    """

    files: tuple[str, ...] = ()
    partitions: int = 0
    snapshot_id: int | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the number of files, and the first of them."""
        act = "would rewrite" if self.dry_run else "rewrote"
        first = [f"  {sanitized(path)}" for path in self.files[:_MAX_SHOWN]]
        head = f"{act} the indexes of {len(self.files):,} files in {self.partitions:,} partitions"
        return "\n".join([head, *first])


@planned_again
def rewrite_file_indexes(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    partitions: Sequence[PartitionSpec] | None = None,
    dry_run: bool = False,
) -> FileIndexReport:
    """Build the file indexes that the options ask for.

    Args:
        store: the table and branch.
        schema: the latest schema.
        options: effective options.
        partitions: only the partitions that match one of these; None for all.
        dry_run: only list the files.

    Raises:
        InvalidInputError: an option of an index is wrong, or a partition.
        UnsupportedFeatureError: a table with data evolution, or an unknown kind of index.
    """
    if options.value(opt.DATA_EVOLUTION_ENABLED):
        raise UnsupportedFeatureError("rewriting file indexes of a table with data evolution")
    snapshot = snapshot_to_plan(store, schema)
    if snapshot is None:
        return FileIndexReport(dry_run=dry_run)
    target = WriteTarget(store=store, schema=schema, options=options)
    reader = SplitReader(unrestricted=True, target=target, columns=())
    wanted = index_plans(schema.fields, options)
    with explain_missing_files(store, snapshot):
        removed = removed_entries(store, snapshot)
        work = _Rewrite(target=target, plans=wanted, reader=reader, removed=removed)
        found = [
            (file, plans)
            for split in _buckets(target, snapshot, partitions)
            for row in range(split.count)
            if (plans := work.changed(file := work.file(split, row))) is not None
        ]
        report = FileIndexReport(
            files=tuple(sorted(file.path for file, _ in found)),
            partitions=len({file.split.partition for file, _ in found}),
            dry_run=dry_run,
        )
        if dry_run or not found:
            return report
        made = work.run(found)
    return replace(report, snapshot_id=None if made is None else made.id)


def _buckets(
    target: WriteTarget, snapshot: Snapshot, partitions: Sequence[PartitionSpec] | None
) -> Sequence[DataSplit]:
    entries = live_files_of(target, snapshot, partitions)
    entries = entries.filter(numbers(entries.table, "bucket") >= 0)
    scanned = ScanTarget(
        store=target.store, schema=target.schema, options=target.options, snapshot=snapshot
    )
    return whole_buckets(scanned.located(entries, snapshot))


_Work = tuple[SplitFile, tuple[IndexPlan, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewrite:
    """Builds the indexes of files.

    Attributes:
        target: the table.
        plans: the indexes that the options ask for, by the latest names of the columns.
        reader: knows the schemas of the files.
        removed: identities of removed entries.
    """

    target: WriteTarget
    plans: tuple[IndexPlan, ...]
    reader: SplitReader
    removed: frozenset[object]

    def file(self, split: DataSplit, row: int) -> SplitFile:
        return SplitFile(split=split, row=row, reader=self.reader)

    def changed(self, file: SplitFile) -> tuple[IndexPlan, ...] | None:
        """Return the indexes of a file by its own column names; None if its indexes stay."""
        plans = _of_file(self.plans, self.target.schema, file.source().stored_fields)
        if _stored(file) == {(plan.name, plan.kind) for plan in plans}:
            return None
        return plans if plans or not self._was_removed(_without_index(file)) else None

    def _was_removed(self, entry: Mapping[str, object]) -> bool:
        return not self.removed.isdisjoint(identities(ManifestEntries.from_rows([entry])))

    def run(self, found: Sequence[_Work]) -> Snapshot | None:
        """Write the indexes and commit the entries of their files."""
        file_io = self.target.store.file_io
        made: list[str] = []
        try:
            rows = sum(file.split.row_count for file, _ in found)
            results = in_parallel(
                lambda file: self._message(*file, made),
                found,
                threads_for(len(found), rows, file_io),
            )
            with closing(results):
                messages = [*results]
            return commit_rewrite(self.target, messages)
        except CommitOutcomeUnknownError:
            raise
        except BaseException:
            discard(file_io, made)
            raise

    def _message(
        self, file: SplitFile, plans: Sequence[IndexPlan], made: list[str]
    ) -> CommitMessage:
        split = file.split
        new = _without_index(file)
        container = self._container(file, plans)
        limit = self.target.options.value(opt.FILE_INDEX_IN_MANIFEST_THRESHOLD)
        if container is not None:
            embedded = {**new, "embedded_file_index": container}
            is_small = len(container) <= limit and not self._was_removed(embedded)
            new = embedded if is_small else self._write(file, new, container, made)
        return CommitMessage(
            **split.bucket_fields,
            compact_before=split.files.slice(file.row, 1),
            compact_after=ManifestEntries.from_rows([new]),
        )

    def _container(self, file: SplitFile, plans: Sequence[IndexPlan]) -> bytes | None:
        """Build the indexes of all rows of a file, also of deleted ones: they have positions."""
        source = file.source()
        names = {plan.column for plan in plans}
        fields = tuple(field for field in source.stored_fields if field.name in names)
        if not fields:
            return None
        positions = {field.name: place for place, field in enumerate(fields)}
        indexes = FileIndexes(plans, positions)
        for batch in read_data_file(source, ReadRequest(fields=fields)):
            indexes.add([batch.column(place) for place in range(len(fields))])
        return indexes.encode()

    def _write(
        self, file: SplitFile, entry: Mapping[str, object], container: bytes, made: list[str]
    ) -> dict[str, object]:
        """Store an index in a new file beside the data file, and return the entry with it."""
        data_name = file.path.rpartition("/")[2]
        others = _extra_files(entry)
        for number in count():
            name = f"{data_name}{f'-{number}' if number else ''}{INDEX_SUFFIX}"
            new = {**entry, "extra_files": [*others, name]}
            if self._was_removed(new) or name in _extra_files(_entry(file)):
                continue
            path = file_in(parent(file.path), name)
            if self.target.store.file_io.create(path, container):
                made.append(path)
                return new
        raise AssertionError


def _entry(file: SplitFile) -> dict[str, object]:
    (row,) = file.split.files.slice(file.row, 1).rows()
    return dict(row)


def _extra_files(entry: Mapping[str, object]) -> list[str]:
    extra = entry["extra_files"]
    return [str(name) for name in extra] if isinstance(extra, list) else []


def _without_index(file: SplitFile) -> dict[str, object]:
    """Return the entry of a file without its indexes."""
    row = _entry(file)
    kept = [name for name in _extra_files(row) if not name.endswith(INDEX_SUFFIX)]
    return {**row, "extra_files": kept, "embedded_file_index": None}


def _stored(file: SplitFile) -> set[tuple[str, str]]:
    """Return the columns and kinds of the stored indexes of a file."""
    container, path = file.value("embedded_file_index"), file.path
    if not isinstance(container, bytes):
        extra = file.value("extra_files")
        names = [str(name) for name in extra] if isinstance(extra, list) else []
        index = file_index_path(file.path, names)
        if index is None:
            return set()
        path, container = index, file.reader.target.store.file_io.read(index)
    return {(part.column, part.kind) for part in decode_container(container, path=path)}


def _of_file(
    plans: Sequence[IndexPlan], schema: TableSchema, stored: Sequence[DataField]
) -> tuple[IndexPlan, ...]:
    """Return the indexes by the names and types of the columns in a file."""
    by_id = {field.id: field for field in stored}
    found: Mapping[str, DataField] = {
        field.name: by_id[field.id] for field in schema.fields if field.id in by_id
    }
    result = []
    for plan in plans:
        field = found.get(plan.column)
        if field is None:
            continue
        data_type = field.type
        if plan.map_key is not None and isinstance(data_type, MapType):
            data_type = data_type.value
        result.append(replace(plan, column=field.name, data_type=data_type))
    return tuple(result)
