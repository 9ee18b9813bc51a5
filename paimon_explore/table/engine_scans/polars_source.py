"""A scan as a source of a Polars LazyFrame, which pushes columns, filters and limits into it.

Translates a filter of Polars into a condition of a scan.

The filter is read in its serialized form. What is not recognized is left out of a conjunction, so
the condition may match more rows than the filter, never fewer: Polars applies the filter, too.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from paimon_explore.data_types.decimals import scaled
from paimon_explore.data_types.definitions import RowType
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.table.engine_scans.comparable_values import compared, one_of, swapped
from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed

if TYPE_CHECKING:
    import polars as pl

if TYPE_CHECKING:
    import pyarrow as pa


def polars_lazy_frame(scan: LazyScan) -> pl.LazyFrame:
    """Return a LazyFrame that reads a scan when it is collected."""

    def source(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        rows: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        limited = scan if rows is None else scan.limit(rows)  # before the filter, as in Polars
        where = None if predicate is None else polars_condition(predicate, scan.row_type)
        found = narrowed(limited, columns, where)
        for batch in found.to_batches():
            frame = _frame(batch)
            yield frame if predicate is None else frame.filter(predicate)

    empty = _frame(scan.schema.empty_table())
    return register_io_source(source, schema=empty.schema)


def _frame(rows: "pa.RecordBatch | pa.Table") -> pl.DataFrame:
    found = pl.from_arrow(rows)
    return found if isinstance(found, pl.DataFrame) else found.to_frame()


_OPERATORS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_AND = frozenset({"And", "LogicalAnd"})
_OR = frozenset({"Or", "LogicalOr"})
_MICROS = {"Milliseconds": 1000, "Microseconds": 1}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - without a time zone
_BOUNDS = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}


def polars_condition(predicate: "pl.Expr", row_type: RowType) -> Term | None:
    """Return a condition that holds for all rows that a filter accepts; None if there is none.

    Args:
        predicate: the filter.
        row_type: the columns.
    """
    try:
        node: object = json.loads(predicate.meta.serialize(format="json"))
    except Exception:  # noqa: BLE001 - Polars cannot serialize Python functions
        return None
    return _condition(node, row_type)


def _condition(node: object, row_type: RowType) -> Term | None:
    if not isinstance(node, Mapping):
        return None
    binary, function = node.get("BinaryExpr"), node.get("Function")
    if isinstance(binary, Mapping):
        return _binary(binary, row_type)
    if isinstance(function, Mapping):
        return _function(function, row_type)
    return None


def _binary(node: Mapping[str, object], row_type: RowType) -> Term | None:
    left, operator, right = node.get("left"), node.get("op"), node.get("right")
    if operator in _AND or operator in _OR:
        one, other = _condition(left, row_type), _condition(right, row_type)
        if one is None or other is None:
            return None if operator in _OR else (other if one is None else one)
        return one & other if operator in _AND else one | other
    sign = _OPERATORS.get(str(operator))
    if sign is None:
        return None
    name, value = _column(left), _value(right)
    if name is None:
        name, value, sign = _column(right), _value(left), swapped(sign)
    return None if name is None or value is None else compared(row_type, name, sign, value)


def _function(node: Mapping[str, object], row_type: RowType) -> Term | None:
    inputs, function = node.get("input"), node.get("function")
    if not isinstance(inputs, list) or not isinstance(function, Mapping) or not inputs:
        return None
    name, kind = _column(inputs[0]), function.get("Boolean")
    if name is None or row_type.field(name) is None:
        return None
    if kind in ("IsNull", "IsNotNull"):
        return col(name).is_null() if kind == "IsNull" else col(name).is_not_null()
    if isinstance(kind, Mapping) and "IsIn" in kind:
        found = one_of(row_type, name, _members(inputs[1]))
        options = kind["IsIn"]
        nulls = isinstance(options, Mapping) and options.get("nulls_equal") is True
        return found | col(name).is_null() if nulls and found is not None else found
    between = kind.get("IsBetween") if isinstance(kind, Mapping) else None
    if not isinstance(between, Mapping):
        return None
    signs = _BOUNDS.get(str(between.get("closed")), ("", ""))
    ends = zip(signs, inputs[1:], strict=True)
    low, high = (compared(row_type, name, sign, _value(end)) for sign, end in ends)
    return None if low is None or high is None else low & high


def _column(node: object) -> str | None:
    name = node.get("Column") if isinstance(node, Mapping) else None
    return name if isinstance(name, str) else None


def _scalar(node: object) -> tuple[str, object]:
    """Return the kind and the stored form of a literal."""
    literal = node.get("Literal") if isinstance(node, Mapping) else None
    for form in ("Scalar", "Dyn"):
        scalar = literal.get(form) if isinstance(literal, Mapping) else None
        if isinstance(scalar, Mapping) and len(scalar) == 1:
            kind, value = next(iter(scalar.items()))
            return str(kind), value
    return "", None


def _value(node: object) -> object:
    """Return the value of a literal; None if it is not known."""
    kind, value = _scalar(node)
    match kind, value:
        case ("String", str()) | ("Boolean", bool()):
            return value
        case (_, int()) if kind.lstrip("U").startswith("Int"):
            return value
        case ("Date", int(days)):
            return date(1970, 1, 1) + timedelta(days=days) if abs(days) < _MAX_DAYS else None
        case ("Datetime", [int(count), str(unit), None]) if unit in _MICROS:
            return _EPOCH + timedelta(microseconds=count * _MICROS[unit])
        case ("Decimal", [int(unscaled), _, int(scale)]):
            return scaled(unscaled, scale)
        case _:
            return None


_MAX_DAYS = 700_000


def _members(node: object) -> list[object]:
    """Return the values of a list literal, which is stored as an Arrow stream."""
    kind, value = _scalar(node)
    if kind != "List" or not isinstance(value, list):
        return []
    try:
        table = pa.ipc.open_stream(pa.py_buffer(bytes(value))).read_all()
    except (pa.ArrowException, ValueError):
        return []
    values = table.column(0).to_pylist() if table.num_columns == 1 else []
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values
