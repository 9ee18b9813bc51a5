"""Writes manifests, manifest lists and index manifests of a commit.

File names consist of a random part per committer and two counters, one for manifests and one for
other files. The writer records its files, so that those of a failed attempt can be deleted.

Spec: concepts/spec/manifest. Seen in: golden java200/manifest_merge.

Partition statistics of manifests: bounds and null counts of partition columns.

Bounds are exact, per partition column. A column has no bounds if all values are null, or if it has
a NaN, which has no order.

Spec: concepts/spec/manifest, manifest list.
"""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import count
from uuid import uuid4

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Column, valid_mask
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.encoding.avro.container import can_join, is_avro, joined, repacked
from paimon_explore.encoding.binary_row.decoder import decode_rows, null_fields
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.errors import AlreadyExistsError, InvalidInputError, choices
from paimon_explore.fileio.concurrent_requests import at_once, max_requests, read_each
from paimon_explore.fileio.versioned_reads import read_immutable
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    encode_records,
)
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.store.table_store import TableStore

_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_WHERE = "_PARTITION_STATS"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRange:
    """Bounds and null counts of partition columns.

    Attributes:
        low: binary row of the minima, with arity.
        high: binary row of the maxima, with arity.
        null_counts: number of entries with null, per partition column.
    """

    low: bytes
    high: bytes
    null_counts: tuple[int, ...]


def range_of_entries(entries: ManifestEntries, partition_type: RowType) -> PartitionRange:
    """Return the partition range of at least one entry."""
    if not len(partition_type):
        return PartitionRange(low=EMPTY_ROW, high=EMPTY_ROW, null_counts=())
    known = entries.partitions
    if len(known) == 1 and not any(map(_is_float, _types(partition_type))):
        (only,) = known  # minimum and maximum
        nulls = tuple(len(entries) * is_null for is_null in null_fields(only, len(partition_type)))
        return PartitionRange(low=only, high=only, null_counts=nulls)
    counted = (
        entries.table.select(["partition"]).group_by("partition").aggregate([([], "count_all")])
    )
    weights = np.array(counted.column("count_all").to_pylist(), np.int64)
    rows = pa.array([row.as_py() for row in counted.column("partition")], pa.binary())
    columns = decode_rows(rows, _types(partition_type), where="_PARTITION")
    nulls = tuple(int(weights[~valid_mask(column)].sum()) for column in columns)
    return _range(columns, columns, nulls, partition_type, [False] * len(columns))


def range_of_manifests(manifests: ManifestFiles, partition_type: RowType) -> PartitionRange | None:
    """Return the partition range of several manifests; None if statistics are missing."""
    if not len(partition_type):
        return PartitionRange(low=EMPTY_ROW, high=EMPTY_ROW, null_counts=())
    rows = list(manifests.rows())
    counts = [row["partition_null_counts"] for row in rows]
    nulls: list[Sequence[int]] = []
    for found in counts:
        if not isinstance(found, list) or len(found) != len(partition_type) or None in found:
            return None
        nulls.append(found)
    types = _types(partition_type)
    low, high = (
        decode_rows(pa.array([row[name] for row in rows], pa.binary()), types, where=_WHERE)
        for name in ("partition_min", "partition_max")
    )
    by_column = np.array(nulls, np.int64)
    sizes = manifests.numbers("num_added_files") + manifests.numbers("num_deleted_files")
    unknown = [
        bool((~valid_mask(column) & (by_column[:, i] < sizes)).any())
        for i, column in enumerate(low)
    ]
    return _range(low, high, tuple(by_column.sum(axis=0).tolist()), partition_type, unknown)


def _is_float(data_type: DataType) -> bool:
    """Return whether values may be NaN."""
    return isinstance(data_type, AtomicType) and data_type.root in _FLOATS


def _types(partition_type: RowType) -> list[DataType]:
    return [with_nullable(field.type, nullable=True) for field in partition_type]


def _range(
    lows: Sequence[Column],
    highs: Sequence[Column],
    nulls: tuple[int, ...],
    partition_type: RowType,
    unknown: Sequence[bool],
) -> PartitionRange:
    bounds = [
        _bounds(low, high, unknown=is_unknown)
        for low, high, is_unknown in zip(lows, highs, unknown, strict=True)
    ]
    minimum, maximum = row_images(bounds, _types(partition_type))
    return PartitionRange(low=minimum, high=maximum, null_counts=nulls)


def _bounds(low: Column, high: Column, *, unknown: bool) -> Column:
    """Return an array of minimum and maximum of one column."""
    if unknown or (pa.types.is_floating(low.type) and _has_nan(low)):
        nothing: Column = pa.nulls(2, low.type)  # type: ignore[call-overload]  # stubs list single types
        return nothing
    ends = (pc.min_max(low)["min"], pc.min_max(high)["max"])
    return pa.concat_arrays([pa.repeat(end, 1) for end in ends])  # type: ignore[call-overload]  # stubs list single types


def _has_nan(column: Column) -> bool:
    return bool(pc.any(pc.is_nan(column)).as_py())


_COPY_BYTES = 32 * 1024
"""Minimum size of manifests whose Avro blocks are copied when they are merged: the blocks of
smaller ones would be too small to decode quickly."""

AVRO = "avro"
"""The default manifest format."""

AVRO_CODECS: Mapping[str, str] = {
    "zstd": "zstandard",
    "zstandard": "zstandard",
    "snappy": "snappy",
    "deflate": "deflate",
    "none": "null",
    "null": "null",
}
"""Codecs of Avro by the names that options give them."""


def manifest_codec(option: str, text: str, known: Mapping[str, str]) -> str:
    """Return the Avro codec that an option names.

    Raises:
        InvalidInputError: there is no such codec.
    """
    codec = known.get(text.strip().lower())
    if codec is None:
        raise InvalidInputError(
            f"Option {option!r} is {text!r}, which is not a codec for manifests.",
            hint=f"Set the option to one of {choices(known)}.",
        )
    return codec


_MAX_CHUNKS = 8
"""Maximum number of chunks of a list's columns in the cache; more are combined."""

_MAX_RECENT_LISTS = 4
"""Number of lists whose bytes are cached: base and delta of the last commits."""


_MAX_PENDING_BYTES = 32 << 20
"""Maximum size of files that are stored at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """Name and size of a written file.

    Attributes:
        name: the file name.
        size: the size in bytes.
    """

    name: str
    size: int


@dataclass(slots=True)
class ManifestWriter:
    """Writes manifests, manifest lists and index manifests.

    Attributes:
        store: the table.
        partition_type: its partition columns.
        codec: the Avro codec.
        file_format: the option `manifest.format`; releases up to 2.0 read only that format.
        target_bytes: maximum size of a new manifest.
        unique: the random part of the file names.
        written: paths of the files written since `forget`.
    """

    store: TableStore
    partition_type: RowType
    codec: str
    target_bytes: int
    file_format: str = AVRO
    unique: str = field(default_factory=lambda: str(uuid4()))
    written: builtins.list[str] = field(default_factory=list)
    _manifests: "count[int]" = field(default_factory=count)
    _others: "count[int]" = field(default_factory=count)
    _recent: dict[str, bytes] = field(default_factory=dict)
    _pending: builtins.list[tuple[str, bytes]] = field(default_factory=list)

    def entries(self, entries: ManifestEntries) -> ManifestFiles:
        """Write entries into manifests of at most the target size; none if there are no entries.

        Args:
            entries: in the order of the manifests.
        """
        if not len(entries):
            return ManifestFiles.empty()
        data = encode_records(entries, self.codec, self.file_format)
        if len(data) <= self.target_bytes:
            return self._manifest(data, entries, range_of_entries(entries, self.partition_type))
        count_of_files = -(-len(data) // self.target_bytes)
        size = -(-len(entries) // count_of_files)
        parts = [entries.slice(start, size) for start in range(0, len(entries), size)]
        return ManifestFiles.concat(
            [
                self._manifest(
                    encode_records(part, self.codec, self.file_format),
                    part,
                    range_of_entries(part, self.partition_type),
                )
                for part in parts
            ]
        )

    def concat_manifests(self, manifests: ManifestFiles) -> ManifestFiles | None:
        """Concatenate manifests without deletions into one, copying blocks of large ones.

        Args:
            manifests: manifests with only ADD entries, in order.

        Returns:
            The new manifest; None if the entries have to be decoded.
        """
        span = range_of_manifests(manifests, self.partition_type)
        if span is None or self.file_format != AVRO:
            return None
        containers = self._containers(manifests)
        if containers is None:
            return None
        name = self._new_manifest(joined(containers))
        return _one_manifest({**_merged_row(manifests), **name, **_range_columns(span)})

    def _containers(self, manifests: ManifestFiles) -> builtins.list[bytes] | None:
        """Return the bytes of the manifests, small ones repacked; None if not compatible."""
        plain = encode_records(ManifestEntries.empty(), self.codec)
        small: list[tuple[str, bytes]] = []
        found: list[bytes] = []
        names = manifests.names
        paths = [self.store.paths.manifest(name) for name in names]
        contents = read_each(self.store.file_io, paths)
        for name, path, stored in zip(names, paths, contents, strict=True):
            data = stored
            if not is_avro(data) or not can_join(plain, data):
                data = encode_records(self.store.manifests.read(name), self.codec)
                if not can_join(plain, data):  # it has optional columns
                    return None
            if len(data) < _COPY_BYTES:
                small.append((path, data))
                continue
            if small:
                found.append(repacked(small))
                small = []
            found.append(data)
        return [*found, repacked(small)] if small else found

    def list(self, manifests: ManifestFiles) -> WrittenFile:
        """Write a manifest list, which may be empty."""
        data = encode_records(manifests, self.codec, self.file_format)
        return self._list(data, manifests)

    def concat_lists(self, lists: Sequence[str], manifests: ManifestFiles) -> WrittenFile:
        """Write the concatenation of manifest lists, copying their blocks if possible.

        Args:
            lists: names of the lists, in order.
            manifests: the manifests of all lists.
        """
        if self.file_format != AVRO:
            return self.list(manifests)
        reads = [partial(self._bytes_of, name) for name in lists]
        containers = at_once(self.store.file_io, reads)
        if all(is_avro(data) and can_join(containers[0], data) for data in containers):
            return self._list(joined(containers), manifests)
        return self.list(manifests)

    def _bytes_of(self, name: str) -> bytes:
        known = self._recent.get(name)
        if known is not None:
            return known
        return read_immutable(self.store.file_io, self.store.paths.manifest(name))

    def _list(self, data: bytes, manifests: ManifestFiles) -> WrittenFile:
        if manifests.cached_rows is None and manifests.column("file_name").num_chunks > _MAX_CHUNKS:
            manifests = ManifestFiles(manifests.table.combine_chunks())
        name = f"manifest-list-{self.unique}-{next(self._others)}"
        size = self._create(name, data)
        self.store.manifests.cache_written(name, manifests)
        self._recent[name] = data
        while len(self._recent) > _MAX_RECENT_LISTS:
            del self._recent[next(iter(self._recent))]
        return WrittenFile(name=name, size=size)

    def index(self, entries: IndexEntries) -> str:
        """Write an index manifest."""
        name = f"index-manifest-{self.unique}-{next(self._others)}"
        self._create(name, encode_records(entries, self.codec, self.file_format))
        self.store.manifests.cache_written(name, entries)
        return name

    def _manifest(
        self, data: bytes, entries: ManifestEntries, span: PartitionRange
    ) -> ManifestFiles:
        named = self._new_manifest(data)
        self.store.manifests.cache_written(str(named["file_name"]), entries)
        deleted = entries.count_of(FileKind.DELETE)
        buckets, levels = (entries.min_max(name) for name in ("bucket", "level"))
        return _one_manifest(
            {
                **named,
                **_range_columns(span),
                "num_added_files": len(entries) - deleted,
                "num_deleted_files": deleted,
                "schema_id": entries.min_max("schema_id")[1],
                "min_bucket": buckets[0],
                "max_bucket": buckets[1],
                "min_level": levels[0],
                "max_level": levels[1],
                **_row_ids(entries),
            }
        )

    def _new_manifest(self, data: bytes) -> dict[str, object]:
        name = f"manifest-{self.unique}-{next(self._manifests)}"
        return {"file_name": name, "file_size": self._create(name, data)}

    def _create(self, name: str, data: bytes) -> int:
        """Store a file; in a remote storage at the latest by `finish`."""
        if max_requests(self.store.file_io) > 1:
            self._pending.append((name, data))
            if sum(len(other) for _, other in self._pending) > _MAX_PENDING_BYTES:
                self.finish()
        else:
            self._store(name, data)
        return len(data)

    def _store(self, name: str, data: bytes) -> None:
        path = self.store.paths.manifest(name)
        self.written.append(path)
        if not self.store.file_io.create(path, data):
            self.written.remove(path)
            raise AlreadyExistsError("manifest file", name, self.store.paths.manifest_dir)

    def finish(self) -> None:
        """Store the files that are not stored yet, at the same time; see `_create`.

        Raises:
            StorageError: a file could not be stored; others may be.
        """
        pending, self._pending = self._pending, []
        at_once(self.store.file_io, [partial(self._store, *file) for file in pending])

    def forget(self) -> None:
        """Forget the files written so far, because they are in use."""
        self.written.clear()

    def drop_pending(self) -> None:
        """Forget the files that are not stored yet, because the attempt has failed."""
        self._pending.clear()


def _row_ids(entries: ManifestEntries) -> dict[str, object]:
    """Return the range of row ids, if all entries have row ids."""
    low, _ = entries.min_max("first_row_id")
    if low is None:
        return {"min_row_id": None, "max_row_id": None}
    starts, counts = (entries.numbers(name) for name in ("first_row_id", "row_count"))
    return {"min_row_id": low, "max_row_id": int((starts + counts - 1).max())}


def _range_columns(span: PartitionRange) -> dict[str, object]:
    return {
        "partition_min": span.low,
        "partition_max": span.high,
        "partition_null_counts": list(span.null_counts),
    }


def _one_manifest(row: dict[str, object]) -> ManifestFiles:
    return ManifestFiles.from_rows([row])


def _merged_row(manifests: ManifestFiles) -> dict[str, object]:
    """Return the manifest list entry for the concatenation of manifests without deletions."""
    lows = ("min_bucket", "min_level", "min_row_id")
    highs = ("max_bucket", "max_level", "max_row_id")
    return {
        "num_added_files": int(manifests.numbers("num_added_files").sum()),
        "num_deleted_files": 0,
        "schema_id": int(manifests.numbers("schema_id").max()),
        **{name: manifests.min_max(name)[0] for name in lows},
        **{name: manifests.min_max(name)[1] for name in highs},
    }
