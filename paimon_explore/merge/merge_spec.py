"""Merge specification of a table: engine, keys, sequence fields, functions, needed columns."""

from collections.abc import Iterable, Mapping, Sequence

from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import column_options, table_options
from paimon_explore.metadata.options.option_definition import parse_names
from paimon_explore.metadata.options.option_enums import (
    MergeEngine,
    NestedKeyNullStrategy,
    SortOrder,
)
from paimon_explore.metadata.schema.merge_option_validation import partial_update_violations
from paimon_explore.metadata.schema.table_schema import TableSchema

SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
"""Int64 column: the sequence number of a record, unique in its bucket."""
VALUE_KIND = "_VALUE_KIND"
"""Int8 column: the row kind of a record: 0 +I, 1 -U, 2 +U, 3 -D."""

LAST_NON_NULL_VALUE = "last_non_null_value"
_LAST_VALUE = "last_value"


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """The aggregate function of a column with its options, named as in Paimon.

    Attributes:
        name: as in `fields.<column>.aggregate-function`.
        ignore_retract: whether -U and -D records leave the column unchanged.
        distinct: of `collect` and `listagg`.
        list_agg_delimiter: of `listagg`.
        nested_key: of `nested_update` and `nested_partial_update`; empty if elements have no key.
        nested_key_null_strategy: of the same two.
        nested_sequence_field: of `nested_update`: the greatest wins, not the last.
        count_limit: of `nested_update`: maximum number of elements; further ones are dropped.
        ts_field: of `merge_map_with_keytime`; None for the last field of the value.
    """

    name: str
    ignore_retract: bool = False
    distinct: bool = False
    list_agg_delimiter: str = ","
    nested_key: tuple[str, ...] = ()
    nested_key_null_strategy: NestedKeyNullStrategy = NestedKeyNullStrategy.MERGE
    nested_sequence_field: tuple[str, ...] = ()
    count_limit: int = table_options.MAX_INT32
    ts_field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceGroup:
    """A sequence group of a partial-update table: columns that are updated in their own order.

    Attributes:
        ordering: the sequence fields, compared in order, ascending, null smallest.
        columns: the columns of the group, without the sequence fields.
        removes: whether a -D record that is not older by this group removes the row.
    """

    ordering: tuple[str, ...]
    columns: tuple[str, ...]
    removes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSpec:
    """Parameters of a merge, from the table and the requested columns.

    Attributes:
        engine: the merge engine.
        keys: the trimmed primary key: rows that are equal in these columns are merged.
        primary_keys: the whole primary key, which is not aggregated.
        row_type: all columns of the table.
        columns: the requested columns, in result order.
        sequence_fields: columns of `sequence.field`, compared before the sequence number.
        sequence_descending: whether the record with the smallest `sequence_fields` wins.
        ignore_delete: whether retract records in files are ignored.
        remove_on_delete: whether a -D record removes the row (partial-update, aggregation).
        sequence_groups: of partial-update.
        functions: aggregate function per column: for aggregation all columns except the primary
            key, for partial-update some or none.
    """

    engine: MergeEngine
    keys: tuple[str, ...]
    primary_keys: tuple[str, ...]
    row_type: RowType
    columns: tuple[str, ...]
    sequence_fields: tuple[str, ...] = ()
    sequence_descending: bool = False
    ignore_delete: bool = False
    remove_on_delete: bool = False
    sequence_groups: tuple[SequenceGroup, ...] = ()
    functions: Mapping[str, AggregateFunction]


def merge_spec(schema: TableSchema, columns: Sequence[str] | None = None) -> MergeSpec:
    """Creates the merge spec of a table from its schema and options.

    Args:
        schema: of a table with a primary key, including dynamic options.
        columns: the requested columns in result order; None for all, in schema order.

    Raises:
        InvalidInputError: an unknown column is requested, or the options contradict each other.
    """
    given = table_options.TableOptions(schema.options)
    engine = given.value(table_options.MERGE_ENGINE)
    groups = _sequence_groups(schema) if engine is MergeEngine.PARTIAL_UPDATE else ()
    sequence_fields = given.value(table_options.SEQUENCE_FIELD)
    known = schema.row_type.names
    wanted = known if columns is None else tuple(columns)
    _check_known(wanted, known, "Column")
    _check_known(sequence_fields, known, "Sequence field")
    broken = [*partial_update_violations(schema, given)]
    if broken:
        raise InvalidInputError(f"The options of the table cannot be used: {'; '.join(broken)}.")
    return MergeSpec(
        engine=engine,
        keys=schema.trimmed_primary_keys,
        primary_keys=schema.primary_keys,
        row_type=schema.row_type,
        columns=wanted,
        sequence_fields=sequence_fields,
        sequence_descending=given.value(table_options.SEQUENCE_FIELD_SORT_ORDER)
        is SortOrder.DESCENDING,
        ignore_delete=given.value(table_options.IGNORE_DELETE),
        remove_on_delete=_remove_on_delete(engine, given),
        sequence_groups=groups,
        functions=_functions(schema, engine, groups),
    )


def needed_columns(spec: MergeSpec) -> tuple[str, ...]:
    """The value columns that every run must have, in schema order.

    These are the requested columns, the key, the sequence fields, and the ordering columns of the
    needed sequence groups.
    """
    needed = {*spec.columns, *spec.keys, *spec.sequence_fields}
    for group in needed_groups(spec):
        needed.update(group.ordering)
    return tuple(name for name in spec.row_type.names if name in needed)


def deciding_columns(spec: MergeSpec) -> tuple[str, ...] | None:
    """The value columns that determine the selected rows; None for engines that compute values."""
    if spec.engine not in (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW):
        return None
    needed = {*spec.keys, *spec.sequence_fields}
    return tuple(name for name in spec.row_type.names if name in needed)


def needed_groups(spec: MergeSpec) -> tuple[SequenceGroup, ...]:
    """The sequence groups of requested columns, and those that can remove rows."""
    wanted = {*spec.columns, *spec.keys, *spec.sequence_fields}
    return tuple(
        group
        for group in spec.sequence_groups
        if group.removes or not wanted.isdisjoint((*group.columns, *group.ordering))
    )


def _check_known(names: Iterable[str], known: Sequence[str], what: str) -> None:
    found = set(known)
    for name in names:
        if name not in found:
            raise InvalidInputError(
                f"{what} {name!r} is not a column of the table.", hint=f"Columns: {choices(known)}."
            )


def _remove_on_delete(engine: MergeEngine, given: table_options.TableOptions) -> bool:
    match engine:
        case MergeEngine.PARTIAL_UPDATE:
            return given.value(table_options.PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)
        case MergeEngine.AGGREGATION:
            return given.value(table_options.AGGREGATION_REMOVE_RECORD_ON_DELETE)
        case MergeEngine.DEDUPLICATE | MergeEngine.FIRST_ROW:
            return False


# ---------------------------------------------------------------- sequence groups


def _sequence_groups(schema: TableSchema) -> tuple[SequenceGroup, ...]:
    removing = table_options.TableOptions(schema.options).value(
        table_options.PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP
    )
    groups = []
    for ordering, text in column_options.SEQUENCE_GROUP.columns_in(schema.options):
        columns = parse_names(text)
        _check_known((*ordering, *columns), schema.row_type.names, "Sequence group column")
        removes = not set(removing).isdisjoint(ordering)
        rest = tuple(name for name in columns if name not in ordering)
        groups.append(SequenceGroup(ordering=ordering, columns=rest, removes=removes))
    return tuple(groups)


# ---------------------------------------------------------------- aggregate functions


def _functions(
    schema: TableSchema, engine: MergeEngine, groups: Sequence[SequenceGroup]
) -> Mapping[str, AggregateFunction]:
    given = table_options.TableOptions(schema.options)
    fallback = given.value(table_options.DEFAULT_AGGREGATE_FUNCTION)
    match engine:
        case MergeEngine.AGGREGATION:
            ordering = dict.fromkeys(given.value(table_options.SEQUENCE_FIELD), _LAST_VALUE)
            return _aggregate_functions(schema, {**ordering}, fallback or LAST_NON_NULL_VALUE)
        case MergeEngine.PARTIAL_UPDATE:
            silent = {name: None for group in groups for name in group.ordering}
            return _aggregate_functions(schema, silent, fallback)
        case MergeEngine.DEDUPLICATE | MergeEngine.FIRST_ROW:
            return {}


def _aggregate_functions(
    schema: TableSchema, ordering: Mapping[str, str | None], fallback: str | None
) -> Mapping[str, AggregateFunction]:
    """The functions of all columns except the primary key and ordering columns."""
    given = schema.options
    found = {}
    for name in schema.row_type.names:
        own = column_options.AGGREGATE_FUNCTION.value_for(name, given) or fallback
        name_of_function = ordering.get(name, own)
        if name_of_function is not None and name not in schema.primary_keys:
            found[name] = _function(name_of_function.strip(), name, given)
    return found


def _function(name: str, column: str, given: Mapping[str, str]) -> AggregateFunction:
    of = column_options
    return AggregateFunction(
        name=name,
        ignore_retract=of.IGNORE_RETRACT.value_for(column, given),
        distinct=of.DISTINCT.value_for(column, given),
        list_agg_delimiter=of.LIST_AGG_DELIMITER.value_for(column, given),
        nested_key=of.NESTED_KEY.value_for(column, given),
        nested_key_null_strategy=of.NESTED_KEY_NULL_STRATEGY.value_for(column, given),
        nested_sequence_field=of.NESTED_SEQUENCE_FIELD.value_for(column, given),
        count_limit=of.COUNT_LIMIT.value_for(column, given),
        ts_field=of.TS_FIELD.value_for(column, given),
    )
