"""`$files`, `$file_key_ranges`, `$partitions`, `$buckets`: what the live files add up to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.binary_row import decode_rows
from paimon_explore.fileio import paths as path_names
from paimon_explore.inspect.system.context import TableState
from paimon_explore.inspect.system.texts import (
    cast_texts,
    internal_texts,
    key_texts,
    named_texts,
    row_texts,
)
from paimon_explore.metadata.manifest_entry import FileSource, ManifestEntries
from paimon_explore.metadata.options import PARTITION_DEFAULT_NAME
from paimon_explore.scan.deletion_files import deletion_files
from paimon_explore.scan.file_paths import data_file_paths
from paimon_explore.scan.file_stats import value_stats
from paimon_explore.types.data_types import RowType

MILLIS = pa.timestamp("ms")

FILES = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("file_path", pa.string(), nullable=False),
        pa.field("file_format", pa.string(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("level", pa.int32(), nullable=False),
        pa.field("record_count", pa.int64(), nullable=False),
        pa.field("file_size_in_bytes", pa.int64(), nullable=False),
        pa.field("min_key", pa.string()),
        pa.field("max_key", pa.string()),
        pa.field("null_value_counts", pa.string(), nullable=False),
        pa.field("min_value_stats", pa.string(), nullable=False),
        pa.field("max_value_stats", pa.string(), nullable=False),
        pa.field("min_sequence_number", pa.int64()),
        pa.field("max_sequence_number", pa.int64()),
        pa.field("creation_time", MILLIS),
        pa.field("deleteRowCount", pa.int64()),
        pa.field("file_source", pa.string()),
        pa.field("first_row_id", pa.int64()),
        pa.field("write_cols", pa.list_(pa.string())),
    ]
)

FILE_KEY_RANGES = pa.schema(
    [FILES.field(i) for i in range(10)] + [pa.field("first_row_id", pa.int64())]
)

PARTITIONS = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("record_count", pa.int64(), nullable=False),
        pa.field("file_size_in_bytes", pa.int64(), nullable=False),
        pa.field("file_count", pa.int64(), nullable=False),
        pa.field("last_update_time", MILLIS),
        pa.field("created_at", MILLIS),
        pa.field("created_by", pa.string()),
        pa.field("updated_by", pa.string()),
        pa.field("options", pa.string()),
        pa.field("total_buckets", pa.int32(), nullable=False),
        pa.field("done", pa.bool_(), nullable=False),
        pa.field("deleted_record_count", pa.int64()),
    ]
)

BUCKETS = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("record_count", pa.int64(), nullable=False),
        pa.field("file_size_in_bytes", pa.int64(), nullable=False),
        pa.field("file_count", pa.int64(), nullable=False),
        pa.field("last_update_time", MILLIS),
    ]
)

_SOURCES = {None: None, int(FileSource.APPEND): "APPEND", int(FileSource.COMPACT): "COMPACT"}


def files(state: TableState) -> pa.Table:
    """One row per live file; statistics in the columns of the reading schema."""
    entries = state.live_files()
    common = _common(state, entries)
    fields = state.schema.fields
    stats = value_stats(entries, state.store.schemas.load, fields).columns
    count = len(entries)
    nulls = {name: _plain(found.null_count) for name, found in stats.items()}
    lows = {f.name: internal_texts(stats[f.name].minimum, f.type) for f in fields if count}
    highs = {f.name: internal_texts(stats[f.name].maximum, f.type) for f in fields if count}
    columns = {
        **common,
        "null_value_counts": named_texts(nulls, count),
        "min_value_stats": named_texts(lows, count),
        "max_value_stats": named_texts(highs, count),
        "min_sequence_number": entries.column("min_sequence_number"),
        "max_sequence_number": entries.column("max_sequence_number"),
        "creation_time": entries.column("creation_time").cast(MILLIS),
        "deleteRowCount": entries.column("delete_row_count"),
        "file_source": [_SOURCES[s] for s in entries.column("file_source").to_pylist()],
        "first_row_id": entries.column("first_row_id"),
        "write_cols": entries.column("write_cols"),
    }
    return pa.Table.from_pydict(columns, schema=FILES)


def file_key_ranges(state: TableState) -> pa.Table:
    """One row per live file with its key range."""
    entries = state.live_files()
    columns = {**_common(state, entries), "first_row_id": entries.column("first_row_id")}
    return pa.Table.from_pydict(columns, schema=FILE_KEY_RANGES)


def _common(state: TableState, entries: ManifestEntries) -> dict[str, object]:
    found = data_file_paths(entries, state.schema, state.options, state.store.paths).to_pylist()
    names = state.schema.trimmed_primary_keys
    keys = RowType(fields=tuple(map(state.schema.field, names))) if names else None
    partition_type = state.schema.partition_type
    return {
        "partition": row_texts(_one(entries, "partition"), partition_type, where="_PARTITION"),
        "bucket": entries.column("bucket"),
        "file_path": found,
        "file_format": [path_names.name(path).rpartition(".")[2] for path in found],
        "schema_id": entries.column("schema_id"),
        "level": entries.column("level"),
        "record_count": entries.column("row_count"),
        "file_size_in_bytes": entries.column("file_size"),
        "min_key": key_texts(_one(entries, "min_key"), keys, where="_MIN_KEY"),
        "max_key": key_texts(_one(entries, "max_key"), keys, where="_MAX_KEY"),
    }


def _plain(numbers: pa.Int64Array) -> list[str]:
    return ["null" if n is None else str(n) for n in numbers.to_pylist()]


def _one(entries: ManifestEntries, name: str) -> pa.Array:
    return entries.column(name).combine_chunks()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """Live files summed by group: `first` holds one file's number per group."""

    first: np.ndarray
    group: np.ndarray
    entries: ManifestEntries

    def total(self, values: pa.Array | pa.ChunkedArray) -> np.ndarray:
        return np.bincount(
            self.group, weights=np.asarray(pc.fill_null(values, 0)), minlength=len(self.first)
        ).astype(np.int64)

    @property
    def columns(self) -> dict[str, object]:
        times = np.asarray(pc.fill_null(self.entries.column("creation_time"), 0)).astype(np.int64)
        latest = np.zeros(len(self.first), dtype=np.int64)
        np.maximum.at(latest, self.group, times)
        return {
            "record_count": self.total(self.entries.column("row_count")),
            "file_size_in_bytes": self.total(self.entries.column("file_size")),
            "file_count": np.bincount(self.group, minlength=len(self.first)),
            "last_update_time": pa.array(latest, pa.int64()).cast(MILLIS),
        }


def _grouped(entries: ManifestEntries, *, by_bucket: bool) -> _Sums:
    partition = _one(entries, "partition").dictionary_encode().indices
    codes = np.asarray(partition).astype(np.int64) * 2**32
    if by_bucket:
        codes += np.asarray(_one(entries, "bucket"))
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    return _Sums(first=first, group=group, entries=entries)


def partitions(state: TableState) -> pa.Table:
    """One row per partition that has live files."""
    entries = state.live_files()
    sums = _grouped(entries, by_bucket=False)
    count = len(sums.first)
    nothing = [None] * count
    columns = {
        "partition": _partition_specs(state, _one(entries, "partition").take(sums.first)),
        **sums.columns,
        "created_at": nothing,
        "created_by": nothing,
        "updated_by": nothing,
        "options": nothing,
        "total_buckets": entries.column("total_buckets").take(sums.first),
        "done": [False] * count,
        "deleted_record_count": sums.total(_deleted(state, entries)),
    }
    return pa.Table.from_pydict(columns, schema=PARTITIONS)


def _partition_specs(state: TableState, rows: pa.BinaryArray) -> list[str]:
    """Partitions as `dt=2024-01-01/hr=1`; empty text for an unpartitioned table."""
    row_type = state.schema.partition_type
    types = [field.type for field in row_type]
    texts = cast_texts(decode_rows(rows, types, where="_PARTITION"), types)
    if not texts:
        return [""] * len(rows)
    default = state.options.value(PARTITION_DEFAULT_NAME)
    named: Sequence[list[str]] = [
        [f"{name}={text if text.strip() and text != 'null' else default}" for text in column]
        for name, column in zip(row_type.names, texts, strict=True)
    ]
    return ["/".join(parts) for parts in zip(*named, strict=True)]


def _deleted(state: TableState, entries: ManifestEntries) -> pa.Int64Array:
    """Rows that deletion vectors delete, per file."""
    if state.snapshot is None:
        return pa.array([], pa.int64())
    found = deletion_files(state.store, state.snapshot, state.schema, state.options)
    names = entries.column("file_name").to_pylist()
    counts = [found[n].cardinality or 0 if n in found else 0 for n in names]
    return pa.array(counts, pa.int64())


def buckets(state: TableState) -> pa.Table:
    """One row per bucket that has live files."""
    entries = state.all_files()
    sums = _grouped(entries, by_bucket=True)
    rows = _one(entries, "partition").take(sums.first)
    columns = {
        "partition": row_texts(rows, state.schema.partition_type, where="_PARTITION"),
        "bucket": entries.column("bucket").take(sums.first),
        **sums.columns,
    }
    return pa.Table.from_pydict(columns, schema=BUCKETS)
