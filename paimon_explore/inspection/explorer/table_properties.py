"""The main properties of a table as short labels."""

from collections.abc import Iterator

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    CHANGELOG_PRODUCER,
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_ENABLED,
    DYNAMIC_BUCKET,
    MERGE_ENGINE,
    POSTPONE_BUCKET,
    ROW_TRACKING_ENABLED,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema


def table_chips(schema: TableSchema | None) -> tuple[str, ...]:
    """Labels for keys, partitioning, buckets and non-default features; texts are not escaped."""
    if schema is None:
        return ("unreadable schema",)
    try:
        return tuple(_chips(schema, TableOptions(schema.options)))
    except InvalidInputError:
        return (*_keys(schema), "invalid options")


def _chips(schema: TableSchema, options: TableOptions) -> Iterator[str]:
    yield from _keys(schema)
    yield _buckets(options.value(BUCKET), keyed=bool(schema.primary_keys))
    if schema.primary_keys and options.value(MERGE_ENGINE) is not MergeEngine.DEDUPLICATE:
        yield f"merge engine {options.value(MERGE_ENGINE).value}"
    producer = options.value(CHANGELOG_PRODUCER)
    if producer is not ChangelogProducer.NONE:
        yield f"changelog producer {producer.value}"
    if options.value(DELETION_VECTORS_ENABLED):
        yield "deletion vectors"
    if options.value(DATA_EVOLUTION_ENABLED):
        yield "data evolution"
    elif options.value(ROW_TRACKING_ENABLED):
        yield "row tracking"


def _keys(schema: TableSchema) -> Iterator[str]:
    yield f"primary key {', '.join(schema.primary_keys)}" if schema.primary_keys else "append table"
    if schema.partition_keys:
        yield f"partitioned by {', '.join(schema.partition_keys)}"


def _buckets(bucket: int, *, keyed: bool) -> str:
    if bucket == POSTPONE_BUCKET:
        return "postponed buckets"
    if bucket == DYNAMIC_BUCKET:
        return "dynamic buckets" if keyed else "no buckets"
    return f"{bucket} bucket{'' if bucket == 1 else 's'}"
