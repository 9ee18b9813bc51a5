"""Validation of columns, primary keys, partition keys and buckets of a schema.

Each rule yields one sentence per violation. Spec: concepts/spec/schema, SQL DDL pages.

Rules of primary-key indexes (`pk-….index.columns`), as in Java 2.0.0.
"""

import json
from collections import Counter
from collections.abc import Iterator

from paimon_explore.data_types.definitions import (
    VECTOR_ELEMENTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.encoding.global_index.index_keys import is_indexable
from paimon_explore.errors import choices
from paimon_explore.metadata.options.column_options import (
    PK_BITMAP_INDEX_OPTIONS,
    PK_BTREE_INDEX_OPTIONS,
    PK_VECTOR_DISTANCE_METRIC,
    PK_VECTOR_INDEX_TYPE,
    ColumnOption,
)
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    BUCKET_KEY,
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_ENABLED,
    DELETION_VECTORS_MERGE_ON_READ,
    DYNAMIC_BUCKET,
    FULL_COMPACTION_DELTA_COMMITS,
    MANIFEST_SORT_ENABLED,
    MANIFEST_SORT_PARTITION_FIELD,
    MERGE_ENGINE,
    PK_BITMAP_INDEX_COLUMNS,
    PK_BTREE_INDEX_COLUMNS,
    PK_CLUSTERING_OVERRIDE,
    PK_FULL_TEXT_INDEX_COLUMNS,
    PK_VECTOR_INDEX_COLUMNS,
    POSTPONE_BUCKET,
    PRIMARY_KEY_NULLABLE,
    UPSERT_KEY,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

SYSTEM_COLUMNS = ("_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID")
KEY_COLUMN_PREFIX = "_KEY_"
_ROW_KIND = "_ROW_KIND"
"""The column of row kinds in written rows; Java has no such column and accepts the name."""

_ONE_BUCKET_VERSION = 1


def column_violations(schema: TableSchema, _: TableOptions) -> Iterator[str]:
    """Check that column names are not blank, unique and not reserved, and elements of vectors."""
    names = [field.name for field in schema.fields]
    if not names:
        yield "a table needs at least one column"
    for name in _repeated(names):
        yield f"column {name!r} is defined twice"
    for name in names:
        if not name.strip():
            yield "the name of a column must not be blank"
        elif name in SYSTEM_COLUMNS or name.startswith(KEY_COLUMN_PREFIX):
            yield (
                f"column {name!r} has a name that is reserved in data files; reserved names: "
                f"{choices(SYSTEM_COLUMNS)} and names that start with {KEY_COLUMN_PREFIX!r}"
            )
        elif name == _ROW_KIND and schema.primary_keys:
            yield (
                f"column {name!r} of a table with a primary key cannot be written, because "
                "upsert takes the row kinds from a column of this name"
            )
    for field in schema.fields:
        for part in parts(field.type):
            if isinstance(part, VectorType) and not is_root(part.element, *VECTOR_ELEMENTS):
                yield (
                    f"column {field.name!r} contains {type_text(part)}, but elements of vectors "
                    "are BOOLEAN or numbers other than DECIMAL: use ARRAY"
                )


def key_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that columns of keys and partitions exist, are unique and have a comparable type."""
    upsert_key = options.value(UPSERT_KEY)
    for what, keys in (
        ("primary key", schema.primary_keys),
        ("partition", schema.partition_keys),
        ("upsert key", upsert_key),
    ):
        yield from _listed_columns(schema, what, keys)
        for name in keys:
            field = schema.field(name)
            if field is not None and not is_key_type(field.type):
                yield f"{what} column {name!r} cannot be of type {type_text(field.type)}"
    if schema.primary_keys and upsert_key:
        yield f"{UPSERT_KEY.key!r} is for tables without a primary key"
    if schema.primary_keys and not schema.trimmed_primary_keys:
        yield (
            f"the primary key {choices(schema.primary_keys)} consists of partition columns only, "
            "which leaves one row per partition"
        )
    yield from _nullability_violations(schema, options)


def _nullability_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    is_nullable = options.value(PRIMARY_KEY_NULLABLE)
    if is_nullable and not schema.primary_keys:
        yield f"option {PRIMARY_KEY_NULLABLE.key!r} needs a primary key"
    for name in schema.primary_keys:
        field = schema.field(name)
        if field is not None and field.type.nullable and not is_nullable:
            yield f"primary key column {name!r} must be NOT NULL"


def bucket_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check the bucket number for the kind of table, and the bucket key columns."""
    count = options.value(BUCKET)
    given = options.value(BUCKET_KEY)
    yield from _listed_columns(schema, "bucket key", given)
    if count == DYNAMIC_BUCKET:
        if given:
            yield "'bucket-key' needs 'bucket' = 1 or more, not -1"
        if not schema.primary_keys and options.value(FULL_COMPACTION_DELTA_COMMITS) is not None:
            yield f"{FULL_COMPACTION_DELTA_COMMITS.key!r} needs a primary key or buckets"
    elif count == POSTPONE_BUCKET and schema.primary_keys:
        pass
    elif count < 1:
        yield f"'bucket' must be 1 or more, -1, or -2 (with a primary key), not {count}"
    elif not schema.bucket_keys and not (count == 1 and schema.version == _ONE_BUCKET_VERSION):
        yield "an append table with buckets needs the option 'bucket-key'"
    yield from _bucket_key_violations(schema, given)


def manifest_sort_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that there are partition columns to sort manifest entries by, as Java does."""
    if not options.value(MANIFEST_SORT_ENABLED):
        return
    column = options.value(MANIFEST_SORT_PARTITION_FIELD)
    if not schema.partition_keys and not options.value(DATA_EVOLUTION_ENABLED):
        yield f"{MANIFEST_SORT_ENABLED.key!r} needs partition columns or data evolution"
    if column and column not in schema.partition_keys:
        yield f"{MANIFEST_SORT_PARTITION_FIELD.key!r} = {column!r} is not a partition column"


def _bucket_key_violations(schema: TableSchema, given: tuple[str, ...]) -> Iterator[str]:
    for name in given:
        if name in schema.partition_keys:
            yield f"bucket key column {name!r} is a partition column"
        elif schema.primary_keys and name not in schema.primary_keys:
            yield f"bucket key column {name!r} is not part of the primary key"
    for name in schema.bucket_keys:
        field = schema.field(name)
        if field is not None and not _is_bucket_key_type(field.type):
            yield f"bucket key column {name!r} cannot be of type {type_text(field.type)}"


def is_key_type(data_type: DataType) -> bool:
    """Return whether primary key and partition columns can have the type."""
    return isinstance(data_type, AtomicType) and not is_root(
        data_type, TypeRoot.VARIANT, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY, TypeRoot.BLOB
    )


def _is_bucket_key_type(data_type: DataType) -> bool:
    return not isinstance(data_type, ArrayType | MapType | MultisetType | RowType) and not is_root(
        data_type, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY, TypeRoot.BLOB
    )


def _listed_columns(schema: TableSchema, what: str, names: tuple[str, ...]) -> Iterator[str]:
    for name in _repeated(names):
        yield f"{what} column {name!r} is named twice"
    for name in names:
        if schema.field(name) is None:
            known = choices(field.name for field in schema.fields)
            yield f"{what} column {name!r} does not exist; columns: {known}"


def _repeated(names: list[str] | tuple[str, ...]) -> Iterator[str]:
    return (name for name, count in Counter(names).items() if count > 1)


_SORTED = (
    (PK_BTREE_INDEX_COLUMNS, PK_BTREE_INDEX_OPTIONS, "btree-index."),
    (PK_BITMAP_INDEX_COLUMNS, PK_BITMAP_INDEX_OPTIONS, "bitmap-index."),
)
_SINGLE = (PK_VECTOR_INDEX_COLUMNS, PK_FULL_TEXT_INDEX_COLUMNS)
_METRICS = ("l2", "cosine", "inner_product")


def primary_key_index_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check the indexed columns, and that the table supports the indexes."""
    indexes = [*(option for option, _, _ in _SORTED), *_SINGLE]
    used = [option for option in indexes if options.has(option)]
    for option in used:
        yield from _table_violations(schema, option, options)
        yield from _column_violations(schema, option, options)
    counts = Counter(name for option in used for name in set(options.value(option)))
    for name, count in counts.items():
        if count > 1:
            yield f"column {name!r} can have only one primary-key index"
    for option, settings, prefix in _SORTED:
        for name in options.value(option):
            yield from _setting_violations(name, settings, prefix, options)


def _table_violations(
    schema: TableSchema, option: Option[tuple[str, ...]], options: TableOptions
) -> Iterator[str]:
    key = option.key
    if not schema.primary_keys:
        yield f"{key!r} needs a primary key"
    has_vectors = options.value(DELETION_VECTORS_ENABLED)
    is_first_row = options.value(MERGE_ENGINE) is MergeEngine.FIRST_ROW
    if not has_vectors and not (is_first_row and option in _SINGLE):
        yield f"{key!r} needs {DELETION_VECTORS_ENABLED.key!r} = 'true'"
    if has_vectors and options.value(DELETION_VECTORS_MERGE_ON_READ):
        yield f"{key!r} needs {DELETION_VECTORS_MERGE_ON_READ.key!r} = 'false'"
    bucket = options.value(BUCKET)
    if bucket < 1 and bucket != POSTPONE_BUCKET:
        yield f"{key!r} needs a fixed number of buckets or {BUCKET.key!r} = -2, not {bucket}"
    if options.value(PK_CLUSTERING_OVERRIDE):
        yield f"{key!r} cannot be combined with {PK_CLUSTERING_OVERRIDE.key!r}"


def _column_violations(
    schema: TableSchema, option: Option[tuple[str, ...]], options: TableOptions
) -> Iterator[str]:
    key, names = option.key, options.value(option)
    if any(not name.strip() for name in options[key].split(",")):
        yield f"{key!r} must not have an empty column name"
    if option in _SINGLE and len(names) > 1:
        yield f"{key!r} must name one column, not {len(names)}"
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{key!r} names column {name!r} twice"
        field = schema.field(name)
        if field is None:
            yield f"{key!r} names {name!r}, which is not a column"
        elif not _is_of_type(option, field):
            yield f"{key!r} cannot index column {name!r} of type {type_text(field.type)}"
    if option is PK_VECTOR_INDEX_COLUMNS:
        for name in names:
            yield from _vector_violations(name, options)


def _is_of_type(option: Option[tuple[str, ...]], field: DataField) -> bool:
    if option is PK_VECTOR_INDEX_COLUMNS:
        return isinstance(field.type, VectorType) and is_root(field.type.element, TypeRoot.FLOAT)
    if option is PK_FULL_TEXT_INDEX_COLUMNS:
        return is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR)
    return isinstance(field.type, AtomicType) and is_indexable(field.type)


def _vector_violations(name: str, options: TableOptions) -> Iterator[str]:
    kind = PK_VECTOR_INDEX_TYPE.value_for(name, options)
    if not (kind or "").strip():
        yield f"'fields.{name}.{PK_VECTOR_INDEX_TYPE.option.key}' must be set"
    metric = PK_VECTOR_DISTANCE_METRIC.value_for(name, options)
    if metric not in _METRICS:
        known = ", ".join(_METRICS)
        key = f"fields.{name}.{PK_VECTOR_DISTANCE_METRIC.option.key}"
        yield f"{key!r} must be one of {known}, not {metric!r}"


def _setting_violations(
    name: str, settings: ColumnOption[str | None], prefix: str, options: TableOptions
) -> Iterator[str]:
    """Check the build options of an index, a JSON object of texts."""
    key = f"fields.{name}.{settings.option.key}"
    text = settings.value_for(name, options)
    if text is None or not text.strip():
        return
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        yield f"{key!r} must be a JSON object, not {text!r}"
        return
    for one, value in found.items():
        whole = one if one.startswith((prefix, "fields.")) else prefix + one
        if not one.strip():
            yield f"{key!r} has an option without a name"
        elif value is not None and options.get(whole, str(value)) != str(value):
            yield f"{key!r} and the option {whole!r} have different values"
