"""Partitions in statements: PARTITION (…), and the condition of INSERT INTO … REPLACE WHERE.

Options of tables in statements.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import (
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sql_statements.data_type_names import type_name
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader

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
        if key in found:
            raise InvalidInputError(f"PARTITION names column {key!r} twice.")
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
    try:
        with silent_sqlglot():
            tree = sqlglot.parse_one(condition, read="spark")
    except SqlglotError as error:
        raise _refused(condition, table) from error
    for part in conjuncts(tree):
        if isinstance(part, exp.Boolean) and part.this is True:
            continue
        column, value = _compared(part, condition, table)
        key = next((k for k in schema.partition_keys if k.lower() == column.lower()), None)
        if key is None:
            raise _refused(condition, table, schema.partition_keys)
        if key in found:
            raise InvalidInputError(
                f"REPLACE WHERE compares column {key!r} twice.",
                hint="Compare each partition column with one value; replace partitions one by one.",
            )
        found[key] = constant(warehouse, value, schema.project([key]).fields[0])
    return found


@contextmanager
def silent_sqlglot() -> Iterator[None]:
    """Keep sqlglot from logging what it cannot parse.

    Raises:
        SqlglotError: also where it takes the arguments of a function for granted.
    """
    logger = logging.getLogger("sqlglot")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, PaimonError):
            raise
        raise SqlglotError("a function has missing or wrong arguments") from error
    finally:
        logger.setLevel(before)


def conjuncts(tree: exp.Expr | None, connector: type[exp.Connector] = exp.And) -> list[exp.Expr]:
    """Return the conditions that AND, or another word, combines, in order; none of no condition."""
    pending, found = [] if tree is None else [tree], list[exp.Expr]()
    while pending:
        node = pending.pop().unnest()
        if isinstance(node, connector):
            pending += [node.expression, node.this]
        else:
            found.append(node)
    return found


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


def check_options(options: Sequence[str], part: str) -> None:
    """Reject unknown table options.

    Raises:
        InvalidInputError: an option is unknown; the message suggests a similar one.
    """
    from paimon_explore.metadata.options.option_spelling import unknown_names  # noqa: PLC0415 - all options

    for name, meant in unknown_names(options).items():
        hint = "See the options of Paimon tables." if meant is None else f"Did you mean {meant!r}?"
        raise InvalidInputError(f"{part}: unknown option {name!r}.", hint=hint)


def options_of(reader: Reader, part: str) -> dict[str, str]:
    """Read parenthesized options: `'key' = 'value', key.part = 3`.

    Raises:
        InvalidInputError: they cannot be parsed.
    """
    found: dict[str, str] = {}
    for text in reader.parts(f"the options of {part}"):
        one = Reader(text)
        key = option_key(one)
        one.takes("=")
        if one.is_done:
            raise one.problem(f"the value of option {key!r} is missing", part=part)
        found[key] = option_value(one)
        one.end()
    return found


def option_keys(reader: Reader) -> list[str]:
    """Read parenthesized keys of options: `'key', key.part`."""
    found = []
    for text in reader.parts("the options"):
        one = Reader(text)
        found.append(option_key(one))
        one.end()
    return found


def option_key(reader: Reader) -> str:
    """Read the key of an option: a string, or without quotes, when it may have dots and hyphens."""
    return reader.text("an option") if reader.here.kind is Kind.TEXT else _plain_key(reader)


def _plain_key(reader: Reader) -> str:
    start = reader.here.start
    while reader.here.sign not in {"=", ",", ")"} and not reader.is_done:
        if reader.here.kind is Kind.TEXT:
            break
        reader.next()
    return reader.source[start : reader.previous_end].strip().strip("`")


def option_value(reader: Reader) -> str:
    """Read the value of an option: a string, a number, TRUE or FALSE."""
    if reader.here.kind is Kind.TEXT:
        return reader.text("the value")
    sign = reader.takes_one("-")
    text = reader.next().text
    return sign + (text.lower() if text.upper() in {"TRUE", "FALSE"} else text)
