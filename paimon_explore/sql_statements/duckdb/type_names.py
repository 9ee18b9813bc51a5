"""Names and types in DuckDB's syntax."""

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError

VARIANT = 'STRUCT("value" BLOB, metadata BLOB)'
"""The type of variants, which are two byte strings."""


def quoted(name: str) -> str:
    """Quote a name for DuckDB.

    >>> quoted("user id")
    '"user id"'
    """
    return '"{}"'.format(name.replace('"', '""'))


def plain_type(wanted: pa.DataType) -> str:
    """Return the type of DuckDB for an atomic type of Arrow."""
    if pat.is_timestamp(wanted):
        name = "TIMESTAMP" if wanted.tz is None else "TIMESTAMPTZ"
        return f"{name}_NS" if wanted.unit == "ns" else name
    if pat.is_decimal(wanted):
        return f"DECIMAL({wanted.precision}, {wanted.scale})"
    known = {
        pa.bool_(): "BOOLEAN",
        pa.int8(): "TINYINT",
        pa.int16(): "SMALLINT",
        pa.int32(): "INTEGER",
        pa.int64(): "BIGINT",
        pa.float32(): "FLOAT",
        pa.float64(): "DOUBLE",
        pa.date32(): "DATE",
        pa.binary(): "BLOB",
        pa.large_binary(): "BLOB",
    }
    return known.get(wanted, "TIME" if pat.is_time(wanted) else "VARCHAR")


def duckdb_type(data_type: DataType) -> str:
    """Return the type of DuckDB for the values of a type.

    Raises:
        InvalidInputError: there is no such type.
    """
    match data_type:
        case AtomicType(root=TypeRoot.VARIANT):
            return VARIANT
        case AtomicType():
            return plain_type(to_arrow(data_type))
        case ArrayType(element=element):
            return f"{duckdb_type(element)}[]"
        case MapType(key=key, value=value):
            return f"MAP({duckdb_type(key)}, {duckdb_type(value)})"
        case RowType(fields=fields):
            members = (f"{quoted(field.name)} {duckdb_type(field.type)}" for field in fields)
            return f"STRUCT({', '.join(members)})"
        case _:
            raise InvalidInputError(f"A variant cannot be cast to {type_text(data_type)}.")
