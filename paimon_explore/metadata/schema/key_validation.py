"""Validation of columns, primary keys, partition keys and buckets of a schema.

Each rule yields one sentence per violation. Spec: concepts/spec/schema, SQL DDL pages.
"""

from collections import Counter
from collections.abc import Iterator

from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import choices
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    BUCKET_KEY,
    DYNAMIC_BUCKET,
    FULL_COMPACTION_DELTA_COMMITS,
    POSTPONE_BUCKET,
    PRIMARY_KEY_NULLABLE,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

SYSTEM_COLUMNS = ("_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID")
KEY_COLUMN_PREFIX = "_KEY_"

_ONE_BUCKET_VERSION = 1


def column_violations(schema: TableSchema, _: TableOptions) -> Iterator[str]:
    """Check that column names are not blank, unique and not reserved."""
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


def key_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that primary key and partition columns exist, are unique and have a comparable type."""
    for what, keys in (
        ("primary key", schema.primary_keys),
        ("partition", schema.partition_keys),
    ):
        yield from _listed_columns(schema, what, keys)
        for name in keys:
            field = schema.field(name)
            if field is not None and not is_key_type(field.type):
                yield f"{what} column {name!r} cannot be of type {type_text(field.type)}"
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
