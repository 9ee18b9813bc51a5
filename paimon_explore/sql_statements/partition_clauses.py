"""Partitions in statements: PARTITION (…), and the condition of INSERT INTO … REPLACE WHERE."""

import logging

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sql_statements.data_type_names import type_name
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Reader

FROM_QUERY = object()
"""The value of a partition column that the query gives."""


def partition_values(
    warehouse: Warehouse, reader: Reader, schema: TableSchema
) -> dict[str, object]:
    """Read PARTITION (…): constants by column; columns without a value come from the query."""
    found: dict[str, object] = {}
    for text in reader.parts("the partition"):
        one = Reader(text)
        given = one.identifier("a partition column")
        key = next((k for k in schema.partition_keys if k.lower() == given.lower()), given)
        if key not in schema.partition_keys:
            raise InvalidInputError(
                f"PARTITION: {given!r} is not a partition column.",
                hint=f"Partition columns: {choices(schema.partition_keys)}.",
            )
        if one.is_done:
            found[key] = FROM_QUERY
            continue
        one.expect("=", part="PARTITION")
        found[key] = constant(warehouse, one.rest(), schema.project([key]).fields[0])
    return found


def constant(warehouse: Warehouse, text: str, field: DataField) -> object:
    """Evaluate a constant and convert it to the type of a column.

    Raises:
        InvalidInputError: it is not a constant, or does not fit the column.
    """
    try:
        return warehouse.engine.constant(text, field)
    except InvalidInputError as error:
        kind = type_name(field.type)
        raise InvalidInputError(
            f"{text} is not a valid constant for column {field.name!r} of type {kind}.",
            hint=error.message,
        ) from error


def partition_spec(warehouse: Warehouse, reader: Reader, schema: TableSchema) -> dict[str, object]:
    """Read `(dt = '2026-01-01', …)`; each column needs a value."""
    found = partition_values(warehouse, reader, schema)
    for key, value in found.items():
        if value is FROM_QUERY:
            raise InvalidInputError(
                f"PARTITION contains no value for column {key!r}.", hint=f"Write {key} = '…'."
            )
    return found


def replaced_partition(
    warehouse: Warehouse, condition: str, schema: TableSchema, table: str
) -> dict[str, object]:
    """Return the partition that the condition of REPLACE WHERE selects; empty for TRUE.

    As in Java, the condition is TRUE, or compares partition columns with constants by `=`,
    combined by AND.

    Raises:
        UnsupportedFeatureError: another condition.
        InvalidInputError: a column occurs twice, or a constant does not fit its column.
    """
    found: dict[str, object] = {}
    for part in _conjuncts(_parsed(condition, table)):
        if isinstance(part, exp.Boolean) and part.this is True:
            continue
        column, value = _compared(part, condition, table)
        key = next((k for k in schema.partition_keys if k.lower() == column.lower()), None)
        if key is None:
            raise _refused(condition, table, schema.partition_keys)
        if key in found:
            raise InvalidInputError(f"REPLACE WHERE compares column {key!r} twice.")
        found[key] = constant(warehouse, value, schema.project([key]).fields[0])
    return found


def _parsed(condition: str, table: str) -> exp.Expr:
    logger = logging.getLogger("sqlglot")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        return sqlglot.parse_one(condition, read="spark")
    except SqlglotError as error:
        raise _refused(condition, table) from error
    finally:
        logger.setLevel(before)


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    node = node.unnest()
    if isinstance(node, exp.And):
        return [*_conjuncts(node.this), *_conjuncts(node.expression)]
    return [node]


def _compared(part: exp.Expr, condition: str, table: str) -> tuple[str, str]:
    """Return the column and the constant of a comparison."""
    if isinstance(part, exp.EQ | exp.NullSafeEQ):
        for one, other in ((part.this, part.expression), (part.expression, part.this)):
            if isinstance(one, exp.Column) and other.find(exp.Column) is None:
                return one.name, other.sql(dialect="spark")
    raise _refused(condition, table)


def _refused(condition: str, table: str, keys: tuple[str, ...] = ()) -> UnsupportedFeatureError:
    known = f" Partition columns: {choices(keys)}." if keys else ""
    return UnsupportedFeatureError(
        f"INSERT INTO … REPLACE WHERE {condition}",
        table,
        hint="The condition must compare partition columns with constants by '=', combined by "
        f"AND.{known} To replace other rows, delete and append them in t.transaction().",
    )
