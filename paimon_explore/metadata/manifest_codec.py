"""Manifest lists, manifests and index manifests: between the bytes of files and frames.

Avro is what every release reads; ORC and Parquet manifests exist where a table's `manifest.format`
said so. The first bytes tell, not the option. Fields are matched by name and those a release did
not have yet are null, as are nested records of the releases that made them nullable.
Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_orc`, `manifest_parquet`,
`manifest_avro`; rust04 and pypaimon21 for other record names.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, groupby

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.avro import read_chosen, read_columns
from paimon_explore.encoding.avro_container import is_avro
from paimon_explore.encoding.avro_entry_starts import entry_starts
from paimon_explore.encoding.avro_few import FEW, write_few
from paimon_explore.encoding.avro_skip import record_starts
from paimon_explore.encoding.avro_values import dense
from paimon_explore.encoding.avro_write import avro_schema, write_avro
from paimon_explore.encoding.buffers import (
    Column,
    build_list,
    build_struct,
    ends_of,
    list_offsets,
    no_table,
    valid_mask,
)
from paimon_explore.errors import CorruptFileError, FormatError, UnsupportedVersionError
from paimon_explore.metadata.entry_frame import Chunks, Mask, as_mask, check_codes, complete
from paimon_explore.metadata.file_names import check_names
from paimon_explore.metadata.index_manifest import IndexEntries
from paimon_explore.metadata.manifest_entry import (
    ENTRY_SCHEMA,
    FileKind,
    FileSource,
    ManifestEntries,
)
from paimon_explore.metadata.manifest_layouts import (
    ENTRY_LAYOUT,
    INDEX_LAYOUT,
    LIST_LAYOUT,
    VERSION_FIELD,
    Layout,
)
from paimon_explore.metadata.manifest_list import ManifestFiles
from paimon_explore.metadata.manifest_tables import read_records, write_records

_FILE_NAMES = frozenset({"file_name", "extra_files"})


def decode_manifest_list(data: bytes, path: str) -> ManifestFiles:
    """The manifests that a list names.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format.
    """
    return decode_manifest_lists([(path, data)])[0]


def decode_manifest_lists(files: Sequence[tuple[str, bytes]]) -> list[ManifestFiles]:
    """The manifests that lists name, one frame per file.

    Args:
        files: path and content of each; together they decode faster than one by one.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format; it names the file.
    """
    return [ManifestFiles(table) for table in _decode(files, LIST_LAYOUT, None)]


def decode_entries(
    files: Sequence[tuple[str, bytes]], columns: Sequence[str] | None = None
) -> list[ManifestEntries]:
    """The entries of manifests, one frame per file.

    Args:
        files: path and content of each; together they decode faster than one by one.
        columns: columns of `ENTRY_SCHEMA` to decode; None for all.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format; it names the file.
    """
    return [ManifestEntries(table) for table in _decode(files, ENTRY_LAYOUT, columns)]


def decode_partitions(
    files: Sequence[tuple[str, bytes]],
    wanted: Callable[[pa.BinaryArray], Mask],
    columns: Sequence[str] | None = None,
) -> ManifestEntries:
    """The entries of manifests whose partition is wanted, in order.

    Args:
        files: path and content of each.
        wanted: tells of n partitions (binary rows with their arity) which ones are wanted.
        columns: columns of `ENTRY_SCHEMA` to decode; None for all.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format; it names the file.
    """
    names = [name for name in ENTRY_SCHEMA.names if columns is None or name in columns]
    parts = []
    for avro, some in groupby(files, key=lambda file: is_avro(file[1])):
        group = list(some)
        if avro:
            parts.append(_avro_partitions(group, wanted, names))
            continue
        for frame in decode_entries(group, [*names, "partition"]):
            kept = frame.filter(wanted(_partitions(frame.column("partition").combine_chunks())))
            parts.append(ManifestEntries(kept.table.select(names)))
    none = ManifestEntries(no_table(ENTRY_SCHEMA).select(names))
    return ManifestEntries.concat([none, *parts])


def _avro_partitions(
    files: Sequence[tuple[str, bytes]], wanted: Callable[[pa.BinaryArray], Mask], names: list[str]
) -> ManifestEntries:
    target = pa.schema(tuple(ENTRY_SCHEMA.field(name) for name in names))
    fields = _read_fields(ENTRY_LAYOUT.what, tuple(names))
    deciding = pa.field(ENTRY_LAYOUT.fields["partition"][-1], pa.binary(), nullable=False)
    choice = (deciding, lambda column: as_mask(wanted(_partitions(column))))
    records = read_chosen(files, fields, choice, entry_starts)
    path = files[0][0] if len(files) == 1 else f"one of {len(files)} manifests"
    return ManifestEntries(_frame(records, ENTRY_LAYOUT, target, path))


def _partitions(column: Column) -> pa.BinaryArray:
    assert isinstance(column, pa.BinaryArray)  # noqa: S101 - the frame's type
    return column


def decode_index_entries(data: bytes, path: str) -> IndexEntries:
    """The index files that an index manifest names.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format.
    """
    return IndexEntries(_decode([(path, data)], INDEX_LAYOUT, None)[0])


def encode_manifest_list(
    manifests: ManifestFiles, codec: str = "zstandard", file_format: str = "avro"
) -> bytes:
    """A manifest list; one without manifests is a file without blocks.

    Args:
        manifests: older first.
        codec: Avro codec.
        file_format: the table's `manifest.format`: `avro`, `orc` or `parquet`.
    """
    return _encode(manifests.table, LIST_LAYOUT, codec, file_format)


def encode_entries(
    entries: ManifestEntries, codec: str = "zstandard", file_format: str = "avro"
) -> bytes:
    """A manifest.

    Args:
        entries: in the order in which they are to be read.
        codec: Avro codec.
        file_format: the table's `manifest.format`: `avro`, `orc` or `parquet`.
    """
    return _encode(entries.table, ENTRY_LAYOUT, codec, file_format)


def encode_index_entries(
    entries: IndexEntries, codec: str = "zstandard", file_format: str = "avro"
) -> bytes:
    """An index manifest.

    Args:
        entries: all index files of the snapshot.
        codec: Avro codec.
        file_format: the table's `manifest.format`: `avro`, `orc` or `parquet`.
    """
    return _encode(entries.table, INDEX_LAYOUT, codec, file_format)


def _encode(table: pa.Table, layout: Layout, codec: str, file_format: str) -> bytes:
    names = [
        name
        for name in layout.schema.names
        if name not in layout.late or table.column(name).null_count < len(table)
    ]
    if file_format == "avro" and len(table) <= FEW:
        return _encode_few(table, layout, names, codec)
    flat = {
        layout.fields[name]: _as_written(table.column(name), layout.written_type(name))
        for name in names
    }
    version = np.full(len(table), layout.version, dtype=np.int32)
    flat[(VERSION_FIELD,)] = dense(pa.int32(), version)
    fields = layout.written_fields(names)
    columns = [_gathered(flat, (field.name,), field.type) for field in fields]
    schema = pa.schema(fields)
    if file_format != "avro":
        return write_records(pa.Table.from_arrays(columns, schema=schema), file_format, codec)
    return write_avro(avro_schema(schema), columns, codec)


def _encode_few(table: pa.Table, layout: Layout, names: list[str], codec: str) -> bytes:
    columns = {layout.fields[name]: table.column(name).to_pylist() for name in names}
    columns[(VERSION_FIELD,)] = [layout.version] * len(table)
    key = (layout.what, tuple(names))
    if key not in _SCHEMAS:
        _SCHEMAS[key] = avro_schema(pa.schema(layout.written_fields(names)))
    return write_few(_SCHEMAS[key], columns, codec)


_SCHEMAS: dict[tuple[str, tuple[str, ...]], bytes] = {}
"""Schemas of the files that were written in this process, by kind and columns."""


def _as_written(column: Chunks, kind: pa.DataType) -> Column:
    array: Column = column.combine_chunks()
    if pa.types.is_timestamp(kind):
        return array.view(kind)
    return _relabelled(array, kind)


def _gathered(
    flat: Mapping[tuple[str, ...], Column], path: tuple[str, ...], kind: pa.DataType
) -> Column:
    """The column of a path: as given, or a record of the columns below it."""
    known = flat.get(path)
    if known is not None:
        return known
    assert isinstance(kind, pa.StructType)  # noqa: S101 - only records are not given
    fields = [kind.field(index) for index in range(kind.num_fields)]
    children = [_gathered(flat, (*path, field.name), field.type) for field in fields]
    return build_struct(kind, children, np.ones(len(children[0]), dtype=np.bool_))


def _decode(
    files: Sequence[tuple[str, bytes]], layout: Layout, columns: Sequence[str] | None
) -> list[pa.Table]:
    names = [name for name in layout.schema.names if columns is None or name in columns]
    target = pa.schema(tuple(layout.schema.field(name) for name in names))
    tables: list[pa.Table] = [no_table(target)] * len(files)
    avro = [index for index, (_, data) in enumerate(files) if is_avro(data)]
    found = _decode_avro([files[index] for index in avro], layout, target)
    for index, table in zip(avro, found, strict=True):
        tables[index] = table
    for index in set(range(len(files))) - set(avro):
        path, data = files[index]
        tables[index] = _frame(read_records(data, path), layout, target, path)
    return tables


def _decode_avro(
    files: Sequence[tuple[str, bytes]], layout: Layout, target: pa.Schema
) -> list[pa.Table]:
    if not files:
        return []
    finder = entry_starts if layout is ENTRY_LAYOUT else record_starts
    fields = _read_fields(layout.what, tuple(target.names))
    records, counts = read_columns(files, fields, starts=finder)
    try:
        frame = _frame(records, layout, target, files[0][0])
    except FormatError:
        if len(files) == 1:
            raise
        return [_decode_avro([file], layout, target)[0] for file in files]  # finds which one
    ends = list(accumulate(counts, initial=0))
    return [frame.slice(first, count) for first, count in zip(ends, counts, strict=False)]


@lru_cache(maxsize=64)
def _read_fields(what: str, names: tuple[str, ...]) -> list["pa.Field[pa.DataType]"]:
    layout = next(
        known for known in (LIST_LAYOUT, ENTRY_LAYOUT, INDEX_LAYOUT) if known.what == what
    )
    return layout.read_fields(list(names))


def _frame(records: pa.Table, layout: Layout, target: pa.Schema, path: str) -> pa.Table:
    _check_version(records, layout, path)
    flat = _Flat(records)
    columns: dict[str, Chunks] = {}
    for field in target:
        column = flat.column(layout.fields[field.name])
        if column is not None:
            columns[field.name] = _as_type(column, field.type, path, field.name)
    frame = complete(columns, target, path, rows=len(records))
    for name in _FILE_NAMES & columns.keys():
        check_names(columns[name], path, ".".join(layout.fields[name]))
    if "kind" in columns:
        check_codes(columns["kind"], FileKind, path, "_KIND")
    if "file_source" in columns:
        check_codes(columns["file_source"], FileSource, path, "_FILE_SOURCE")
    return frame


class _Flat:
    """Columns inside records, each record taken apart once."""

    def __init__(self, records: pa.Table) -> None:
        self._known: dict[tuple[str, ...], pa.Table] = {(): records}

    def column(self, path: tuple[str, ...]) -> "Chunks | None":
        table = self._table(path[:-1])
        position = -1 if table is None else table.schema.get_field_index(path[-1])
        return None if table is None or position < 0 else table.column(position)

    def _table(self, path: tuple[str, ...]) -> pa.Table | None:
        if path not in self._known:
            outer = self.column(path)
            if outer is None or not isinstance(outer.type, pa.StructType):
                return None
            names = [outer.type.field(index).name for index in range(outer.type.num_fields)]
            self._known[path] = pa.Table.from_arrays(outer.flatten(), names=names)
        return self._known[path]


def _check_version(records: pa.Table, layout: Layout, path: str) -> None:
    if not len(records):
        return
    if VERSION_FIELD not in records.schema.names:
        raise CorruptFileError(path, VERSION_FIELD, "the field is required")
    for version in records.column(VERSION_FIELD).unique().to_pylist():
        if version != layout.version:
            raise UnsupportedVersionError(layout.what, version, (layout.version,), path)


def _as_type(column: Chunks, wanted: pa.DataType, path: str, name: str) -> Chunks:
    """A column in the frame's type; nested types may differ in the names of their children."""
    if column.type == wanted:
        return column
    try:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms"), safe=False)
        if pa.types.is_nested(wanted):
            parts = [_relabelled(chunk, wanted) for chunk in column.chunks]
            renamed: Chunks = pa.chunked_array(parts, wanted)  # type: ignore[call-overload]  # in stubs
            return renamed
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise CorruptFileError(path, name, f"must be {wanted}: {error}") from error


def _relabelled(array: Column, wanted: pa.DataType) -> Column:
    """The same values under a nested type that differs in the names of fields only."""
    if array.type == wanted:
        return array
    if isinstance(array, pa.ListArray) and isinstance(wanted, pa.ListType):
        items = _relabelled(array.flatten(), wanted.value_type)
        valid = valid_mask(array)
        offsets = ends_of(np.where(valid, np.diff(list_offsets(array)), 0))
        return build_list(wanted, offsets, [items], valid)
    if isinstance(array, pa.StructArray) and isinstance(wanted, pa.StructType):
        if wanted.num_fields != array.type.num_fields:
            raise pa.ArrowInvalid(f"{array.type} has other fields")
        children = [
            _relabelled(child, wanted.field(index).type)
            for index, child in enumerate(array.flatten())
        ]
        return build_struct(wanted, children, valid_mask(array))
    return array.cast(wanted)
