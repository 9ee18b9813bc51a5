"""Values, and default values of columns, as constants of Spark's dialect."""

from typing import Any

from paimon_explore.data_types.definitions import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    VectorType,
)
from paimon_explore.sql_statements.duckdb.dialect import constant
from paimon_explore.write.input.python_values import default_of


def default_text(field: DataField) -> str:
    """Return the default value of a column as a constant of Spark's dialect; NULL for none."""
    if field.default_value is None:
        return "NULL"
    return _nested_text(default_of(field)[0].as_py(), field.type)


def _nested_text(value: Any, kind: DataType) -> str:  # noqa: ANN401 - of any type
    if value is None:
        return "NULL"
    match kind:
        case ArrayType() | VectorType():
            return f"array({', '.join(_nested_text(one, kind.element) for one in value)})"
        case MapType():
            types = (kind.key, kind.value)
            parts = [_nested_text(*one) for pair in value for one in zip(pair, types, strict=True)]
            return f"map({', '.join(parts)})"
        case RowType():
            parts = [
                f"{constant_text(one.name)}, {_nested_text(value[one.name], one.type)}"
                for one in kind
            ]
            return f"named_struct({', '.join(parts)})"
        case _:
            return constant_text(value)


def constant_text(value: object) -> str:
    """Return a value as a constant of Spark's dialect.

    Raises:
        InvalidInputError: SQL has no constant for it.
    """
    return constant(value).sql(dialect="spark")
