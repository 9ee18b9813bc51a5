"""`$files`, `$file_key_ranges`, `$file_indexes`, `$partitions` and `$buckets`.

`$manifests`, `$table_indexes`, `$aggregation_fields`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from operator import attrgetter

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_python,
    bool_values,
    build_fixed,
    string_array,
    take_rows,
)
from paimon_explore.data_types.casts.text_functions import computed, replaced
from paimon_explore.data_types.formatter import type_text
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.file_index.container import (
    PREFIX_BYTES,
    IndexPart,
    decode_container,
    head_length,
)
from paimon_explore.fileio.concurrent_requests import each_at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.system_tables.system_table_cells import (
    Values,
    internal_texts,
    key_texts,
    named_texts,
    row_texts,
    table_of,
)
from paimon_explore.inspection.system_tables.table_state import TableState
from paimon_explore.metadata.manifest.manifest_entry import FileSource, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.table_options import PARTITION_DEFAULT_NAME
from paimon_explore.metadata.partition_path import partition_name, partition_texts
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET, file_index_path
from paimon_explore.sanitize import masked
from paimon_explore.scan.manifest_arrays import (
    Rows,
    as_binary,
    binary,
    column,
    group_numbers,
    numbers,
    row_array,
)
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats
from paimon_explore.scan.splits.data_split import vectors_of
from paimon_explore.scan.splits.deletion_vector_files import deletion_files
from paimon_explore.scan.splits.file_locations import data_file_paths

_HEAD_BYTES = 4096
"""Read of a file index at first, which is enough for the list of its indexes in most cases."""
_ALL_BUT_FORMAT = r"(?s)^.*[./]"
MILLIS = pa.timestamp("ms")

FILES = schema_from_text(
    "partition string, bucket int32 not null, file_path string not null, "
    "file_format string not null, schema_id int64 not null, level int32 not null, "
    "record_count int64 not null, file_size_in_bytes int64 not null, min_key string, "
    "max_key string, null_value_counts string not null, min_value_stats string not null, "
    "max_value_stats string not null, min_sequence_number int64, max_sequence_number int64, "
    "creation_time timestamp[ms], deleteRowCount int64, file_source string, first_row_id int64, "
    "write_cols list<string>"
)

FILE_KEY_RANGES = pa.schema(
    [FILES.field(i) for i in range(10)] + [pa.field("first_row_id", pa.int64())]
)

FILE_INDEXES = schema_from_text(
    "partition string, bucket int32 not null, file_path string not null, "
    "file_size_in_bytes int64 not null, record_count int64 not null, schema_id int64 not null, "
    "column_name string not null, index_type string not null, storage_type string not null, "
    "index_file_path string, index_size_in_bytes int64 not null, "
    "index_container_size_in_bytes int64 not null, is_empty bool not null"
)

PARTITIONS = schema_from_text(
    "partition string, record_count int64 not null, file_size_in_bytes int64 not null, "
    "file_count int64 not null, last_update_time timestamp[ms], created_at timestamp[ms], "
    "created_by string, updated_by string, options string, total_buckets int32 not null, "
    "done bool not null, deleted_record_count int64"
)

BUCKETS = schema_from_text(
    "partition string, bucket int32 not null, record_count int64 not null, "
    "file_size_in_bytes int64 not null, file_count int64 not null, last_update_time timestamp[ms]"
)

_STORED = {
    **{name: name for name in ("bucket", "schema_id", "level", "first_row_id", "write_cols")},
    **{f"{end}_sequence_number": f"{end}_sequence_number" for end in ("min", "max")},
    "record_count": "row_count",
    "file_size_in_bytes": "file_size",
    "deleteRowCount": "delete_row_count",
}
"""Columns with the values of one of manifest entries."""
_OF_GROUPS = ["partition", "bucket", "creation_time"]
_SOURCES = string_array([source.name for source in FileSource])  # pa.array loads pandas


def files(state: TableState) -> pa.Table:
    """One row per live file; statistics of the columns of the read schema."""
    entries = _selected(state, FILES)
    fields = state.schema.fields

    @cache
    def stats() -> Mapping[str, ColumnStats]:
        return value_stats(entries, state.store.schemas.load, fields, as_written=True).columns

    def nulls() -> Column:
        texts = {name: found.null_count.cast(pa.string()) for name, found in stats().items()}
        return named_texts(texts, len(entries))

    def bounds(of: Callable[[ColumnStats], Column]) -> Column:
        known = fields if len(entries) else ()
        texts = {f.name: internal_texts(of(stats()[f.name]), f.type) for f in known}
        return named_texts(texts, len(entries))

    columns = {
        **_common(state, entries),
        "null_value_counts": nulls,
        "min_value_stats": partial(bounds, attrgetter("minimum")),
        "max_value_stats": partial(bounds, attrgetter("maximum")),
    }
    return table_of(state.selection.narrowed(FILES), columns)


def file_key_ranges(state: TableState) -> pa.Table:
    """One row per live file with its key range."""
    columns = _common(state, _selected(state, FILE_KEY_RANGES))
    return table_of(state.selection.narrowed(FILE_KEY_RANGES), columns)


def file_indexes(state: TableState) -> pa.Table:
    """One row per index of a column, of those in the file indexes of live files; since Java 2.1."""
    unlimited = replace(state, selection=replace(state.selection, limit=None))
    entries = _selected(unlimited, FILE_INDEXES)
    paths = data_file_paths(entries, state.schema, state.options, state.store.paths)
    index = (
        as_python(column(entries.table, name)) for name in ("embedded_file_index", "extra_files")
    )
    calls = [
        partial(_index_parts, state.store.file_io, str(path), embedded, extra_files)
        for path, embedded, extra_files in zip(as_python(paths), *index, strict=True)
    ]
    found = [*each_at_once(state.store.file_io, calls)]
    which = np.repeat(np.arange(len(entries)), [len(parts) for _, _, parts in found])
    parts = [(index, size, part) for index, size, listed in found for part in listed]
    schema = state.selection.narrowed(FILE_INDEXES)
    of_files = pa.schema([field for field in schema if field.name in FILE_INDEXES.names[:6]])
    files_of_rows = table_of(of_files, {**_of_entries(state, entries), "file_path": paths})
    files_of_rows = files_of_rows.take(row_array(which))
    columns: dict[str, Values] = {
        **{name: column(files_of_rows, name) for name in of_files.names},
        "column_name": [part.column for _, _, part in parts],
        "index_type": [part.kind for _, _, part in parts],
        "storage_type": ["EMBEDDED" if index is None else "FILE" for index, _, _ in parts],
        "index_file_path": [index for index, _, _ in parts],
        "index_size_in_bytes": [part.length for _, _, part in parts],
        "index_container_size_in_bytes": [size for _, size, _ in parts],
        "is_empty": [part.start is None for _, _, part in parts],
    }
    return table_of(schema, columns)


def _index_parts(
    file_io: FileIO, path: str, embedded: object, extra_files: object
) -> tuple[str | None, int, list[IndexPart]]:
    """The path of the file index, unless the manifest has it, its size, and the indexes in it."""
    if isinstance(embedded, bytes):
        return None, len(embedded), decode_container(embedded, path=path)
    names = [str(name) for name in extra_files] if isinstance(extra_files, list) else []
    index = file_index_path(path, names)
    if index is None:
        return None, 0, []
    size = file_io.status(index).size
    data = file_io.read_range(index, 0, min(size, _HEAD_BYTES))
    if len(data) < size and (length := head_length(data[:PREFIX_BYTES], path=index)) > len(data):
        data = file_io.read_range(index, 0, min(size, length))
    return index, size, decode_container(data, path=index, size=size)


def _selected(state: TableState, schema: pa.Schema) -> ManifestEntries:
    """The live files, without those that the columns of manifest entries show not to be needed."""
    entries = state.live_files()
    columns = _of_entries(state, entries)
    wanted = state.selection.pushed(columns)
    if wanted.where == TRUE and wanted.limit is None:
        return entries
    tested = replace(wanted, columns=("bucket",)).narrowed(schema)
    return entries.take(wanted.positions(table_of(tested, columns)))


def _of_entries(state: TableState, entries: ManifestEntries) -> dict[str, Values]:
    """The columns whose values manifest entries have."""
    row_type, rows = state.schema.partition_type, binary(entries.table, "partition")
    return {
        "partition": partial(row_texts, rows, row_type, where="_PARTITION"),
        **{name: partial(entries.column, stored) for name, stored in _STORED.items()},
        "creation_time": lambda: entries.column("creation_time").cast(MILLIS),
        "file_source": lambda: computed("take", [_SOURCES, column(entries.table, "file_source")]),
    }


def _common(state: TableState, entries: ManifestEntries) -> dict[str, Values]:
    names = state.schema.trimmed_primary_keys
    keys = state.schema.project(names) if names else None
    table = entries.table

    @cache
    def placed() -> Column:
        return data_file_paths(entries, state.schema, state.options, state.store.paths)

    return {
        **_of_entries(state, entries),
        "file_path": placed,
        "file_format": lambda: _formats(placed()),
        "min_key": lambda: key_texts(binary(table, "min_key"), keys, where="_MIN_KEY"),
        "max_key": lambda: key_texts(binary(table, "max_key"), keys, where="_MAX_KEY"),
    }


def _formats(paths: Column) -> Column:
    """The file format of each path: the text after its last dot or slash."""
    first = replaced(paths.slice(0, 1), _ALL_BUT_FORMAT, "")
    if len(first):
        ending = pc.MatchSubstringOptions(f".{first[0].as_py()}")
        if bool_values(computed("ends_with", [paths], ending)).all():
            return take_rows(first, np.zeros(len(paths), np.int64))
    return replaced(paths, _ALL_BUT_FORMAT, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """Live files aggregated by group.

    Attributes:
        first: row number of one file of each group.
        group: group index of each file.
        latest: latest file creation time of each group, including removed files, as in Java.
        entries: the files.
    """

    first: Rows
    group: Rows
    latest: Rows
    entries: ManifestEntries

    def total(self, values: Rows) -> Column:
        found = np.zeros(len(self.first), np.int64)
        np.add.at(found, self.group, values)
        return row_array(found)

    @property
    def columns(self) -> dict[str, Values]:
        table = self.entries.table
        return {
            "record_count": self.total(numbers(table, "row_count")),
            "file_size_in_bytes": self.total(numbers(table, "file_size")),
            "file_count": self.total(np.ones(len(table), np.int64)),
            "last_update_time": build_fixed(
                MILLIS, self.latest, np.ones(len(self.latest), np.bool_)
            ),
        }

    def one(self, name: str) -> Column:
        """A column with the value of one file of each group."""
        return take_rows(column(self.entries.table, name), self.first)


def _grouped(state: TableState, entries: ManifestEntries, *, by_bucket: bool) -> _Sums:
    all_entries = state.all_entries(_OF_GROUPS)
    if not by_bucket:  # files in the postponed bucket are not counted, as in Java
        all_entries = all_entries.filter(numbers(all_entries.table, "bucket") != POSTPONE_BUCKET)
    both = pa.concat_tables(
        [entries.table.select(_OF_GROUPS), all_entries.table.select(_OF_GROUPS)]
    )
    codes = group_numbers(both, by_bucket=by_bucket)
    known, first, group = np.unique(codes[: len(entries)], return_index=True, return_inverse=True)
    place = np.searchsorted(known, codes)
    is_known = np.append(known, -1)[place] == codes
    latest = np.zeros(len(known), dtype=np.int64)
    np.maximum.at(latest, place[is_known], numbers(both, "creation_time")[is_known])
    return _Sums(first=first, group=group, latest=latest, entries=entries)


def partitions(state: TableState) -> pa.Table:
    """One row per partition with live files, in all branches that a read includes."""
    known: set[object] = set()
    parts: list[pa.Table] = []
    columns = state.selection.columns
    if columns is not None:
        selection = replace(state.selection, columns=(*columns, "partition"))
        state = replace(state, selection=selection)
    for branch in state.branches():
        rows = _branch_partitions(branch)
        names = as_python(column(rows, "partition"))
        parts.append(rows.take(row_array(np.flatnonzero([n not in known for n in names]))))
        known.update(names)
    return pa.concat_tables(parts)


def _branch_partitions(state: TableState) -> pa.Table:
    entries = state.live_files()
    sums = _grouped(state, entries, by_bucket=False)
    count = len(sums.first)
    nothing = [None] * count
    columns: dict[str, Values] = {
        "partition": _partition_specs(state, as_binary(sums.one("partition"))),
        **sums.columns,
        **dict.fromkeys(("created_at", "created_by", "updated_by", "options"), nothing),
        "total_buckets": sums.one("total_buckets"),
        "done": [False] * count,
        "deleted_record_count": lambda: sums.total(_deleted(state, entries)),
    }
    return table_of(state.selection.narrowed(PARTITIONS), columns)


def _partition_specs(state: TableState, rows: pa.BinaryArray) -> list[str]:
    """Partitions as `dt=2024-01-01/hr=1`; empty text for an unpartitioned table."""
    row_type = state.schema.partition_type
    types = [field.type for field in row_type]
    columns = decode_rows(rows, types, where="_PARTITION")
    texts = partition_texts(columns, types, legacy_names=False)
    if not texts:
        return [""] * len(rows)
    default = state.options.value(PARTITION_DEFAULT_NAME)
    named = [
        [f"{name}={partition_name(text, default)}" for text in values]
        for name, values in zip(row_type.names, texts, strict=True)
    ]
    return ["/".join(parts) for parts in zip(*named, strict=True)]


def _deleted(state: TableState, entries: ManifestEntries) -> Rows:
    """The number of rows deleted by deletion vectors, per file."""
    if state.snapshot is None:
        return np.zeros(len(entries), np.int64)
    found = deletion_files(state.store, state.snapshot, state.schema, state.options)
    vectors = vectors_of(entries, found)
    return np.array([0 if one is None else one.cardinality or 0 for one in vectors], np.int64)


def buckets(state: TableState) -> pa.Table:
    """One row per bucket with live files."""
    entries = state.all_files()
    sums = _grouped(state, entries, by_bucket=True)
    rows = as_binary(sums.one("partition"))
    columns = {
        "partition": row_texts(rows, state.schema.partition_type, where="_PARTITION"),
        "bucket": sums.one("bucket"),
        **sums.columns,
    }
    return table_of(BUCKETS, columns)


MANIFESTS = schema_from_text(
    "file_name string not null, file_size int64 not null, num_added_files int64 not null, "
    "num_deleted_files int64 not null, schema_id int64 not null, min_partition_stats string, "
    "max_partition_stats string, min_row_id int64, max_row_id int64"
)

DV_RANGE = pa.struct(
    schema_from_text("f0 string not null, f1 int32 not null, f2 int32 not null, _CARDINALITY int64")
)

TABLE_INDEXES = schema_from_text(
    "partition string, bucket int32 not null, index_type string not null, "
    "file_name string not null, file_size int64 not null, row_count int64 not null",
    pa.field("dv_ranges", pa.list_(DV_RANGE)),
    "row_range_start int64, row_range_end int64, index_field_id int32, index_field_name string",
)

AGGREGATION_FIELDS = schema_from_text(
    "field_name string not null, field_type string not null, function string, "
    "function_options string, comment string"
)


def manifests(state: TableState) -> pa.Table:
    """One row per manifest of base, delta and changelog list."""
    if state.snapshot is None:
        return MANIFESTS.empty_table()
    lists = state.store.manifests
    found = [lists.all(state.snapshot), lists.changelog(state.snapshot)]
    table = ManifestFiles.concat(found).table
    row_type = state.schema.partition_type
    ranges = {
        f"{end}_partition_stats": row_texts(
            binary(table, f"partition_{end}"), row_type, where="_PARTITION_STATS"
        )
        for end in ("min", "max")
    }
    same = {name: table.column(name) for name in MANIFESTS.names if name not in ranges}
    return table_of(MANIFESTS, {**same, **ranges})


def table_indexes(state: TableState) -> pa.Table:
    """One row per index file: hash indexes, deletion vectors, global indexes."""
    if state.snapshot is None or state.snapshot.index_manifest is None:
        return TABLE_INDEXES.empty_table()
    entries = state.store.manifests.index(state.snapshot.index_manifest)
    partitions = row_texts(
        binary(entries.table, "partition"), state.schema.partition_type, where="_PARTITION"
    )
    covered = [_members(value) for value in as_python(column(entries.table, "global_index"))]
    ids = [found.get("index_field_id") for found in covered]
    names: dict[object, str] = {field.id: field.name for field in state.schema.fields}
    columns: dict[str, Values] = {
        "partition": partitions,
        **{n: entries.column(n) for n in TABLE_INDEXES.names[1:6]},
        "dv_ranges": [_ranges(listed) for listed in as_python(column(entries.table, "dv_ranges"))],
        "row_range_start": [found.get("row_range_start") for found in covered],
        "row_range_end": [found.get("row_range_end") for found in covered],
        "index_field_id": ids,
        "index_field_name": [names.get(i) for i in ids],
    }
    return table_of(TABLE_INDEXES, columns)


def _members(value: object) -> Mapping[str, object]:
    """The fields of a struct; empty for null."""
    return value if isinstance(value, dict) else {}


def _ranges(listed: object) -> list[dict[str, object]] | None:
    if not isinstance(listed, list):
        return None
    return [
        {
            "f0": found["data_file"],
            "f1": found["offset"],
            "f2": found["length"],
            "_CARDINALITY": found["cardinality"],
        }
        for found in map(_members, listed)
    ]


def aggregation_fields(state: TableState) -> pa.Table:
    """One row per column with its aggregate function and the options that name one."""
    rows = []
    for field in state.schema.fields:
        prefix = f"fields.{field.name}."
        given = {k: v for k, v in state.options.items() if k.startswith(prefix)}
        rows.append(
            {
                "field_name": field.name,
                "field_type": type_text(field.type),
                "function": f"[{', '.join(given.values())}]",
                "function_options": f"[{', '.join(given)}]",
                "comment": None if field.description is None else masked(field.description),
            }
        )
    return pa.Table.from_pylist(rows, schema=AGGREGATION_FIELDS)
