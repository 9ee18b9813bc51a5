"""Which tables take which row-level operations.

| merge engine | update | delete |
| --- | --- | --- |
| deduplicate | yes | yes |
| partial-update | of columns without aggregate function | with an option that removes records |
| aggregation | no: it would combine values | with `aggregation.remove-record-on-delete` |
| first-row | no: the first row of a key stays | no |

The rules are those of Java's UPDATE and DELETE in Flink and Spark.
"""

from collections.abc import Collection

from paimon_explore.data_types.definitions import TypeRoot
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

_AGGREGATE = ".aggregate-function"


def check_update(schema: TableSchema, options: TableOptions, columns: Collection[str]) -> None:
    """Refuse an update that the table does not take.

    Args:
        schema: of the table.
        options: in force.
        columns: that get new values.

    Raises:
        InvalidInputError: a key column, or a merge engine that does not take it.
        UnsupportedFeatureError: it is not done here.
    """
    is_beside = options.value(opt.DATA_EVOLUTION_ENABLED)  # other columns' files stay
    _refuse_blobs(schema, "update", columns if is_beside else schema.row_type.names)
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
            f"A table with 'merge-engine' = '{engine.value}' cannot be updated: it {reason}.",
            hint="Use upsert() with the rows to combine."
            if engine is MergeEngine.AGGREGATION
            else "",
        )
    if engine is MergeEngine.PARTIAL_UPDATE and any(k.endswith(_AGGREGATE) for k in options):
        raise UnsupportedFeatureError(
            "update of a table with 'merge-engine' = 'partial-update' and aggregate functions",
            hint="Use upsert() with the rows to combine.",
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
    """Refuse a delete that the table does not take.

    Raises:
        InvalidInputError: its merge engine does not take deletes, or it ignores them.
        UnsupportedFeatureError: it is not done here.
    """
    _refuse_blobs(schema, "delete", schema.row_type.names)
    if not schema.primary_keys:
        if options.value(opt.DATA_EVOLUTION_ENABLED):
            raise UnsupportedFeatureError(
                f"delete on a table with {opt.DATA_EVOLUTION_ENABLED.key!r} = 'true'",
                hint="Rows whose columns are in several files cannot be deleted one by one; "
                "overwrite or drop a partition.",
            )
        return
    if options.value(opt.IGNORE_DELETE):
        raise InvalidInputError(
            "The table ignores deletes ('ignore-delete' = 'true').",
            hint="overwrite() or drop_partitions() remove rows.",
        )
    wanted = _delete_options(options)
    engine = options.value(opt.MERGE_ENGINE)
    if wanted is None:
        raise InvalidInputError(
            f"A table with 'merge-engine' = '{engine.value}' does not support delete.",
            hint="overwrite() or drop_partitions() remove rows.",
        )
    if wanted:
        raise InvalidInputError(
            f"A table with 'merge-engine' = '{engine.value}' does not support delete by default.",
            hint=f"Set {choices(wanted)}.",
        )


def check_insert(schema: TableSchema) -> None:
    """Refuse rows to be inserted that cannot be written here.

    Raises:
        UnsupportedFeatureError: the table has BLOB columns.
    """
    _refuse_blobs(schema, "merge", schema.row_type.names)


def _delete_options(options: TableOptions) -> tuple[str, ...] | None:
    """Options of which one has to be set first; None if none helps, empty if all is well."""
    match options.value(opt.MERGE_ENGINE):
        case MergeEngine.DEDUPLICATE:
            return ()
        case MergeEngine.PARTIAL_UPDATE:
            whole = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE
            grouped = opt.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
            is_set = options.value(whole) or bool(options.value(grouped))
            return () if is_set else (whole.key, grouped.key)
        case MergeEngine.AGGREGATION:
            option = opt.AGGREGATION_REMOVE_RECORD_ON_DELETE
            return () if options.value(option) else (option.key,)
        case MergeEngine.FIRST_ROW:
            return None


def _refuse_blobs(schema: TableSchema, act: str, columns: Collection[str]) -> None:
    for column in schema.fields:
        kinds = parts(column.type)
        if column.name in columns and any(is_root(kind, TypeRoot.BLOB) for kind in kinds):
            raise UnsupportedFeatureError(f"{act} of rows with the BLOB column {column.name!r}")
