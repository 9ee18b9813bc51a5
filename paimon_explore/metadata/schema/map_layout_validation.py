"""Rules of MAP columns with the option `fields.<column>.map.storage-layout`, as in Java 2.0.0."""

from collections.abc import Iterator

from paimon_explore.data_types.definitions import (
    DataField,
    MapType,
    MultisetType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.metadata.options.column_options import (
    MAP_MAX_COLUMNS,
    MAP_PLACEMENT_POLICY,
    MAP_STORAGE_LAYOUT,
    MAP_STORAGE_LAYOUTS,
)
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    CHANGELOG_FILE_COMPRESSION,
    CHANGELOG_FILE_FORMAT,
    FILE_COMPRESSION,
    FILE_COMPRESSION_PER_LEVEL,
    FILE_FORMAT,
    FILE_FORMAT_PER_LEVEL,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_FORMATS = frozenset({"parquet", "orc"})
_CODECS = frozenset({"none", "lz4", "zstd"})


def map_layout_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check the columns with a shredding layout, and that the table supports it."""
    option = ""
    for columns, layout in MAP_STORAGE_LAYOUT.columns_in(options):
        for name in columns:
            key = f"fields.{name}.{MAP_STORAGE_LAYOUT.option.key}"
            if layout.lower() not in MAP_STORAGE_LAYOUTS:
                known = ", ".join(MAP_STORAGE_LAYOUTS)
                yield f"{key!r} must be one of {known}, not {layout!r}"
            elif layout.lower() != MAP_STORAGE_LAYOUTS[0]:
                option = key
                field = next((field for field in schema.fields if field.name == name), None)
                yield from _column_violations(field, name, key, options)
    if option:
        yield from _table_violations(schema, option, options)


def _column_violations(
    field: DataField | None, name: str, key: str, options: TableOptions
) -> Iterator[str]:
    kind = None if field is None else field.type
    if not isinstance(kind, MapType) or not is_root(kind.key, TypeRoot.VARCHAR):
        yield f"{key!r} needs a column of type MAP<STRING NOT NULL, ...>"
        return
    if kind.key.nullable:
        yield f"{key!r} needs a column of type MAP<STRING NOT NULL, ...>, not MAP<STRING, ...>"
    for part in parts(kind.value):
        if isinstance(part, VectorType) or is_root(part, TypeRoot.BLOB):
            unsupported = "VECTOR" if isinstance(part, VectorType) else "BLOB"
            yield f"{key!r} cannot be used for a map whose values contain {unsupported}"
    if MAP_MAX_COLUMNS.value_for(name, options) <= 0:
        yield f"'fields.{name}.{MAP_MAX_COLUMNS.option.key}' must be greater than 0"
    MAP_PLACEMENT_POLICY.value_for(name, options)  # raises an error for an unknown policy


def _table_violations(schema: TableSchema, key: str, options: TableOptions) -> Iterator[str]:
    formats = [options.value(FILE_FORMAT), *options.value(FILE_FORMAT_PER_LEVEL).values()]
    formats.append(options.value(CHANGELOG_FILE_FORMAT) or "parquet")
    others = {name.lower() for name in formats} - _FORMATS
    if others:
        yield f"{key!r} needs Parquet or ORC files, not {', '.join(sorted(others))}"
    codecs = [options.value(FILE_COMPRESSION), *options.value(FILE_COMPRESSION_PER_LEVEL).values()]
    codecs.append(options.value(CHANGELOG_FILE_COMPRESSION) or "zstd")
    unknown = {codec.lower() for codec in codecs if codec} - _CODECS
    if unknown:
        allowed = ", ".join(sorted(_CODECS))
        yield f"{key!r} needs one of the compressions {allowed}, not {', '.join(sorted(unknown))}"
    if options.value(BUCKET) == POSTPONE_BUCKET:
        yield f"{key!r} cannot be combined with 'bucket' = '{POSTPONE_BUCKET}'"
    for field in schema.fields:
        for part in parts(field.type):
            if isinstance(part, MultisetType) or is_root(part, TypeRoot.VARIANT):
                unsupported = "MULTISET" if isinstance(part, MultisetType) else "VARIANT"
                yield f"{key!r} cannot be combined with {unsupported} in column {field.name!r}"
