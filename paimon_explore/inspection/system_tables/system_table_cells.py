"""Formats partitions, keys and statistics for system tables.

Builds Arrow tables from Arrow columns and Python values.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    binary_scalar,
    null_array,
    string_scalar,
    take_rows,
)
from paimon_explore.data_types.casts.float_to_text import float_texts
from paimon_explore.data_types.casts.text_functions import Part, computed, where_valid
from paimon_explore.data_types.definitions import (
    INTEGERS,
    TEXTS,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
)
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.inspection.rendering.value_text import value_texts
from paimon_explore.metadata.partition_path import partition_texts
from paimon_explore.scan.manifest_arrays import Chunks, as_binary, distinct
from paimon_explore.scan.predicate.datetime_literals import parse_date
from paimon_explore.scan.predicate.expression import (
    TRUE,
    And,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    Literal,
    Or,
    conjunction,
    disjunction,
    literal,
)
from paimon_explore.scan.predicate.expression import Column as ColumnOf

_NULL = "null"
_NUMBER = re.compile(r"-?\d+")
_PLAIN = INTEGERS | TEXTS | {TypeRoot.BOOLEAN}
_DAYS_AND_TIMES = frozenset({TypeRoot.DATE, TypeRoot.TIME})


def internal_texts(column: Column, data_type: DataType) -> Column:
    """Format the internal representation of Java, e.g. dates as day numbers; null stays null."""
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if root in _PLAIN:
        return column.cast(pa.string())
    if root in _DAYS_AND_TIMES:
        return column.cast(pa.int32()).cast(pa.string())
    if root is TypeRoot.FLOAT or root is TypeRoot.DOUBLE:
        return float_texts(column, root)
    try:
        texts = partition_texts([column], [data_type], legacy_names=True)[0]
    except UnsupportedFeatureError:
        texts = value_texts(column, data_type)
    return pa.array(texts, pa.string())


def row_texts(rows: pa.BinaryArray, row_type: RowType, *, where: str) -> Column:
    """Format partition rows as `{v1, v2}`; each distinct row is formatted once."""
    types = [field.type for field in row_type]
    different, positions = distinct(rows)
    columns = decode_rows(as_binary(different), types, where=where)
    values = zip(*partition_texts(columns, types, legacy_names=False), strict=True)
    texts = [
        "{" + ", ".join(_NULL if text is None else text for text in row) + "}" for row in values
    ]
    return take_rows(
        pa.array(texts if columns else ["{}"] * len(different), pa.string()), positions
    )


def key_texts(rows: pa.BinaryArray, keys: RowType | None, *, where: str) -> Column:
    """Format keys as `[k1, k2]`; null for append tables and rows without fields."""
    if keys is None or not len(rows):
        return null_array(len(rows), pa.string())
    types = [field.type for field in keys]
    empty = computed("equal", [rows, binary_scalar(EMPTY_ROW)])
    held = computed("if_else", [empty, null_array(len(rows), pa.binary()), rows])
    columns = decode_rows(as_binary(held), types, where=where)
    texts = [
        internal_texts(column, data_type) for column, data_type in zip(columns, types, strict=True)
    ]
    joined = _joined(["["] + [", "] * (len(texts) - 1), texts, "]")
    return where_valid(held, joined)


def named_texts(columns: Mapping[str, Column], count: int) -> Column:
    """Format rows as `{a=1, b=null}`, with columns sorted by name."""
    names = sorted(columns)
    if not names:
        return pa.array(["{}"] * count, pa.string())
    before = [f"{{{names[0]}=", *(f", {name}=" for name in names[1:])]
    return _joined(before, [columns[name] for name in names], "}")


def _joined(before: Sequence[str], columns: Sequence[Column], last: str) -> Column:
    """Join the texts of each row with a prefix for each and a common suffix; null is `null`."""
    parts: list[Part] = []
    for text, column in zip(before, columns, strict=True):
        parts += [string_scalar(text), column]
    parts += [string_scalar(last), string_scalar("")]
    options = pc.JoinOptions(null_handling="replace", null_replacement=_NULL)
    return computed("binary_join_element_wise", parts, options)


def compact_json(value: object) -> str:
    """JSON without spaces and without escapes for non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def partition_condition(expr: Expression, row_type: RowType, default: str) -> Expression:
    """The condition on the partition columns that one on the column `partition` implies.

    Args:
        expr: the condition on texts such as `{2024-01-01, 1}` or `dt=2024-01-01/hr=1`.
        row_type: the partition columns.
        default: the name of a null or blank value after `=`.

    Returns:
        An unbound condition; TRUE for none.

    >>> from paimon_explore.scan.predicate.sql_formatter import to_sql
    >>> from paimon_explore.scan.predicate.sql_parser import parse_where
    >>> hours = RowType(fields=(DataField(id=0, name="hr", type=AtomicType(root=TypeRoot.INT)),))
    >>> to_sql(partition_condition(parse_where("partition IN ('{7}', 'hr=9')"), hours, ""))
    'hr = 7 OR hr = 9'
    """
    match expr:
        case And(children=children):
            return conjunction(partition_condition(one, row_type, default) for one in children)
        case Or(children=children):
            parts = [partition_condition(one, row_type, default) for one in children]
        case Compare(op=CompareOp.EQ, left=ColumnOf(), right=Literal(value=text)):
            parts = [_partition_test(text, row_type, default)]
        case In(operand=ColumnOf(), values=values):
            parts = [_partition_test(one.value, row_type, default) for one in values]
        case _:
            return TRUE
    return TRUE if TRUE in parts else disjunction(parts)


def _partition_test(text: object, row_type: RowType, default: str) -> Expression:
    """That a row has the values of a text, as far as it tells them; TRUE if it does not."""
    values, names = str(text).split("/"), [f"{name}=" for name in row_type.names]
    if len(values) == len(names) and all(map(str.startswith, values, names)):
        values = list(map(str.removeprefix, values, names))
    else:
        values = str(text)[1:-1].split(", ")
    if len(values) != len(names):  # a value contains the separator
        return TRUE
    return conjunction(
        _value_test(value, field, default) for value, field in zip(values, row_type, strict=True)
    )


def _value_test(text: str, field: DataField, default: str) -> Expression:
    column = ColumnOf(path=(field.name,))
    kind = field.type if isinstance(field.type, AtomicType) else None
    value: object = None
    if kind is None or text == default:
        return TRUE
    if kind.root in TEXTS:
        value = text
    elif kind.root in INTEGERS and _NUMBER.fullmatch(text):
        value = int(text)
    elif kind.root is TypeRoot.DATE and (days := parse_date(text)) is not None:
        value = Literal(value=days, type=kind)
    if value is None:
        return TRUE
    test = Compare(op=CompareOp.EQ, left=column, right=literal(value))
    return disjunction([test, IsNull(operand=column)]) if text == _NULL else test


Values: TypeAlias = "Column | Chunks | Sequence[object] | Callable[[], Column | Chunks]"
"""A column: an Arrow array, Python values that Arrow converts to the type, or what returns one."""


def table_of(schema: pa.Schema, columns: Mapping[str, Values]) -> pa.Table:
    """Build a table of a schema from columns by name, all of the same length; others are left out.

    >>> table_of(pa.schema({"a": pa.int32()}), {"a": [1, None]}).to_pylist()
    [{'a': 1}, {'a': None}]
    """
    return pa.Table.from_arrays(
        [_array(columns[field.name], field.type) for field in schema], schema=schema
    )


def _array(values: Values, kind: pa.DataType) -> "Column | Chunks":
    found = values() if callable(values) else values
    return found if isinstance(found, pa.Array | pa.ChunkedArray) else pa.array(found, kind)
