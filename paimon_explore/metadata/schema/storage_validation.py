"""Validation of file formats, blobs, row tracking and clustering of a schema.

Each rule yields one sentence per violation. Spec: concepts/spec/fileformat, append-table pages.

Rules of MAP columns with the option `fields.<column>.map.storage-layout`, as in Java 2.0.0.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from paimon_explore.data_types.definitions import (
    SPATIAL,
    AtomicType,
    DataField,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_blob_file_type, is_root, parts
from paimon_explore.errors import choices
from paimon_explore.metadata.options.column_options import (
    AGGREGATE_FUNCTION,
    IGNORE_RETRACT,
    MAP_MAX_COLUMNS,
    MAP_PLACEMENT_POLICY,
    MAP_STORAGE_LAYOUT,
    MAP_STORAGE_LAYOUTS,
    SEQUENCE_GROUP,
)
from paimon_explore.metadata.options.iceberg_options import (
    ICEBERG_FORMAT_VERSION,
    ICEBERG_STORAGE,
)
from paimon_explore.metadata.options.option_enums import (
    ChangelogProducer,
    IcebergStorage,
    MergeEngine,
    PartitionExpirationStrategy,
    TableKind,
)
from paimon_explore.metadata.options.table_options import (
    BLOB_DESCRIPTOR_FIELD,
    BLOB_FIELD,
    BLOB_VIEW_FIELD,
    BUCKET,
    BUCKET_APPEND_ORDERED,
    CHAIN_TABLE_CHAIN_PARTITION_KEYS,
    CHAIN_TABLE_ENABLED,
    CHANGELOG_FILE_COMPRESSION,
    CHANGELOG_FILE_FORMAT,
    CHANGELOG_PRODUCER,
    CLUSTERING_COLUMNS,
    CLUSTERING_INCREMENTAL,
    DATA_EVOLUTION_ENABLED,
    DATA_FILE_EXTERNAL_PATHS,
    DEFAULT_AGGREGATE_FUNCTION,
    DELETION_VECTORS_ENABLED,
    DYNAMIC_BUCKET,
    FILE_COMPRESSION,
    FILE_COMPRESSION_PER_LEVEL,
    FILE_FORMAT,
    FILE_FORMAT_PER_LEVEL,
    IGNORE_DELETE,
    MERGE_ENGINE,
    PARTITION_EXPIRATION_STRATEGY,
    PARTITION_EXPIRATION_TIME,
    PARTITION_TIMESTAMP_FORMATTER,
    PARTITION_TIMESTAMP_PATTERN,
    PK_CLUSTERING_OVERRIDE,
    POSTPONE_BUCKET,
    RECORD_LEVEL_EXPIRE_TIME,
    ROW_TRACKING_ENABLED,
    SEQUENCE_FIELD,
    TYPE,
    VECTOR_FIELD,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

_AVRO_TIMESTAMP_DIGITS = 6
_AVRO_TIME_DIGITS = 3
_ICEBERG_VERSION_OF_SPATIAL = 3
_MAX_CHAR = "\uffff"
_UNSUPPORTED_TYPES: Mapping[str, frozenset[str]] = {
    "avro": frozenset({"VARIANT"}),
    "orc": frozenset({"VARIANT", "VectorType"}),
    "json": frozenset({"VARIANT", "MultisetType"}),
    "csv": frozenset({"VARIANT", "ArrayType", "MapType", "MultisetType", "RowType", "VectorType"}),
    "lance": frozenset({TypeRoot.TIMESTAMP_LTZ.value, "MapType", "MultisetType"}),
    "vortex": frozenset({"MapType", "MultisetType"}),
    "mosaic": frozenset(
        {"VARIANT", "ArrayType", "MapType", "MultisetType", "RowType", "VectorType"}
    ),
}
"""File format -> types (by root or class) that it cannot store, as in Java."""


_FORMATS = frozenset(
    ("parquet", "orc", "avro", "csv", "json", "text", "row", "lance", "vortex", "mosaic")
)


def spatial_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that no rows are ordered by GEOMETRY and GEOGRAPHY, and that Iceberg has the types.

    In tables that are registered in an Iceberg REST catalog, Java refuses them.
    """
    storage, version = options.value(ICEBERG_STORAGE), options.value(ICEBERG_FORMAT_VERSION)
    for field in schema.fields:
        kinds = [kind for kind in parts(field.type) if isinstance(kind, AtomicType)]
        kinds = [kind for kind in kinds if kind.root in SPATIAL]
        if not kinds:
            continue
        column = f"column {field.name!r} of type {type_text(field.type)}"
        for option in (SEQUENCE_FIELD, CLUSTERING_COLUMNS):
            if field.name in options.value(option):
                yield f"{column} cannot be in {option.key!r}"
        if storage is IcebergStorage.DISABLED:
            continue
        if version < _ICEBERG_VERSION_OF_SPATIAL:
            yield f"{column} needs {ICEBERG_FORMAT_VERSION.key!r} = '3'"
        if storage is IcebergStorage.REST_CATALOG:
            yield f"{column} cannot be in a table with {ICEBERG_STORAGE.key!r} = {storage.value!r}"
        if any(kind.root is TypeRoot.GEOGRAPHY and "," in kind.parameters[0] for kind in kinds):
            yield f"{column} has a comma in its CRS, which Iceberg metadata cannot represent"


def format_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that all configured file formats are known and can store all columns."""
    formats = {options.value(FILE_FORMAT).lower()}
    formats.update(name.lower() for name in options.value(FILE_FORMAT_PER_LEVEL).values())
    changelog = options.value(CHANGELOG_FILE_FORMAT)
    all_formats = formats | ({changelog.lower()} if changelog else set())
    for name in sorted(all_formats - _FORMATS):
        yield f"the file format {name!r} does not exist; formats: {', '.join(sorted(_FORMATS))}"
    for field in schema.fields:
        kinds = list(parts(field.type))
        if "avro" in formats:
            yield from _avro_violations(field)
        if "avro" in all_formats:
            yield from _avro_name_violations(field)
        for name in sorted(formats & _UNSUPPORTED_TYPES.keys()):
            yield from _unsupported_type_violations(field, name)
        if all_formats != {"parquet"} and any(is_root(kind, *SPATIAL) for kind in kinds):
            yield (
                f"column {field.name!r} of type {type_text(field.type)} can only be stored in "
                "Parquet files"
            )


def _unsupported_type_violations(field: DataField, file_format: str) -> Iterator[str]:
    """Check that a format supports the types of a column."""
    for kind in parts(field.type):
        name = kind.root.value if isinstance(kind, AtomicType) else type(kind).__name__
        if name in _UNSUPPORTED_TYPES[file_format]:
            yield (
                f"{file_format} files cannot store {type_text(kind).partition('<')[0]} values of "
                f"column {field.name!r}"
            )


def _avro_violations(field: DataField) -> Iterator[str]:
    for kind in parts(field.type):
        if not isinstance(kind, AtomicType) or kind.precision is None:
            continue
        is_time = kind.root is TypeRoot.TIME and kind.precision > _AVRO_TIME_DIGITS
        is_timestamp = (
            kind.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
            and kind.precision > _AVRO_TIMESTAMP_DIGITS
        )
        if is_time or is_timestamp:
            yield (
                f"Avro files cannot store {type_text(kind)} values of column {field.name!r}: the "
                f"maximum precision is {_AVRO_TIME_DIGITS} for TIME and {_AVRO_TIMESTAMP_DIGITS} "
                "for timestamps"
            )


def _avro_name_violations(field: DataField) -> Iterator[str]:
    """Check that Avro allows the names of a column and of the fields inside it."""
    inner = [kind.names for kind in parts(field.type) if isinstance(kind, RowType)]
    for name in (field.name, *chain.from_iterable(inner)):
        if name.strip() and not _is_avro_name(name):  # blank columns are refused in any format
            yield (
                f"Avro files cannot store column {name!r}: a name in Avro consists of letters, "
                "digits and underscores, and does not start with a digit"
            )


def _is_avro_name(name: str) -> bool:
    """Return whether Java's Avro accepts a name; it knows letters of 16 bits only."""
    known = all(
        char == "_" or (char <= _MAX_CHAR and (char.isalpha() or char.isdecimal())) for char in name
    )
    return known and not name[:1].isdecimal()


def row_tracking_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that row tracking has an append table without buckets, data evolution row tracking."""
    is_tracked = options.value(ROW_TRACKING_ENABLED)
    if is_tracked and schema.primary_keys:
        yield f"{ROW_TRACKING_ENABLED.key!r} cannot be combined with a primary key"
    if is_tracked and options.value(BUCKET) != DYNAMIC_BUCKET:
        yield f"{ROW_TRACKING_ENABLED.key!r} needs 'bucket' = '-1'"
    if not options.value(DATA_EVOLUTION_ENABLED):
        return
    if not is_tracked:
        yield f"{DATA_EVOLUTION_ENABLED.key!r} needs {ROW_TRACKING_ENABLED.key!r} = 'true'"
    if options.value(CLUSTERING_INCREMENTAL):
        yield (
            f"{DATA_EVOLUTION_ENABLED.key!r} cannot be combined with {CLUSTERING_INCREMENTAL.key!r}"
        )


def blob_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that BLOB columns are top-level, array elements or map values, with other columns."""
    blobs = [field.name for field in schema.fields if is_blob_file_type(field.type)]
    for field in schema.fields:
        holds_blob = any(is_root(kind, TypeRoot.BLOB) for kind in parts(field.type))
        if holds_blob and field.name not in blobs:
            yield f"BLOB cannot be inside column {field.name!r} of type {type_text(field.type)}"
    if blobs and not schema.primary_keys and not options.value(DATA_EVOLUTION_ENABLED):
        yield (
            f"BLOB column {blobs[0]!r} needs {DATA_EVOLUTION_ENABLED.key!r} = 'true'; a column of "
            "BYTES (binary() in Arrow, not large_binary()) does not"
        )
    if blobs and len(blobs) == len(schema.fields):
        yield "a table with BLOB columns needs other columns as well"
    ordering = {name for names, _ in SEQUENCE_GROUP.columns_in(options) for name in names}
    for name in blobs:
        if name in ordering | set(options.value(SEQUENCE_FIELD)):
            yield f"BLOB column {name!r} cannot be a sequence field"
    yield from managed_blob_violations(schema, options)
    yield from _blob_option_violations(schema, options, blobs)


def managed_blobs(schema: TableSchema, options: TableOptions) -> tuple[str, ...]:
    """Return the BLOB columns of a primary-key table whose contents are in managed files."""
    inline = (*options.value(BLOB_DESCRIPTOR_FIELD), *options.value(BLOB_VIEW_FIELD))
    return tuple(
        field.name
        for field in (schema.fields if schema.primary_keys else ())
        if is_blob_file_type(field.type) and field.name not in inline
    )


def managed_blob_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check the options of a primary-key table whose BLOBs are in managed files."""
    names = managed_blobs(schema, options)
    if not names:
        return
    if options.value(MERGE_ENGINE) is MergeEngine.AGGREGATION:
        yield "a primary-key table with BLOB columns cannot have 'merge-engine' = 'aggregation'"
    if options.value(CHANGELOG_PRODUCER) is not ChangelogProducer.NONE:
        yield "a primary-key table with BLOB columns needs 'changelog-producer' = 'none'"
    for option in (DATA_FILE_EXTERNAL_PATHS, PK_CLUSTERING_OVERRIDE):
        if options.has(option):
            yield f"a primary-key table with BLOB columns cannot be combined with {option.key!r}"
    if options.value(MERGE_ENGINE) is not MergeEngine.PARTIAL_UPDATE:
        return
    for _, text in SEQUENCE_GROUP.columns_in(options):
        for name in {part.strip() for part in text.split(",")} & set(names):
            function = AGGREGATE_FUNCTION.value_for(name, options)
            function = function or options.value(DEFAULT_AGGREGATE_FUNCTION)
            ignores = options.value(IGNORE_DELETE) or IGNORE_RETRACT.value_for(name, options)
            if function not in {None, "last_value"} and not ignores:  # these rows have no BLOBs
                yield (
                    f"the aggregate function {function!r} of BLOB column {name!r} in a sequence "
                    f"group needs 'fields.{name}.ignore-retract' = 'true'"
                )


def _blob_option_violations(
    schema: TableSchema, options: TableOptions, blobs: list[str]
) -> Iterator[str]:
    for name in options.value(BLOB_FIELD):
        if name not in blobs:
            yield f"{BLOB_FIELD.key!r} refers to {name!r}, which is not a BLOB column"
    for option in (BLOB_DESCRIPTOR_FIELD, BLOB_VIEW_FIELD):
        for name in options.value(option):
            field = schema.field(name)
            if field is None or not is_root(field.type, TypeRoot.BLOB):
                yield f"{option.key!r} refers to {name!r}, which is not a BLOB column"
    for name in set(options.value(BLOB_DESCRIPTOR_FIELD)) & set(options.value(BLOB_VIEW_FIELD)):
        yield (
            f"BLOB column {name!r} must not be in both {BLOB_DESCRIPTOR_FIELD.key!r} and "
            f"{BLOB_VIEW_FIELD.key!r}"
        )


def vector_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that the columns of `vector-field` have type VECTOR."""
    for name in options.value(VECTOR_FIELD):
        field = schema.field(name)
        if field is None or not isinstance(field.type, VectorType):
            yield f"{VECTOR_FIELD.key!r} refers to {name!r}, which is not a VECTOR column"


def clustering_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check clustering options against the kind of table."""
    if options.value(CLUSTERING_INCREMENTAL):
        if schema.primary_keys:
            yield f"{CLUSTERING_INCREMENTAL.key!r} cannot be combined with a primary key"
        elif options.value(BUCKET) != DYNAMIC_BUCKET:
            if options.value(BUCKET_APPEND_ORDERED):
                key = BUCKET_APPEND_ORDERED.key
                yield f"{CLUSTERING_INCREMENTAL.key!r} needs {key!r} = 'false'"
            if options.value(DELETION_VECTORS_ENABLED):
                yield (
                    f"{CLUSTERING_INCREMENTAL.key!r} with buckets cannot be combined with "
                    "deletion vectors"
                )
    if options.value(PK_CLUSTERING_OVERRIDE):
        yield from _override_violations(options)


def _override_violations(options: TableOptions) -> Iterator[str]:
    key = PK_CLUSTERING_OVERRIDE.key
    engine = options.value(MERGE_ENGINE)
    if not options.value(CLUSTERING_COLUMNS):
        yield f"{key!r} needs {CLUSTERING_COLUMNS.key!r}"
    if not options.value(DELETION_VECTORS_ENABLED) and engine is not MergeEngine.FIRST_ROW:
        yield f"{key!r} needs {DELETION_VECTORS_ENABLED.key!r} = 'true'"
    if options.value(RECORD_LEVEL_EXPIRE_TIME) is not None:
        yield f"{key!r} cannot be combined with {RECORD_LEVEL_EXPIRE_TIME.key!r}"
    if engine not in {MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW}:
        yield f"{key!r} cannot be combined with 'merge-engine' = {engine.value!r}"
    if options.value(SEQUENCE_FIELD):
        yield f"{key!r} cannot be combined with 'sequence.field'"
    producer = options.value(CHANGELOG_PRODUCER)
    if producer not in {ChangelogProducer.NONE, ChangelogProducer.INPUT}:
        yield f"{key!r} cannot be combined with 'changelog-producer' = {producer.value!r}"


def chain_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check the requirements of a chain table: keys, partitions, buckets and partition times."""
    if not options.value(CHAIN_TABLE_ENABLED):
        return
    needs = {
        "'type' = 'table'": options.value(TYPE) is TableKind.TABLE,
        "a primary key": bool(schema.primary_keys),
        "partition columns": bool(schema.partition_keys),
        "a 'bucket' of 1 or more": options.value(BUCKET) >= 1,
        "'sequence.field'": bool(options.value(SEQUENCE_FIELD)),
        "'changelog-producer' = 'none' or 'input'": options.value(CHANGELOG_PRODUCER)
        in {ChangelogProducer.NONE, ChangelogProducer.INPUT},
        f"{PARTITION_TIMESTAMP_PATTERN.key!r}": options.has(PARTITION_TIMESTAMP_PATTERN),
        f"{PARTITION_TIMESTAMP_FORMATTER.key!r}": options.has(PARTITION_TIMESTAMP_FORMATTER),
        "'merge-engine' = 'deduplicate' for deletion vectors": not options.value(
            DELETION_VECTORS_ENABLED
        )
        or options.value(MERGE_ENGINE) is MergeEngine.DEDUPLICATE,
        f"{PARTITION_EXPIRATION_STRATEGY.key!r} = 'values-time'": options.value(
            PARTITION_EXPIRATION_TIME
        )
        is None
        or options.value(PARTITION_EXPIRATION_STRATEGY) is PartitionExpirationStrategy.VALUES_TIME,
    }
    for need, is_met in needs.items():
        if not is_met:
            yield f"{CHAIN_TABLE_ENABLED.key!r} needs {need}"
    keys = options.value(CHAIN_TABLE_CHAIN_PARTITION_KEYS)
    if keys and keys != schema.partition_keys[-len(keys) :]:
        yield (
            f"{CHAIN_TABLE_CHAIN_PARTITION_KEYS.key!r} must be the last partition columns, in "
            f"their order: {choices(schema.partition_keys)}"
        )


_MAP_FORMATS = frozenset({"parquet", "orc"})
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
    others = {name.lower() for name in formats} - _MAP_FORMATS
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
