"""The target of a write: table, schema, options, and the state of its live files.

A writer continues the state of a bucket: the next sequence number, the number of buckets, and the
assignment of keys to buckets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Bools, as_python, bool_values
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.data_types.traversal import check_known_types
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.hash_index import decode_hashes
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.fileio.uploads import Uploads, uploading
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.index_manifest import HASH_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.refused_options import Use, check_supported_options
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.partition_path import partition_paths, partition_texts
from paimon_explore.metadata.partition_time import check_partition_time, strict_time_format
from paimon_explore.metadata.schema.path_option_validation import check_path_options
from paimon_explore.metadata.schema.table_schema import TableSchema, cached_by_schema_and_options
from paimon_explore.metadata.snapshot import LatestSnapshot, Snapshot
from paimon_explore.scan.splits.file_locations import index_file_paths
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.new_file_names import (
    Clock,
    FileLocation,
    FileNames,
    FileRow,
    external_folders,
)

_LIVE_COLUMNS = (
    *("kind", "partition", "bucket", "total_buckets", "file_name", "max_sequence_number", "level"),
    *("extra_files", "embedded_file_index", "external_path"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTarget:
    """A table to write to.

    Attributes:
        store: the table's files.
        schema: the latest schema.
        options: effective options: the schema's, overridden by the caller's.
        commit_user: the commit user; part of the file names in the postpone bucket.
        clock: wall clock, for creation times.
        replaces: whether the rows replace existing ones (overwrite), so that live files do not
            matter.
        job: part of the names of new files, which identifies the files of failed attempts; may be
            empty.
        sequence_offset: sequence numbers of a bucket to skip before the first new one, for
            concurrent writers of the bucket.
        latest: the latest snapshot, if it was just read.
        stored_mark: BLOBs that start with it are descriptors of the table after it, which stay;
            None if all are new. The mark of rows that also have new BLOBs must be random: new
            contents that look like descriptors stay contents.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    commit_user: str = ""
    clock: Clock = system_clock
    replaces: bool = False
    job: str = ""
    sequence_offset: int = 0
    latest: LatestSnapshot | None = None
    stored_mark: bytes | None = None
    _folders: dict[bytes, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        path = self.store.paths.schema(self.schema.id)
        check_path_options(self.schema, self.options, path)
        check_supported_options(self.options, Use.WRITE, self.store.paths.root)
        check_known_types(self.schema.fields, "writing to a table with")

    def file_names(self) -> FileNames:
        """Return a generator of names for the new files of one bucket."""
        unique = str(uuid4())
        return FileNames(unique=f"{self.job}-{unique}" if self.job else unique)

    def partition_path(self, partition: bytes) -> str:
        """Return the directory of a partition relative to the table's data root."""
        self.add_partitions([partition])
        return self._folders[partition]

    def add_partitions(self, partitions: Sequence[bytes]) -> None:
        """Compute the directories of partitions together, which is faster than one by one."""
        new = tuple([partition for partition in partitions if partition not in self._folders])
        if new:
            folders = _partition_folders(self.schema, self.options, new)
            self._folders.update(zip(new, folders, strict=True))

    def file_location(self, partition: bytes, bucket: int, names: FileNames) -> FileLocation:
        """Return the directory and names of the new files of a bucket."""
        paths = self.store.paths
        _check_time(self.schema, self.options, partition)
        folder = paths.bucket_dir(self.partition_path(partition), bucket)
        return FileLocation(
            file_io=self.store.file_io,
            folder=folder,
            names=names,
            clock=self.clock,
            external=external_folders(self.options),
            relative=folder.removeprefix(paths.data_root).strip("/"),
        )


def with_uploads(target: WriteTarget) -> tuple[WriteTarget, Uploads]:
    """Return a target whose new files are uploaded in the background, and these uploads."""
    file_io, uploads = uploading(target.store.file_io)
    if file_io is target.store.file_io:
        return target, uploads
    return replace(target, store=replace(target.store, file_io=file_io)), uploads


def _check_time(schema: TableSchema, options: TableOptions, partition: bytes) -> None:
    """Check that a partition has a time, if the options require it."""
    times = strict_time_format(options)
    if times is not None and schema.partition_keys:
        types = [column.type for column in schema.partition_type]
        values = decode_rows(pa.array([partition], pa.binary()), types, where="partition")
        texts = [column[0] for column in partition_texts(values, types)]
        check_partition_time(dict(zip(schema.partition_keys, texts, strict=True)), times)


@cached_by_schema_and_options
def _partition_folders(
    schema: TableSchema, options: TableOptions, partitions: tuple[bytes, ...]
) -> Sequence[str]:
    if not schema.partition_keys:
        return [""] * len(partitions)
    types = [column.type for column in schema.partition_type]
    values = decode_rows(pa.array(partitions, pa.binary()), types, where="partition")
    return partition_paths(
        schema.partition_keys,
        values,
        types,
        legacy_names=options.value(opt.PARTITION_LEGACY_NAME),
        default_name=options.value(opt.PARTITION_DEFAULT_NAME) or "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartitionState:
    """The state of a partition according to its live files.

    Attributes:
        max_sequences: largest sequence number by bucket.
        total_buckets: number of buckets of the partition; None without files.
    """

    max_sequences: Mapping[int, int]
    total_buckets: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HashFile:
    """A hash index file.

    Attributes:
        entry: its index manifest entry.
        hashes: hashes of the bucket's keys.
    """

    entry: IndexEntries
    hashes: npt.NDArray[np.int32]


@dataclass(slots=True)
class LiveState:
    """The live files of a table, loaded by partition on demand.

    Attributes:
        target: the table.
    """

    target: WriteTarget
    _snapshot: Snapshot | None = None
    _known: dict[bytes, _PartitionState] = field(default_factory=dict)

    def __post_init__(self) -> None:
        target = self.target
        if not target.replaces:
            known = target.latest
            self._snapshot = target.store.snapshots.latest() if known is None else known.snapshot

    @property
    def seen(self) -> SeenSnapshot | None:
        """Return the snapshot of this state; None if live files do not matter."""
        return None if self.target.replaces else SeenSnapshot.of(self._snapshot)

    def load(self, partitions: Sequence[bytes]) -> None:
        """Load the live files of partitions that are not loaded yet."""
        missing = [partition for partition in partitions if partition not in self._known]
        if not missing:
            return
        with explain_missing_files(self.target.store, self._snapshot):
            found = self._live(missing) if self._snapshot is not None else None
        for partition in missing:
            self._known[partition] = _state_of(found, partition)

    def _live(self, partitions: Sequence[bytes]) -> ManifestEntries | None:
        if self._snapshot is None:
            return None
        manifests = self.target.store.manifests
        value_set = pa.array(partitions, pa.binary())

        def is_missing(rows: pa.BinaryArray) -> Bools:
            return bool_values(pc.is_in(rows, value_set=value_set))

        names = manifests.all(self._snapshot).names
        return live_entries(manifests.read_partitions(names, is_missing, _LIVE_COLUMNS))

    def next_sequence(self, partition: bytes, bucket: int) -> int:
        """Return the sequence number of the next row of a bucket."""
        self.load([partition])
        largest = self._known[partition].max_sequences.get(bucket, -1)
        return largest + 1 + self.target.sequence_offset

    def check_buckets(self, partition: bytes, total_buckets: int) -> None:
        """Check the number of buckets of a partition.

        Raises:
            InvalidInputError: the partition has another number of buckets.
        """
        self.load([partition])
        before = self._known[partition].total_buckets
        if before is not None and before != total_buckets:
            path = self.target.partition_path(partition)
            raise InvalidInputError(
                f"{f'Partition {path}' if path else 'The table'} has {before} buckets, "
                f"but option 'bucket' is {total_buckets}.",
                hint=f"To change the number of buckets, overwrite the whole "
                f"{'partition' if path else 'table'}.",
            )

    def hash_files(self, partition: bytes) -> dict[int, HashFile]:
        """Read the hash index file of each bucket of a partition."""
        if self._snapshot is None:
            return {}
        with explain_missing_files(self.target.store, self._snapshot):
            return self._hash_files(self._snapshot, partition)

    def _hash_files(self, snapshot: Snapshot, partition: bytes) -> dict[int, HashFile]:
        target = self.target
        found: dict[int, HashFile] = {}
        entries = target.store.manifests.index_of(snapshot).of_type(HASH_INDEX)
        for position, row in enumerate(entries.rows()):
            bucket, name, external = row["bucket"], row["file_name"], row["external_path"]
            if row["partition"] != partition or not isinstance(bucket, int):
                continue
            folder = target.partition_path(partition)
            outside = external if isinstance(external, str) else None
            path = target.store.paths.index_file(folder, bucket, str(name), outside)
            hashes = decode_hashes(target.store.file_io.read(path), path=path)
            found[bucket] = HashFile(entry=entries.slice(position, 1), hashes=hashes)
        return found


def _state_of(entries: ManifestEntries | None, partition: bytes) -> _PartitionState:
    if entries is None:
        return _PartitionState(max_sequences={}, total_buckets=None)
    own = entries
    if entries.partitions != {partition}:
        own = entries.filter(pc.equal(entries.column("partition"), pa.scalar(partition)))
    buckets, sequences, totals = (
        own.numbers(name) for name in ("bucket", "max_sequence_number", "total_buckets")
    )
    order = np.lexsort((sequences, buckets))  # the last one of each bucket is its maximum
    return _PartitionState(
        max_sequences=dict(zip(buckets[order].tolist(), sequences[order].tolist(), strict=True)),
        total_buckets=max(totals[totals > 0].tolist(), default=None),
    )


def entries_of(
    files: Sequence[FileRow], *, partition: bytes, bucket: int, total_buckets: int
) -> ManifestEntries:
    """Build manifest entries of new files of a bucket."""
    common = {"partition": partition, "bucket": bucket, "total_buckets": total_buckets}
    return ManifestEntries.from_rows([{**row, **common} for row in files])


def message_paths(target: WriteTarget, messages: Sequence[CommitMessage]) -> list[str]:
    """Return the paths of all files that messages add, which are invisible until the commit."""
    paths: list[str] = []
    for message in messages:
        paths.extend(message.managed_files)
        folder = target.partition_path(message.partition)
        for entries in (
            message.new_files,
            message.changelog_files,
            message.compact_after,
            message.compact_changelog,
        ):
            removed = {row["file_name"] for row in message.compact_before.rows()}
            for row in entries.rows():
                if entries is message.compact_after and row["file_name"] in removed:
                    continue  # an upgrade of an existing file
                paths.extend(_paths_of(target, folder, message.bucket, row))
        for index in (message.new_index_files, message.compact_new_index_files):
            found = index_file_paths(index, target.schema, target.options, target.store.paths)
            paths.extend(map(str, as_python(found)))
    return paths


def _paths_of(target: WriteTarget, folder: str, bucket: int, row: FileRow) -> list[str]:
    external = row["external_path"]
    outside = external if isinstance(external, str) else None
    extra = row["extra_files"]
    names = [str(name) for name in extra] if isinstance(extra, list) else []
    paths = target.store.paths
    return [
        paths.data_file(folder, bucket, str(row["file_name"]), outside),
        *(paths.extra_file(folder, bucket, name, outside) for name in names),
    ]


def abort(target: WriteTarget, messages: Sequence[CommitMessage]) -> None:
    """Delete the files of messages that will not be committed."""
    discard(target.store.file_io, message_paths(target, messages))
