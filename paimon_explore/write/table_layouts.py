"""Layouts of a table's data and changelog files, derived from its schema and options.

Spec: concepts/spec/datafile; maintenance/configurations.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paimon_explore.data_types.definitions import (
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.field_ids import (
    KEY_FIELD_OFFSET,
    ROW_ID_FIELD,
    SEQUENCE_NUMBER_FIELD,
    VALUE_KIND_FIELD,
)
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.shredding_writer import check_shredded_type
from paimon_explore.errors import CorruptFileError, InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.column_options import (
    MAP_MAX_COLUMNS,
    MAP_STORAGE_LAYOUT,
    MAP_STORAGE_LAYOUTS,
    STATS_MODE,
)
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.storage_validation import managed_blob_violations
from paimon_explore.metadata.schema.table_schema import TableSchema, cached_by_schema_and_options
from paimon_explore.write.blob_files import blob_fields
from paimon_explore.write.column_statistics import (
    KEY_MODE,
    NONE,
    StatsKind,
    StatsMode,
    column_modes,
    parse_mode,
)
from paimon_explore.write.file_indexes import index_plans
from paimon_explore.write.file_layout import TEXT_FORMATS, FileLayout

KEY_PREFIX = "_KEY_"
SEQUENCE_NUMBER = DataField(
    id=SEQUENCE_NUMBER_FIELD,
    name="_SEQUENCE_NUMBER",
    type=AtomicType(root=TypeRoot.BIGINT, nullable=False),
)
VALUE_KIND = DataField(
    id=VALUE_KIND_FIELD, name="_VALUE_KIND", type=AtomicType(root=TypeRoot.TINYINT, nullable=False)
)
ROW_ID = DataField(
    id=ROW_ID_FIELD, name="_ROW_ID", type=AtomicType(root=TypeRoot.BIGINT, nullable=False)
)
POSTPONE_FORMAT = "avro"
WITHOUT_STATS = TEXT_FORMATS | {"row", "blob"}
"""Formats without column statistics."""


@cached_by_schema_and_options
def append_layout(
    schema: TableSchema, options: TableOptions, *, source: FileSource = FileSource.APPEND
) -> FileLayout:
    """Return the layout of data files of a table without primary key.

    Args:
        schema: schema of the rows.
        options: effective options.
        source: what creates the files: a write or a compaction.
    """
    row_tracking = options.value(opt.ROW_TRACKING_ENABLED)
    file_format = _text(options, opt.FILE_FORMAT).lower()
    return FileLayout(
        format=file_format,
        compression=_text(options, opt.FILE_COMPRESSION),
        zstd_level=options.value(opt.FILE_COMPRESSION_ZSTD_LEVEL),
        options=options,
        prefix=_text(options, opt.DATA_FILE_PREFIX),
        suffix_compression=options.value(opt.FILE_SUFFIX_INCLUDE_COMPRESSION),
        schema_id=schema.id,
        fields=schema.fields,
        value_columns=tuple(range(len(schema.fields))),
        value_modes=_modes(schema, options, _text(options, opt.METADATA_STATS_MODE), file_format),
        dense_stats=options.value(opt.METADATA_STATS_DENSE_STORE),
        source=source,
        target_bytes=target_file_bytes(options, has_primary_key=False),
        target_rows=options.value(opt.TARGET_FILE_ROW_NUM),
        indexes=index_plans(schema.fields, options),
        embedded_index_bytes=options.value(opt.FILE_INDEX_IN_MANIFEST_THRESHOLD),
        numbered=not row_tracking,
        shredded_maps=_shredded_maps(schema, options),
        shredded_variants=_shredded_variants(schema, options),
    )


def row_tracking_layout(schema: TableSchema, options: TableOptions) -> FileLayout:
    """Return the layout of compacted files of a table with row tracking.

    Row ids and sequence numbers are stored as columns, since rows come from several files.
    """
    layout = append_layout(schema, options, source=FileSource.COMPACT)
    default = _text(options, opt.METADATA_STATS_MODE)
    mode = NONE if layout.format in WITHOUT_STATS else parse_mode(default)
    more = _with_columns(layout, (ROW_ID, SEQUENCE_NUMBER), mode)
    return replace(more, sequence_column=len(more.fields) - 1)


def row_tracking_update_layout(schema: TableSchema, options: TableOptions) -> FileLayout:
    """Return the layout of files that an update or delete rewrites in a table with row tracking.

    Row ids are stored as a column, so that the commit assigns no new ones. Changed rows have no
    stored sequence number: they have that of the file.
    """
    layout = append_layout(schema, options)
    has_stats = any(mode.kind is not StatsKind.NONE for mode in layout.value_modes)
    number = replace(SEQUENCE_NUMBER, type=with_nullable(SEQUENCE_NUMBER.type, nullable=True))
    return _with_columns(layout, (ROW_ID, number), KEY_MODE if has_stats else NONE)


def _with_columns(layout: FileLayout, system: Sequence[DataField], mode: StatsMode) -> FileLayout:
    """Append system columns to a layout and to its `_WRITE_COLS`."""
    fields = (*layout.fields, *system)
    return replace(
        layout,
        fields=fields,
        value_columns=tuple(range(len(fields))),
        value_modes=(*layout.value_modes, *(mode for _ in system)),
        write_columns=tuple(column.name for column in fields),
    )


@cached_by_schema_and_options
def keyed_layout(
    schema: TableSchema,
    options: TableOptions,
    *,
    level: int = 0,
    source: FileSource = FileSource.APPEND,
) -> FileLayout:
    """Return the layout of data files of one level of a table with primary key.

    Args:
        schema: schema of the rows.
        options: effective options.
        level: level of the LSM tree.
        source: what creates the files: a write or a compaction.
    """
    formats = options.value(opt.FILE_FORMAT_PER_LEVEL)
    codecs = options.value(opt.FILE_COMPRESSION_PER_LEVEL)
    modes = options.value(opt.METADATA_STATS_MODE_PER_LEVEL)
    layout = _keyed(
        schema,
        options,
        level=level,
        source=source,
        format_name=formats.get(level) or _text(options, opt.FILE_FORMAT),
        compression=codecs.get(level) or _text(options, opt.FILE_COMPRESSION),
        prefix=_text(options, opt.DATA_FILE_PREFIX),
        mode=modes.get(level) or _text(options, opt.METADATA_STATS_MODE),
    )
    return replace(
        layout,
        indexes=index_plans(schema.fields, options),
        embedded_index_bytes=options.value(opt.FILE_INDEX_IN_MANIFEST_THRESHOLD),
    )


def changelog_layout(schema: TableSchema, options: TableOptions) -> FileLayout:
    """Return the layout of changelog files; arguments as for `keyed_layout`."""
    data = keyed_layout(schema, options)
    mode = options.value(opt.CHANGELOG_FILE_STATS_MODE)
    return _keyed(
        schema,
        options,
        format_name=options.value(opt.CHANGELOG_FILE_FORMAT) or data.format,
        compression=options.value(opt.CHANGELOG_FILE_COMPRESSION) or data.compression,
        prefix=_text(options, opt.CHANGELOG_FILE_PREFIX),
        mode=mode or _text(options, opt.METADATA_STATS_MODE),
    )


def postpone_layout(schema: TableSchema, options: TableOptions, prefix: str) -> FileLayout:
    """Return the layout of files of a postpone bucket: Avro, without statistics.

    Args:
        schema: schema of the rows.
        options: effective options.
        prefix: prefix of the file names, which includes the writer.
    """
    return _keyed(
        schema,
        options,
        format_name=POSTPONE_FORMAT,
        compression=_text(options, opt.FILE_COMPRESSION),
        prefix=prefix,
        mode="none",
    )


def _keyed(  # noqa: PLR0913  # the choices that data, changelog and postponed files differ in
    schema: TableSchema,
    options: TableOptions,
    *,
    level: int = 0,
    source: FileSource = FileSource.APPEND,
    format_name: str,
    compression: str,
    prefix: str,
    mode: str,
) -> FileLayout:
    for violation in managed_blob_violations(schema, options):
        raise UnsupportedFeatureError("writing this table", violation)
    thin = options.value(opt.DATA_FILE_THIN_MODE)
    keys = schema.trimmed_primary_keys
    names = [column.name for column in schema.fields]
    system = (*(() if thin else key_fields(schema)), SEQUENCE_NUMBER, VALUE_KIND)
    value_modes = _modes(schema, options, mode, format_name.lower())
    if thin:
        value_modes = tuple(
            KEY_MODE if name in keys else value_mode
            for name, value_mode in zip(names, value_modes, strict=True)
        )
    first = len(system)
    return FileLayout(
        format=format_name.lower(),
        compression=compression,
        zstd_level=options.value(opt.FILE_COMPRESSION_ZSTD_LEVEL),
        options=options,
        prefix=prefix,
        suffix_compression=options.value(opt.FILE_SUFFIX_INCLUDE_COMPRESSION),
        schema_id=schema.id,
        fields=(*system, *schema.fields),
        key_columns=tuple(
            first + names.index(key) if thin else position for position, key in enumerate(keys)
        ),
        value_columns=tuple(range(first, first + len(names))),
        value_modes=value_modes,
        dense_stats=options.value(opt.METADATA_STATS_DENSE_STORE),
        sequence_column=first - 2,
        kind_column=first - 1,
        level=level,
        source=source,
        target_bytes=target_file_bytes(options, has_primary_key=True),
        target_rows=options.value(opt.TARGET_FILE_ROW_NUM),
        shredded_maps=_shredded_maps(schema, options),
        shredded_variants=_shredded_variants(schema, options),
        managed_blobs=tuple(first + schema.fields.index(f) for f in blob_fields(schema, options)),
    )


def key_fields(schema: TableSchema) -> tuple[DataField, ...]:
    """Return the key columns of data files: `_KEY_<name>` for the trimmed primary key."""
    return tuple(
        DataField(
            id=column.id + KEY_FIELD_OFFSET, name=f"{KEY_PREFIX}{column.name}", type=column.type
        )
        for column in schema.project(schema.trimmed_primary_keys)
    )


def _modes(
    schema: TableSchema, options: TableOptions, default: str, file_format: str
) -> tuple[StatsMode, ...]:
    names = [column.name for column in schema.fields]
    if file_format in WITHOUT_STATS:
        return (NONE,) * len(names)
    return column_modes(
        names,
        parse_mode(default),
        explicit=_explicit_modes(names, options),
        keep_first=options.value(opt.METADATA_STATS_KEEP_FIRST_N_COLUMNS),
    )


def _shredded_maps(schema: TableSchema, options: TableOptions) -> Mapping[str, int]:
    """Return the maximum number of physical columns of each map that is shredded.

    Raises:
        UnsupportedFeatureError: the table uses an unknown storage layout of maps.
    """
    names: set[str] = set()
    for columns, layout in MAP_STORAGE_LAYOUT.columns_in(options):
        if layout.lower() not in MAP_STORAGE_LAYOUTS:
            key = f"fields.{','.join(columns)}.{MAP_STORAGE_LAYOUT.option.key}"
            known = ", ".join(MAP_STORAGE_LAYOUTS)
            raise UnsupportedFeatureError(
                f"option {key!r} = {layout!r}", hint=f"Use one of the layouts {known}."
            )
        if layout.lower() != MAP_STORAGE_LAYOUTS[0]:
            names.update(columns)
    return {
        column.name: MAP_MAX_COLUMNS.value_for(column.name, options)
        for column in schema.fields
        if column.name in names
        and isinstance(column.type, MapType)
        and is_root(column.type.key, TypeRoot.VARCHAR)
    }


def _shredded_variants(schema: TableSchema, options: TableOptions) -> Mapping[str, DataType]:
    """Return the type by which each VARIANT column is shredded.

    Raises:
        InvalidInputError: the option has no ROW type of columns.
        UnsupportedFeatureError: variants cannot be shredded by a type.
    """
    text = options.value(opt.VARIANT_SHREDDING_SCHEMA)
    if not text:
        return {}
    key = opt.VARIANT_SHREDDING_SCHEMA.key
    try:
        row_type = parse_type(json.loads(text), key)
    except (ValueError, CorruptFileError) as error:
        raise InvalidInputError(
            f"Option {key!r} must be a type as JSON: {error}",
            hint='Write it as in a schema file, such as {"type": "ROW", "fields": []}.',
        ) from error
    if not isinstance(row_type, RowType):
        raise InvalidInputError(
            f"Option {key!r} must have a ROW type with a field for each VARIANT column."
        )
    found: dict[str, DataType] = {}
    for column in schema.fields:
        field = row_type.field(column.name)
        if field is not None and is_root(column.type, TypeRoot.VARIANT):
            check_shredded_type(field.type, column.name)
            found[column.name] = field.type
    return found


def _explicit_modes(names: list[str], options: TableOptions) -> Mapping[str, StatsMode]:
    texts = {name: STATS_MODE.value_for(name, options) for name in names}
    return {name: parse_mode(text) for name, text in texts.items() if text is not None}


def _text(options: TableOptions, option: Option[str | None] | Option[str]) -> str:
    """Return the value of an option that always has one."""
    return options.value(option) or ""
