"""Checks of whether a table supports a row-level operation.

| merge engine | update | delete |
| --- | --- | --- |
| deduplicate | yes | yes |
| partial-update | of columns without aggregate function | with an option that removes records |
| aggregation | no: it combines values | with `aggregation.remove-record-on-delete` |
| first-row | no: it keeps the first row of a key | no |

The rules are those of Java's UPDATE and DELETE in Flink and Spark.
"""

from collections.abc import Collection

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

_COMBINED = "Call upsert() with values to combine with the stored ones, such as amounts to add."
_AGGREGATE = ".aggregate-function"


def check_update(schema: TableSchema, options: TableOptions, columns: Collection[str]) -> None:
    """Check that a table supports an update of some columns.

    Args:
        schema: schema of the table.
        options: effective options.
        columns: the updated columns.

    Raises:
        InvalidInputError: a column belongs to the primary key, or the merge engine does not
            support updates.
        UnsupportedFeatureError: the update is not implemented.
    """
    if not schema.primary_keys:
        _check_append_update(schema, options, columns)
        return
    fixed = [name for name in schema.primary_keys if name in columns]
    if fixed:
        raise InvalidInputError(
            f"Column {fixed[0]!r} belongs to the primary key, which identifies a row and cannot be "
            "updated.",
            hint="Delete the rows, then write them with their new keys.",
        )
    engine = options.value(opt.MERGE_ENGINE)
    if engine in {MergeEngine.AGGREGATION, MergeEngine.FIRST_ROW}:
        reason = (
            "combines old and new values"
            if engine is MergeEngine.AGGREGATION
            else "keeps the first row of a key"
        )
        raise InvalidInputError(
            f"A table with 'merge-engine' = '{engine.value}' cannot be updated, because it "
            f"{reason}.",
            hint=_COMBINED if engine is MergeEngine.AGGREGATION else "",
        )
    if engine is MergeEngine.PARTIAL_UPDATE and any(k.endswith(_AGGREGATE) for k in options):
        raise UnsupportedFeatureError(
            "updating a table with 'merge-engine' = 'partial-update' and aggregate functions",
            hint=_COMBINED,
        )


def _check_append_update(
    schema: TableSchema, options: TableOptions, columns: Collection[str]
) -> None:
    if not options.value(opt.DATA_EVOLUTION_ENABLED):
        return
    moved = [name for name in schema.partition_keys if name in columns]
    if moved:
        raise InvalidInputError(
            f"Column {moved[0]!r} is a partition column, and the rows of a table with "
            f"{opt.DATA_EVOLUTION_ENABLED.key!r} = 'true' cannot move to another partition.",
            hint="Append the rows to the other partition instead.",
        )


def check_delete(schema: TableSchema, options: TableOptions) -> None:
    """Check that a table supports deletes.

    Raises:
        InvalidInputError: the merge engine does not support deletes, or the table ignores them.
        UnsupportedFeatureError: the delete is not implemented.
    """
    if not schema.primary_keys:
        return
    if options.value(opt.IGNORE_DELETE):
        raise InvalidInputError(
            "The table ignores deletes ('ignore-delete' = 'true').",
            hint="Use overwrite() or drop_partitions() to remove rows.",
        )
    required = _delete_options(options)
    engine = options.value(opt.MERGE_ENGINE)
    if required is None:
        raise InvalidInputError(
            f"A table with 'merge-engine' = '{engine.value}' does not support deletes.",
            hint="Use overwrite() or drop_partitions() to remove rows.",
        )
    if required:
        raise InvalidInputError(
            f"A table with 'merge-engine' = '{engine.value}' does not support deletes by default.",
            hint=f"Create the table with {required[0]!r} = 'true'"
            + (f", or with {required[1]!r} and a sequence field" if required[1:] else "")
            + "; or use overwrite() or drop_partitions() to remove rows.",
        )


def _delete_options(options: TableOptions) -> tuple[str, ...] | None:
    """Return the options of which one must be set for deletes; None if none helps."""
    match options.value(opt.MERGE_ENGINE):
        case MergeEngine.DEDUPLICATE:
            return ()
        case MergeEngine.PARTIAL_UPDATE:
            on_delete = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE
            grouped = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
            is_set = options.value(on_delete) or bool(options.value(grouped))
            return () if is_set else (on_delete.key, grouped.key)
        case MergeEngine.AGGREGATION:
            option = opt.AGGREGATION_REMOVE_RECORD_ON_DELETE
            return () if options.value(option) else (option.key,)
        case MergeEngine.FIRST_ROW:
            return None
