"""Manifest lists, manifests and index manifests: between the bytes of files and frames.

Avro is what every release reads; ORC and Parquet manifests exist where a table's `manifest.format`
said so. The first bytes tell, not the option. Fields are matched by name and those a release did
not have yet are null, as are nested records of the releases that made them nullable.
Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_orc`, `manifest_parquet`,
`manifest_avro`; rust04 and pypaimon21 for other record names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import orc

from paimon_explore.encoding.avro import read_columns
from paimon_explore.encoding.avro_container import is_avro
from paimon_explore.encoding.buffers import (
    Column,
    build_list,
    build_struct,
    ends_of,
    fixed_values,
    valid_mask,
)
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.metadata import index_manifest, manifest_entry, manifest_list
from paimon_explore.metadata.entry_frame import Chunks, check_values, complete
from paimon_explore.metadata.index_manifest import (
    DELETION_RANGE,
    GLOBAL_INDEX,
    INDEX_FIELDS,
    INDEX_SCHEMA,
    IndexEntries,
)
from paimon_explore.metadata.manifest_entry import (
    ENTRY_FIELDS,
    ENTRY_SCHEMA,
    FileKind,
    FileSource,
    ManifestEntries,
)
from paimon_explore.metadata.manifest_list import (
    MANIFEST_LIST_FIELDS,
    MANIFEST_LIST_SCHEMA,
    ManifestFiles,
)

_VERSION = "_VERSION"
_ORC_MAGIC = b"ORC"
_PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How one kind of file maps to a frame.

    Attributes:
        what: the kind, for messages.
        version: the one that is known.
        schema: the frame's columns.
        fields: where each lies in the file's records.
        stored: types in the file, of columns whose names inside differ.
    """

    what: str
    version: int
    schema: pa.Schema
    fields: Mapping[str, tuple[str, ...]]
    stored: Mapping[str, pa.DataType]


_LIST = _Layout(
    what="manifest list",
    version=manifest_list.VERSION,
    schema=MANIFEST_LIST_SCHEMA,
    fields=MANIFEST_LIST_FIELDS,
    stored={},
)
_ENTRIES = _Layout(
    what="manifest",
    version=manifest_entry.VERSION,
    schema=ENTRY_SCHEMA,
    fields=ENTRY_FIELDS,
    stored={},
)
_STORED_RANGE = pa.struct(
    tuple(
        DELETION_RANGE.field(index).with_name(name)
        for index, name in enumerate(("f0", "f1", "f2", "_CARDINALITY"))
    )
)
_STORED_GLOBAL = pa.struct(
    tuple(
        GLOBAL_INDEX.field(index).with_name(f"_{GLOBAL_INDEX.field(index).name.upper()}")
        for index in range(GLOBAL_INDEX.num_fields)
    )
)
_INDEX = _Layout(
    what="index manifest",
    version=index_manifest.VERSION,
    schema=INDEX_SCHEMA,
    fields=INDEX_FIELDS,
    stored={"dv_ranges": pa.list_(_STORED_RANGE), "global_index": _STORED_GLOBAL},
)


def decode_manifest_list(data: bytes, path: str) -> ManifestFiles:
    """The manifests that a list names.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format.
    """
    return ManifestFiles(_decode([(path, data)], _LIST, None)[0])


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
    return [ManifestEntries(table) for table in _decode(files, _ENTRIES, columns)]


def decode_index_entries(data: bytes, path: str) -> IndexEntries:
    """The index files that an index manifest names.

    Raises:
        UnsupportedVersionError: a version other than the known one.
        CorruptFileError: bytes that break the format.
    """
    return IndexEntries(_decode([(path, data)], _INDEX, None)[0])


def _decode(
    files: Sequence[tuple[str, bytes]], layout: _Layout, columns: Sequence[str] | None
) -> list[pa.Table]:
    names = [name for name in layout.schema.names if columns is None or name in columns]
    target = pa.schema(tuple(layout.schema.field(name) for name in names))
    tables: list[pa.Table] = [target.empty_table()] * len(files)
    avro = [index for index, (_, data) in enumerate(files) if is_avro(data)]
    if avro:
        chosen = [files[index] for index in avro]
        records, counts = read_columns(chosen, _stored_fields(layout, names))
        path = chosen[0][0] if len(chosen) == 1 else f"one of {len(chosen)} files"
        frame = _frame(records, layout, target, path)
        first = 0
        for index, count in zip(avro, counts, strict=True):
            tables[index] = frame.slice(first, count)
            first += count
    for index in set(range(len(files))) - set(avro):
        path, data = files[index]
        tables[index] = _frame(_other_format(data, path), layout, target, path)
    return tables


def _stored_fields(layout: _Layout, names: Sequence[str]) -> list["pa.Field[pa.DataType]"]:
    """The wanted columns as records inside records, everything nullable."""
    tree: dict[str, object] = {_VERSION: pa.int32()}
    for name in names:
        *outer, leaf = layout.fields[name]
        branch = tree
        for part in outer:
            inner = branch.setdefault(part, {})
            assert isinstance(inner, dict)  # noqa: S101 - no column is both leaf and record
            branch = inner
        branch[leaf] = layout.stored.get(name, layout.schema.field(name).type)
    return _as_fields(tree)


def _as_fields(tree: dict[str, object]) -> list["pa.Field[pa.DataType]"]:
    fields = []
    for name, branch in tree.items():
        found: object = pa.struct(_as_fields(branch)) if isinstance(branch, dict) else branch
        assert isinstance(found, pa.DataType)  # noqa: S101 - leaves are types
        fields.append(pa.field(name, found))
    return fields


def _frame(records: pa.Table, layout: _Layout, target: pa.Schema, path: str) -> pa.Table:
    _check_version(records, layout, path)
    flat = _Flat(records)
    columns = {}
    for field in target:
        column = flat.column(layout.fields[field.name])
        if column is not None:
            columns[field.name] = _as_type(column, field.type, path, field.name)
    frame = pa.Table.from_arrays(list(columns.values()), names=list(columns))
    frame = complete(frame, target, path, rows=len(records))
    if "kind" in columns:
        check_values(frame.column("kind"), tuple(FileKind), path, "_KIND")
    if "file_source" in columns:
        check_values(frame.column("file_source"), tuple(FileSource), path, "_FILE_SOURCE")
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


def _check_version(records: pa.Table, layout: _Layout, path: str) -> None:
    if not len(records):
        return
    if _VERSION not in records.schema.names:
        raise CorruptFileError(path, _VERSION, "the field is required")
    for version in records.column(_VERSION).unique().to_pylist():
        if version != layout.version:
            raise UnsupportedVersionError(layout.what, version, (layout.version,), path)


def _as_type(column: Chunks, wanted: pa.DataType, path: str, name: str) -> Chunks:
    """A column in the frame's type; nested types may differ in the names of their children."""
    try:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms"), safe=False)
        if pa.types.is_nested(wanted) and column.type != wanted:
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
        lengths = pc.fill_null(pc.list_value_length(array), pa.scalar(0, pa.int32()))
        assert isinstance(lengths, pa.Int32Array)  # noqa: S101 - of one array
        offsets = ends_of(fixed_values(lengths, np.int32).astype(np.int64))
        return build_list(wanted, offsets, [items], valid_mask(array))
    if isinstance(array, pa.StructArray) and isinstance(wanted, pa.StructType):
        if wanted.num_fields != array.type.num_fields:
            raise pa.ArrowInvalid(f"{array.type} has other fields")
        children = [
            _relabelled(child, wanted.field(index).type)
            for index, child in enumerate(array.flatten())
        ]
        return build_struct(wanted, children, valid_mask(array))
    return array.cast(wanted)


def _other_format(data: bytes, path: str) -> pa.Table:
    source = pa.BufferReader(data)
    try:
        if data[: len(_PARQUET_MAGIC)] == _PARQUET_MAGIC:
            return pq.ParquetFile(source).read()
        if data[: len(_ORC_MAGIC)] == _ORC_MAGIC:
            return orc.ORCFile(source).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFileError(path, "the file", f"must be readable: {error}") from error
    raise CorruptFileError(path, "byte 0", "a manifest must be an Avro, ORC or Parquet file")
