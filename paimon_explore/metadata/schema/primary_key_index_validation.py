"""Rules of primary-key indexes (`pk-….index.columns`), as in Java 2.0.0."""

import json
from collections import Counter
from collections.abc import Iterator

from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot, VectorType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.global_index.index_keys import is_indexable
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
    DELETION_VECTORS_ENABLED,
    DELETION_VECTORS_MERGE_ON_READ,
    MERGE_ENGINE,
    PK_BITMAP_INDEX_COLUMNS,
    PK_BTREE_INDEX_COLUMNS,
    PK_CLUSTERING_OVERRIDE,
    PK_FULL_TEXT_INDEX_COLUMNS,
    PK_VECTOR_INDEX_COLUMNS,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

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
