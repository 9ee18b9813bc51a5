"""Registry of aggregate functions: names in Paimon and supported types."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    BYTES,
    INTEGERS,
    NUMBERS,
    UNORDERED,
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import FormatError, InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.merge.aggregation_steps import Aggregator, Step, Steps
from paimon_explore.merge.aggregators import (
    binary_unions,
    collections,
    first_last_min_max,
    listagg,
    nested_update,
    sum_product_count,
)
from paimon_explore.merge.aggregators.binary_unions import union_hll, union_theta
from paimon_explore.merge.aggregators.nested_update import nested_partial_update
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import take_or_null

_Optioned: TypeAlias = Callable[[Column, Steps, AggregateFunction], Column]


def _any(data_type: DataType) -> bool:
    del data_type
    return True


def _root_in(roots: frozenset[TypeRoot], data_type: DataType) -> bool:
    return is_root(data_type, *roots)


def _rows(data_type: DataType) -> bool:
    return isinstance(data_type, ArrayType) and isinstance(data_type.element, RowType)


def _timed_map(data_type: DataType) -> bool:
    return isinstance(data_type, MapType) and isinstance(data_type.value, RowType)


_Takes: TypeAlias = Callable[[DataType], bool]
_number: _Takes = partial(_root_in, NUMBERS)
_flag: _Takes = partial(_root_in, frozenset({TypeRoot.BOOLEAN}))
_ordered: _Takes = partial(_root_in, frozenset(TypeRoot) - UNORDERED)
_binary: _Takes = partial(_root_in, BYTES)

_SIMPLE: Mapping[str, tuple[Aggregator, _Takes]] = {
    "last_value": (first_last_min_max.last_value, _any),
    "last_non_null_value": (first_last_min_max.last_non_null_value, _any),
    "first_value": (first_last_min_max.first_value, _any),
    "first_non_null_value": (first_last_min_max.first_non_null_value, _any),
    "first_not_null_value": (first_last_min_max.first_non_null_value, _any),
    "max": (first_last_min_max.greatest, _ordered),
    "min": (first_last_min_max.smallest, _ordered),
    "bool_or": (first_last_min_max.greatest, _flag),
    "bool_and": (first_last_min_max.smallest, _flag),
    "sum": (sum_product_count.total, _number),
    "product": (sum_product_count.product, _number),
    "count": (sum_product_count.count, partial(_root_in, INTEGERS)),
    "merge_map": (collections.merge_map, lambda data_type: isinstance(data_type, MapType)),
    "rbm32": (binary_unions.union_32, _binary),
    "rbm64": (binary_unions.union_64, _binary),
    "hll_sketch": (union_hll, _binary),
    "theta_sketch": (union_theta, _binary),
}
_OPTIONED: Mapping[str, tuple[_Optioned, _Takes]] = {
    "listagg": (listagg.listagg, partial(_root_in, frozenset({TypeRoot.VARCHAR}))),
    "collect": (collections.collect, lambda data_type: isinstance(data_type, ArrayType)),
    "nested_update": (nested_update.nested_update, _rows),
    "nested_partial_update": (nested_partial_update, _rows),
    "merge_map_with_keytime": (collections.merge_map_with_keytime, _timed_map),
}
_CHEAP = {"last_value", "last_non_null_value", "first_value", "first_non_null_value", "sum"}
"""Functions that read only the rows of their steps."""


def aggregator(function: AggregateFunction, field: DataField) -> Aggregator:
    """Returns the aggregator of a column.

    Raises:
        UnsupportedFeatureError: the function does not exist.
        InvalidInputError: it does not support the column's type, or needs an option.
    """
    if function.name in _SIMPLE:
        work, takes = _SIMPLE[function.name]
    elif function.name in _OPTIONED:
        optioned, takes = _OPTIONED[function.name]
        work = partial(_with_options, optioned, function)
    else:
        raise UnsupportedFeatureError(
            f"aggregate function {function.name!r}",
            f"column {field.name!r}",
            hint=f"Functions: {choices(sorted([*_SIMPLE, *_OPTIONED]))}.",
        )
    if not takes(field.type):
        raise InvalidInputError(
            f"Aggregate function {function.name!r} cannot be used on column {field.name!r} of type "
            f"{type_text(field.type)}."
        )
    _check_nested(function, field)
    if function.name not in _CHEAP:
        work = partial(_narrowed, work)
    if function.ignore_retract:
        work = partial(_without_retracts, work)
    return partial(_naming_column, work, field.name)


def _naming_column(work: Aggregator, name: str, column: Column, steps: Steps) -> Column:
    """Aggregates a column; errors name it.

    Raises:
        FormatError: the values of the column cannot be aggregated.
    """
    try:
        return work(column, steps)
    except FormatError as error:
        if type(error) is not FormatError:
            raise
        reason = error.message[:1].lower() + error.message[1:]
        raise FormatError(
            f"Column {name!r} cannot be aggregated: {reason}",
            hint=error.hint.replace("<column>", name),
        ) from error


def _check_nested(function: AggregateFunction, field: DataField) -> None:
    """Checks that options name existing fields of elements, and that a required key is set."""
    if function.name == "nested_partial_update" and not function.nested_key:
        raise InvalidInputError(
            "Aggregate function 'nested_partial_update' needs option 'nested-key' "
            f"for column {field.name!r}."
        )
    if function.nested_sequence_field and not function.nested_key:
        raise InvalidInputError(
            f"Option 'nested-sequence-field' of column {field.name!r} needs option 'nested-key'."
        )
    row: object = None
    if isinstance(field.type, ArrayType):
        row = field.type.element
    elif isinstance(field.type, MapType):
        row = field.type.value
    wanted = [*function.nested_key, *function.nested_sequence_field]
    wanted += [] if function.ts_field is None else [function.ts_field]
    for name in wanted:
        if isinstance(row, RowType) and row.field(name) is None:
            raise InvalidInputError(
                f"The ROW of column {field.name!r} has no field {name!r}.",
                hint=f"Fields: {choices(row.names)}.",
            )


def _with_options(
    work: _Optioned, function: AggregateFunction, column: Column, steps: Steps
) -> Column:
    return work(column, steps, function)


def _narrowed(work: Aggregator, column: Column, steps: Steps) -> Column:
    """Removes rows without steps, for functions that read the whole column."""
    if len(steps.rows) >= len(column):
        return work(column, steps)
    rows = np.arange(len(steps.rows))
    return work(take_or_null(column, steps.rows), Steps(rows, steps.kinds, steps.starts))


def _without_retracts(work: Aggregator, column: Column, steps: Steps) -> Column:
    if steps.kinds is None:
        return work(column, steps)
    return work(column, steps.kept(steps.kinds != Step.RETRACT))
