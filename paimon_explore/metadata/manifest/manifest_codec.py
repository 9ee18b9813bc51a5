"""Reads and writes the bytes of manifest lists, manifests and index manifests.

Manifests are Avro files; tables with another `manifest.format` may have ORC and Parquet manifests.
The format is detected by the first bytes, not by the option. Fields are matched by name, also in
nested records: fields missing in the file are null, unknown fields are skipped.
Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_orc`, `manifest_parquet`,
`manifest_avro`; rust04 and pypaimon21 for other record names.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, groupby

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    BYTE_VIEWS,
    Column,
    Ints,
    build_list,
    build_struct,
    empty_table,
    fixed_values,
    list_offsets,
    offsets_from_sizes,
    valid_mask,
)
from paimon_explore.encoding.avro.container import is_avro
from paimon_explore.encoding.avro.manifest_record_offsets import entry_starts, list_starts
from paimon_explore.encoding.avro.primitive_decoder import dense
from paimon_explore.encoding.avro.reader import REASONS, Choice, read_chosen, read_columns
from paimon_explore.encoding.avro.record_offsets import record_starts
from paimon_explore.errors import CorruptFileError, FormatError, UnsupportedVersionError
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import (
    BOUNDS,
    FileKind,
    FileSource,
    ManifestEntries,
)
from paimon_explore.metadata.manifest.manifest_filter import EntryFilter, filter_entries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.manifest.manifest_table import (
    Chunks,
    ManifestTable,
    Row,
    check_codes,
    with_all_columns,
)
from paimon_explore.metadata.manifest.record_layouts import (
    ENTRY_LAYOUT,
    INDEX_LAYOUT,
    LIST_LAYOUT,
    VERSION_FIELD,
    Layout,
)
from paimon_explore.metadata.path_safety import check_names

_LAYOUTS = {layout.what: layout for layout in (LIST_LAYOUT, ENTRY_LAYOUT, INDEX_LAYOUT)}
_LAYOUT_OF: Mapping[type[ManifestTable], Layout] = {
    ManifestFiles: LIST_LAYOUT,
    ManifestEntries: ENTRY_LAYOUT,
    IndexEntries: INDEX_LAYOUT,
}
_START_FINDERS = {ENTRY_LAYOUT.what: entry_starts, LIST_LAYOUT.what: list_starts}
_FILE_NAMES = frozenset({"file_name", "extra_files"})


def decode_manifest_lists(files: Sequence[tuple[str, bytes]]) -> list[ManifestFiles]:
    """Decode manifest lists, one table per file.

    Args:
        files: path and content of each; decoding many at once is faster than one by one.

    Raises:
        UnsupportedVersionError: the format version is not supported.
        CorruptFileError: a file violates the format; the error names the file.
    """
    return [ManifestFiles(table) for table in _decode(files, LIST_LAYOUT, None)]


def decode_entries(
    files: Sequence[tuple[str, bytes]], columns: Sequence[str] | None = None
) -> list[ManifestEntries]:
    """Decode manifests, one table of entries per file.

    Args:
        files: path and content of each; decoding many at once is faster than one by one.
        columns: columns of `ENTRY_SCHEMA` to decode; None for all.

    Raises:
        UnsupportedVersionError: the format version is not supported.
        CorruptFileError: a file violates the format; the error names the file.
    """
    return [ManifestEntries(table) for table in _decode(files, ENTRY_LAYOUT, columns)]


def decode_concatenated(
    files: Sequence[tuple[str, bytes]], columns: Sequence[str] | None = None
) -> tuple[ManifestEntries, list[int]]:
    """Decode manifests into one table; also returns the number of entries of each file."""
    if all(is_avro(data) for _, data in files):
        table, counts = _decode_avro(files, ENTRY_LAYOUT, _target(ENTRY_LAYOUT, columns))
        return ManifestEntries(table), counts
    entries = decode_entries(files, columns)
    return ManifestEntries.concat(entries), [len(part) for part in entries]


def decode_filtered(
    files: Sequence[tuple[str, bytes]],
    filters: Sequence[EntryFilter],
    columns: Sequence[str] | None = None,
) -> tuple[ManifestEntries, Ints]:
    """Decode the entries of manifests that pass all filters; other entries are decoded partly.

    Args:
        files: path and content of each.
        filters: applied in this order.
        columns: columns of `ENTRY_SCHEMA` to decode; None for all.

    Returns:
        The entries, and an array of shape (filters, reasons) that counts the reasons of each
        filter.

    Raises:
        UnsupportedVersionError: the format version is not supported.
        CorruptFileError: a file violates the format; the error names the file.
    """
    target = _target(ENTRY_LAYOUT, columns)
    parts: list[pa.Table] = []
    totals = np.zeros((len(filters), REASONS), np.int64)
    for avro, some in groupby(files, key=lambda file: is_avro(file[1])):
        group = list(some)
        if avro:
            table, tallies = _avro_filtered(group, filters, target)
        else:
            needed = {*target.names, *(name for each in filters for name in each.columns)}
            whole = ManifestEntries.concat(decode_entries(group, sorted(needed)))
            entries, tallies = filter_entries(whole, filters)
            table = entries.select(target.names).table
        parts.append(table)
        totals += tallies
    if len(parts) == 1:
        return ManifestEntries(parts[0]), totals
    return ManifestEntries(pa.concat_tables(parts) if parts else empty_table(target)), totals


def _avro_filtered(
    files: Sequence[tuple[str, bytes]], filters: Sequence[EntryFilter], target: pa.Schema
) -> tuple[pa.Table, Ints]:
    path = files[0][0] if len(files) == 1 else f"one of {len(files)} manifests"
    fields = _read_fields(ENTRY_LAYOUT.what, tuple(target.names))
    choices = [_choice(entry_filter, path) for entry_filter in filters]
    needles = filters[0].needles if filters else ()
    records, tallies = read_chosen(files, fields, choices, entry_starts, needles)
    return _to_table(records, ENTRY_LAYOUT, target, path), tallies


def _choice(entry_filter: EntryFilter, path: str) -> Choice:
    target = _view_schema(entry_filter.columns)
    fields = _view_fields(entry_filter.columns)
    schema = pa.schema(fields)

    def decide(columns: list[Column]) -> Ints:
        records = pa.Table.from_arrays(columns, schema=schema)
        return entry_filter.reasons(ManifestEntries(_to_table(records, ENTRY_LAYOUT, target, path)))

    return fields, decide


def decode_index_entries(data: bytes, path: str) -> IndexEntries:
    """Decode an index manifest.

    Raises:
        UnsupportedVersionError: the format version is not supported.
        CorruptFileError: the file violates the format.
    """
    return IndexEntries(_decode([(path, data)], INDEX_LAYOUT, None)[0])


def encode_records(
    records: ManifestTable, codec: str = "zstandard", file_format: str = "avro"
) -> bytes:
    """Encode a manifest list, a manifest or an index manifest.

    Args:
        records: in the order of the file; without records the file has no blocks.
        codec: Avro codec.
        file_format: the table's `manifest.format`: `avro`, `orc` or `parquet`.
    """
    layout = _LAYOUT_OF[type(records)]
    from paimon_explore.encoding.avro.record_encoder import FEW  # noqa: PLC0415 - readers do not need it

    if file_format == "avro" and len(records) <= FEW:
        return _encode_few(records.rows(), layout, codec)
    table = records.table
    names = [
        name
        for name in layout.schema.names
        if name not in layout.late or table.column(name).null_count < len(table)
    ]
    flat = {
        layout.fields[name]: _as_written(table.column(name), layout.written_type(name))
        for name in names
    }
    version = np.full(len(table), layout.version, dtype=np.int32)
    flat[(VERSION_FIELD,)] = dense(pa.int32(), version)
    fields = layout.written_fields(names)
    columns = [_nested_column(flat, (field.name,), field.type) for field in fields]
    schema = pa.schema(fields)
    if file_format != "avro":
        from paimon_explore.metadata.manifest.orc_parquet_manifests import write_records  # noqa: PLC0415 - old ones

        return write_records(pa.Table.from_arrays(columns, schema=schema), file_format, codec)
    from paimon_explore.encoding.avro.writer import avro_schema, write_avro  # noqa: PLC0415 - readers do not need it

    return write_avro(avro_schema(schema), columns, codec)


def _encode_few(rows: Sequence[Row], layout: Layout, codec: str) -> bytes:
    from paimon_explore.encoding.avro.record_encoder import write_few  # noqa: PLC0415 - as above

    late = tuple(name for name in layout.late if all(row[name] is None for row in rows))
    schema, names = _few_fields(layout.what, late)
    version = layout.version
    values = [[version if name is None else row[name] for name in names] for row in rows]
    return write_few(schema, values, codec)


@lru_cache(maxsize=8)
def _few_fields(what: str, absent: tuple[str, ...]) -> tuple[bytes, tuple[str | None, ...]]:
    """Return the Avro schema, and the columns in the order of its fields; None is the version."""
    from paimon_explore.encoding.avro.record_encoder import leaf_paths  # noqa: PLC0415 - as above
    from paimon_explore.encoding.avro.writer import avro_schema  # noqa: PLC0415 - as above

    layout = _LAYOUTS[what]
    names = [name for name in layout.schema.names if name not in absent]
    schema = avro_schema(pa.schema(layout.written_fields(names)))
    columns: dict[tuple[str, ...], str | None] = {layout.fields[name]: name for name in names}
    columns[(VERSION_FIELD,)] = None
    return schema, tuple(columns[path] for path in leaf_paths(schema))


def _as_written(column: Chunks, kind: pa.DataType) -> Column:
    array: Column = column.combine_chunks()
    return array.view(kind) if pa.types.is_timestamp(kind) else with_field_names(array, kind)


def _nested_column(
    flat: Mapping[tuple[str, ...], Column], path: tuple[str, ...], kind: pa.DataType
) -> Column:
    """Return the column at a path: a leaf, or a struct built from the columns below it."""
    known = flat.get(path)
    if known is not None:
        return known
    fields = [kind.field(index) for index in range(kind.num_fields)]
    children = [_nested_column(flat, (*path, field.name), field.type) for field in fields]
    return build_struct(kind, children, np.ones(len(children[0]), dtype=np.bool_))


def _target(layout: Layout, columns: Collection[str] | None) -> pa.Schema:
    return _schema_of(layout.what, None if columns is None else frozenset(columns))


@lru_cache(maxsize=64)
def _schema_of(what: str, columns: frozenset[str] | None) -> pa.Schema:
    layout = _LAYOUTS[what]
    names = [name for name in layout.schema.names if columns is None or name in columns]
    return pa.schema(tuple(layout.schema.field(name) for name in names))


def _decode(
    files: Sequence[tuple[str, bytes]], layout: Layout, columns: Collection[str] | None
) -> list[pa.Table]:
    target = _target(layout, columns)
    tables: dict[int, pa.Table] = {}
    avro = [index for index, (_, data) in enumerate(files) if is_avro(data)]
    whole, counts = _decode_avro([files[index] for index in avro], layout, target)
    ends = list(accumulate(counts, initial=0))
    for index, first, count in zip(avro, ends, counts, strict=False):
        tables[index] = whole.slice(first, count)
    for index in set(range(len(files))) - tables.keys():
        from paimon_explore.metadata.manifest.orc_parquet_manifests import read_records  # noqa: PLC0415 - old ones

        path, data = files[index]
        tables[index] = _to_table(read_records(data, path), layout, target, path)
    return [tables[index] for index in range(len(files))]


def _decode_avro(
    files: Sequence[tuple[str, bytes]], layout: Layout, target: pa.Schema
) -> tuple[pa.Table, list[int]]:
    """Decode the records of all files; also returns the number of records of each file."""
    if not files:
        return empty_table(target), []
    finder = _START_FINDERS.get(layout.what, record_starts)
    fields = _read_fields(layout.what, tuple(target.names))
    records, counts = read_columns(files, fields, starts=finder)
    try:
        return _to_table(records, layout, target, files[0][0]), counts
    except FormatError:
        if len(files) == 1:
            raise
        for file in files:  # raises an error that names the file
            _decode_avro([file], layout, target)
        raise


@lru_cache(maxsize=64)
def _view_schema(columns: frozenset[str]) -> pa.Schema:
    """Return the schema of columns for a filter; bounds are views into the decoded bytes."""
    fields = [
        field.with_type(BYTE_VIEWS) if field.name in BOUNDS else field
        for field in _target(ENTRY_LAYOUT, columns)
    ]
    return pa.schema(fields)


@lru_cache(maxsize=64)
def _view_fields(columns: frozenset[str]) -> list["pa.Field[pa.DataType]"]:
    return ENTRY_LAYOUT.read_fields(_view_schema(columns))


@lru_cache(maxsize=64)
def _read_fields(what: str, names: tuple[str, ...]) -> list["pa.Field[pa.DataType]"]:
    return _LAYOUTS[what].read_fields(_schema_of(what, frozenset(names)))


def _to_table(records: pa.Table, layout: Layout, target: pa.Schema, path: str) -> pa.Table:
    _check_version(records, layout, path)
    flat = _flat(records)
    columns: dict[str, Chunks] = {}
    for field in target:
        column = flat.get(layout.fields[field.name])
        if column is not None:
            if field.name in layout.read_types:
                column = _by_name(column, layout, field.name, path)
            columns[field.name] = _as_type(column, field.type, path, field.name)
    table = with_all_columns(columns, target, path, rows=len(records))
    for name in _FILE_NAMES & columns.keys():
        check_names(columns[name], path, ".".join(layout.fields[name]))
    if "kind" in columns:
        check_codes(columns["kind"], FileKind, path, "_KIND")
    if "file_source" in columns:
        check_codes(columns["file_source"], FileSource, path, "_FILE_SOURCE")
    return table


def _flat(records: pa.Table) -> dict[tuple[str, ...], Chunks]:
    """Return the columns by path, including those of nested records."""
    found: dict[tuple[str, ...], Chunks] = {}
    left: list[tuple[tuple[str, ...], Chunks]] = [
        ((name,), column)
        for name, column in zip(records.schema.names, records.columns, strict=True)
    ]
    while left:
        path, column = left.pop()
        found.setdefault(path, column)
        kind = column.type
        if isinstance(kind, pa.StructType):
            inner = column.flatten()
            left += [((*path, kind.field(at).name), child) for at, child in enumerate(inner)]
    return found


def _check_version(records: pa.Table, layout: Layout, path: str) -> None:
    if not len(records):
        return
    if VERSION_FIELD not in records.schema.names:
        raise CorruptFileError(path, f"field {VERSION_FIELD}", "must be present")
    versions = records.column(VERSION_FIELD)
    if versions.type == pa.int32() and not versions.null_count:
        known = (fixed_values(chunk, np.int32) == layout.version for chunk in versions.chunks)
        if all(bool(chunk.all()) for chunk in known):
            return
    for version in versions.unique().to_pylist():
        if version is None:
            raise CorruptFileError(path, f"field {VERSION_FIELD}", "must be present")
        if version != layout.version:
            raise UnsupportedVersionError(layout.what, version, (layout.version,), path)


def _by_name(column: Chunks, layout: Layout, name: str, path: str) -> Chunks:
    """Return a column of nested records with the fields of the layout, matched by name."""
    wanted, where = layout.read_types[name], layout.fields[name][-1]
    try:
        parts = [project_record(part, wanted, path=path, where=where) for part in column.chunks]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise CorruptFileError(path, where, f"must be {wanted}: {error}") from error
    projected: Chunks = pa.chunked_array(parts, wanted)  # type: ignore[call-overload]  # in stubs
    return projected


def _as_type(column: Chunks, wanted: pa.DataType, path: str, name: str) -> Chunks:
    """Cast a column to the table's type; nested types may differ in field names."""
    if column.type == wanted:
        return column
    try:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms"), safe=False)
        if pa.types.is_nested(wanted):
            parts = [with_field_names(chunk, wanted) for chunk in column.chunks]
            renamed: Chunks = pa.chunked_array(parts, wanted)  # type: ignore[call-overload]  # in stubs
            return renamed
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise CorruptFileError(path, name, f"must be {wanted}: {error}") from error


def with_field_names(array: Column, wanted: pa.DataType) -> Column:
    """Return the values with a nested type that differs only in field names."""
    if array.type == wanted:
        return array
    if isinstance(array, pa.ListArray) and isinstance(wanted, pa.ListType):
        items = with_field_names(array.flatten(), wanted.value_type)
        valid = valid_mask(array)
        offsets = offsets_from_sizes(np.where(valid, np.diff(list_offsets(array)), 0))
        return build_list(wanted, offsets, [items], valid)
    if isinstance(array, pa.StructArray) and isinstance(wanted, pa.StructType):
        children = [
            with_field_names(child, wanted.field(index).type)
            for index, child in enumerate(array.flatten())
        ]
        return build_struct(wanted, children, valid_mask(array))
    return array.cast(wanted)


# Paimon releases add fields to nested records, and Avro, ORC and Parquet all store field names. So
# a nullable field that is missing in the file is null, an unknown field is skipped, and the order
# of fields in the file does not matter.
def project_record(array: Column, wanted: pa.DataType, *, path: str, where: str) -> Column:
    """Project values to the fields of another type, at every nesting level.

    Args:
        array: n values as stored in the file.
        wanted: the target type, with the field names of the file.
        path: of the file, for messages.
        where: the field, for messages.

    Raises:
        CorruptFileError: a required field is missing or null, or a list contains a null record.
        pa.ArrowException: a value cannot be cast to the target type.
    """
    if isinstance(array, pa.ListArray) and isinstance(wanted, pa.ListType):
        items = project_record(array.flatten(), wanted.value_type, path=path, where=where)
        if isinstance(wanted.value_type, pa.StructType) and items.null_count:
            raise CorruptFileError(path, where, "must not contain null")
        valid = valid_mask(array)
        offsets = offsets_from_sizes(np.where(valid, np.diff(list_offsets(array)), 0))
        return build_list(wanted, offsets, [items], valid)
    if isinstance(array, pa.StructArray) and isinstance(wanted, pa.StructType):
        fields = [wanted.field(index) for index in range(wanted.num_fields)]
        children = [_child(array, field, path, where) for field in fields]
        return build_struct(wanted, children, valid_mask(array))
    return array if array.type == wanted else array.cast(wanted)


def _child(array: pa.StructArray, field: "pa.Field[pa.DataType]", path: str, where: str) -> Column:
    where = f"{where}.{field.name}"
    index = array.type.get_field_index(field.name)
    needed = not field.nullable and array.null_count < len(array)
    if index < 0:
        if needed:
            raise CorruptFileError(path, where, "must be present")
        return pa.nulls(len(array), field.type)  # type: ignore[call-overload,no-any-return]  # in stubs
    child = project_record(array.field(index), field.type, path=path, where=where)
    if needed and child.null_count and bool((valid_mask(array) & ~valid_mask(child)).any()):
        raise CorruptFileError(path, where, "must not be null")
    return child
