"""Validation of options for merge engines, changelogs and expiration.

Each rule yields one sentence per violation. Spec: primary-key-table pages, maintenance pages.
"""

from collections import Counter
from collections.abc import Iterator

from paimon_explore.data_types.definitions import TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import choices
from paimon_explore.metadata.options.column_options import (
    AGGREGATE_FUNCTION,
    IGNORE_RETRACT,
    SEQUENCE_GROUP,
)
from paimon_explore.metadata.options.effective_options import (
    changelog_num_retained_max,
    changelog_num_retained_min,
)
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine
from paimon_explore.metadata.options.table_options import (
    AGGREGATION_REMOVE_RECORD_ON_DELETE,
    CHANGELOG_NUM_RETAINED_MAX,
    CHANGELOG_NUM_RETAINED_MIN,
    CHANGELOG_PRODUCER,
    DEFAULT_AGGREGATE_FUNCTION,
    DELETION_VECTORS_ENABLED,
    FULL_COMPACTION_DELTA_COMMITS,
    IGNORE_DELETE,
    MERGE_ENGINE,
    PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE,
    PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP,
    PK_CLUSTERING_OVERRIDE,
    RECORD_LEVEL_TIME_FIELD,
    ROWKIND_FIELD,
    SEQUENCE_FIELD,
    SEQUENCE_SNAPSHOT_ORDERING,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    STREAMING_READ_OVERWRITE,
    TABLE_READ_SEQUENCE_NUMBER_ENABLED,
    TARGET_FILE_ROW_NUM,
    WRITE_ONLY,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

AGGREGATE_FUNCTIONS = (
    *("sum", "product", "count", "max", "min", "first_value", "last_value", "listagg"),
    *("first_non_null_value", "first_not_null_value", "last_non_null_value", "bool_and", "bool_or"),
    *("collect", "merge_map", "merge_map_with_keytime", "nested_update", "nested_partial_update"),
    *("hll_sketch", "theta_sketch", "rbm32", "rbm64", "primary-key"),
)
"""Names of the aggregate functions of all releases."""

_DELETION_VECTOR_PRODUCERS = (
    ChangelogProducer.NONE,
    ChangelogProducer.INPUT,
    ChangelogProducer.LOOKUP,
)


def changelog_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check the changelog producer against the primary key, the merge engine and other options."""
    producer = options.value(CHANGELOG_PRODUCER)
    engine = options.value(MERGE_ENGINE)
    rewrites = producer in {ChangelogProducer.FULL_COMPACTION, ChangelogProducer.LOOKUP}
    if producer is not ChangelogProducer.NONE and not schema.primary_keys:
        yield "'changelog-producer' needs a primary key"
    if rewrites and options.value(STREAMING_READ_OVERWRITE):
        yield (
            "'streaming-read-overwrite' cannot be combined with "
            f"'changelog-producer' = {producer.value!r}: streams would read changes twice"
        )
    has_delta_commits = options.value(FULL_COMPACTION_DELTA_COMMITS) is not None
    if has_delta_commits and producer is ChangelogProducer.LOOKUP:
        yield (
            "'full-compaction.delta-commits' cannot be combined with 'changelog-producer' = "
            "'lookup'"
        )
    if engine is MergeEngine.FIRST_ROW and producer in {
        ChangelogProducer.INPUT,
        ChangelogProducer.FULL_COMPACTION,
    }:
        yield "'merge-engine' = 'first-row' needs 'changelog-producer' = 'none' or 'lookup'"
    if options.value(STREAMING_READ_OVERWRITE) and not schema.primary_keys:
        yield (
            "'streaming-read-overwrite' needs a primary key; "
            "use 'streaming-read-append-overwrite' for append tables"
        )


def deletion_vector_violations(_: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check deletion vectors against the changelog producer and the merge engine."""
    if not options.value(DELETION_VECTORS_ENABLED):
        return
    if options.value(CHANGELOG_PRODUCER) not in _DELETION_VECTOR_PRODUCERS:
        known = choices(producer.value for producer in _DELETION_VECTOR_PRODUCERS)
        yield f"'deletion-vectors.enabled' needs a 'changelog-producer' of {known}"
    is_first_row = options.value(MERGE_ENGINE) is MergeEngine.FIRST_ROW
    if is_first_row and not options.value(PK_CLUSTERING_OVERRIDE):
        yield "'merge-engine' = 'first-row' cannot be combined with deletion vectors"


def sequence_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that sequence fields are columns, and their combination with other options."""
    names = options.value(SEQUENCE_FIELD)
    for name, count in Counter(names).items():
        if schema.field(name) is None:
            known = choices(field.name for field in schema.fields)
            yield f"sequence field {name!r} does not exist; columns: {known}"
        if AGGREGATE_FUNCTION.value_for(name, options) is not None:
            yield f"sequence field {name!r} cannot have an aggregate function"
        if count > 1:
            yield f"sequence field {name!r} is named twice"
    if names and options.value(MERGE_ENGINE) is MergeEngine.FIRST_ROW:
        yield "'merge-engine' = 'first-row' cannot be combined with 'sequence.field'"
    if names and schema.is_cross_partition:
        yield "'sequence.field' needs a primary key that contains all partition columns"
    if options.value(SEQUENCE_SNAPSHOT_ORDERING):
        yield from _snapshot_ordering_violations(schema, options)
    if options.value(TABLE_READ_SEQUENCE_NUMBER_ENABLED) and not schema.primary_keys:
        yield f"{TABLE_READ_SEQUENCE_NUMBER_ENABLED.key!r} needs a primary key"


def _snapshot_ordering_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    key = SEQUENCE_SNAPSHOT_ORDERING.key
    if not schema.primary_keys:
        yield f"{key!r} needs a primary key"
    if options.value(SEQUENCE_FIELD):
        yield f"{key!r} cannot be combined with 'sequence.field'"
    if not options.value(WRITE_ONLY):
        yield f"{key!r} needs 'write-only' = 'true'"


def column_setting_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that options `fields.<columns>.<setting>` have existing columns and functions."""
    known = {field.name for field in schema.fields}
    for key in options:
        _, dot, rest = key.partition("fields.")
        if not key.startswith("fields.") or not dot or key == DEFAULT_AGGREGATE_FUNCTION.key:
            continue
        for name in rest.split(".")[0].split(","):
            if name not in known:
                yield (
                    f"option {key!r} refers to {name!r}, which is not a column; columns: "
                    f"{choices(sorted(known))}"
                )
    functions = [text for _, text in AGGREGATE_FUNCTION.columns_in(options)]
    default = options.value(DEFAULT_AGGREGATE_FUNCTION)
    for name in (*functions, *(() if default is None else (default,))):
        if name not in AGGREGATE_FUNCTIONS:
            known_functions = choices(AGGREGATE_FUNCTIONS, limit=30)
            yield f"the aggregate function {name!r} does not exist; functions: {known_functions}"


def partial_update_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that sequence groups are disjoint and that options for -D rows do not conflict."""
    if not schema.primary_keys or options.value(MERGE_ENGINE) is not MergeEngine.PARTIAL_UPDATE:
        return
    groups = list(SEQUENCE_GROUP.columns_in(options))
    yield from _group_violations(schema, groups)
    removes = options.value(PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)
    group_removes = options.value(PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP)
    ignores = options.value(IGNORE_DELETE)
    if removes and ignores:
        yield (
            "'ignore-delete' cannot be combined with "
            f"{PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE.key!r}"
        )
    if group_removes and ignores:
        key = PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP.key
        yield f"'ignore-delete' cannot be combined with {key!r}"
    if removes and groups:
        yield (
            "sequence groups cannot be combined with "
            f"{PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE.key!r}"
        )
    ordering = {name for names, _ in groups for name in names}
    grouped = ordering | {name.strip() for _, text in groups for name in text.split(",")}
    default = options.value(DEFAULT_AGGREGATE_FUNCTION)
    for name in schema.row_type.names:
        function = AGGREGATE_FUNCTION.value_for(name, options) or default
        is_value = name not in grouped and name not in schema.primary_keys
        if is_value and function not in {None, "last_non_null_value"}:
            yield f"aggregate function {function!r} of column {name!r} needs a sequence group"
    for name in group_removes:
        if name not in ordering:
            key = PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP.key
            yield f"{key!r} refers to {name!r}, which is not a sequence field of a sequence group"


def aggregation_violations(_: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that `aggregation.remove-record-on-delete` has no column with `ignore-retract`."""
    if options.value(MERGE_ENGINE) is not MergeEngine.AGGREGATION:
        return
    if not options.value(AGGREGATION_REMOVE_RECORD_ON_DELETE):
        return
    for names, ignores in IGNORE_RETRACT.columns_in(options):
        if ignores:
            key = AGGREGATION_REMOVE_RECORD_ON_DELETE.key
            yield f"{key!r} cannot be combined with 'fields.{','.join(names)}.ignore-retract'"


def _group_violations(
    schema: TableSchema, groups: list[tuple[tuple[str, ...], str]]
) -> Iterator[str]:
    seen: set[str] = set()
    for ordering, text in groups:
        for name in seen.intersection(ordering):
            yield f"column {name!r} belongs to two sequence groups"
        protected = tuple(name.strip() for name in text.split(","))
        for name in protected:
            if schema.field(name) is None:
                yield (
                    f"the sequence group of {', '.join(ordering)} refers to {name!r}, "
                    "which is not a column"
                )
            if name in seen:
                yield f"column {name!r} belongs to two sequence groups"
            seen.add(name)
        for name in (*ordering, *protected):
            if name in schema.primary_keys:
                yield f"primary key column {name!r} cannot belong to a sequence group"


def retention_violations(_: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that the numbers of retained snapshots and changelogs are positive and min <= max."""
    snapshots = (options.value(SNAPSHOT_NUM_RETAINED_MIN), options.value(SNAPSHOT_NUM_RETAINED_MAX))
    changelogs = (changelog_num_retained_min(options), changelog_num_retained_max(options))
    for min_option, max_option, (minimum, maximum) in (
        (SNAPSHOT_NUM_RETAINED_MIN.key, SNAPSHOT_NUM_RETAINED_MAX.key, snapshots),
        (CHANGELOG_NUM_RETAINED_MIN.key, CHANGELOG_NUM_RETAINED_MAX.key, changelogs),
    ):
        if minimum < 1:
            yield f"{min_option!r} must be at least 1, not {minimum}"
        if minimum > maximum:
            yield f"{min_option!r} = {minimum} must not be greater than {max_option!r} = {maximum}"
    if options.value(TARGET_FILE_ROW_NUM) < 1:
        yield f"{TARGET_FILE_ROW_NUM.key!r} must be at least 1"


def named_column_violations(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    """Check that the row kind column and the record-level time column exist with a valid type."""
    kind_name = options.value(ROWKIND_FIELD)
    if kind_name is not None:
        field = schema.field(kind_name)
        if field is None:
            yield f"'rowkind.field' refers to {kind_name!r}, which is not a column"
        elif not is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR):
            yield f"'rowkind.field' needs a STRING column, not {type_text(field.type)}"
    time_name = options.value(RECORD_LEVEL_TIME_FIELD)
    if time_name is not None:
        field = schema.field(time_name)
        if field is None:
            yield f"{RECORD_LEVEL_TIME_FIELD.key!r} refers to {time_name!r}, which is not a column"
        elif not is_root(field.type, *_TIME_ROOTS):
            yield (
                f"{RECORD_LEVEL_TIME_FIELD.key!r} needs an INT, BIGINT or TIMESTAMP column, "
                f"not {type_text(field.type)}"
            )


_TIME_ROOTS = (TypeRoot.INT, TypeRoot.BIGINT, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
