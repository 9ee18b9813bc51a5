"""Resolves the key arguments of the API: a value, a sequence, a dict, or `id = 3, dt = 'd1'`."""

import re
from collections.abc import Mapping, Sequence

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import Term, col, expression_of
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    IsNull,
    Literal,
    conjunction,
    conjuncts,
)
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where

_COMMA = re.compile(r",(?=(?:[^']*'[^']*')*[^']*$)")
"""Matches a comma outside of quotes."""
_IS_NULL = re.compile(r"\sis\s+null\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyArgument:
    """A primary key value of a table.

    Attributes:
        values: by column of the primary key, with its type; partition columns may be absent.
        predicate: matches the rows with the key.
    """

    values: Mapping[str, Literal]
    predicate: Expression

    @property
    def text(self) -> str:
        """The key as SQL."""
        return to_sql(self.predicate)


def resolve_key(given: object, schema: TableSchema) -> KeyArgument:
    """Resolve a key argument.

    Args:
        given: a mapping, a sequence in key order, a single value, or equalities as SQL text or
            expressions.
        schema: schema of a table with a primary key.

    Raises:
        UnsupportedFeatureError: the table has no primary key.
        InvalidInputError: the key is incomplete, or a value does not match the type of its column.
    """
    if not schema.primary_keys:
        raise UnsupportedFeatureError("The key history of a table without primary key")
    predicate = bind(_expression(given, schema), schema.row_type)
    values: dict[str, Literal] = {}
    for part in conjuncts(predicate):
        match part:
            case Compare(op=CompareOp.EQ, left=Column(path=(name,)), right=Literal() as value):
                values[name] = value
            case IsNull(operand=Column(path=(name,))):
                values[name] = Literal(value=None, type=None)
            case _:
                raise _refused(f"{to_sql(part)} is not an equality of a column and a value", schema)
    other = [name for name in values if name not in schema.primary_keys]
    if other:
        raise _refused(f"the primary key has no column {choices(other)}", schema)
    missing = [name for name in schema.trimmed_primary_keys if name not in values]
    if missing:
        raise _refused(f"the key has no value for {choices(missing)}", schema)
    return KeyArgument(values=values, predicate=predicate)


def _expression(given: object, schema: TableSchema) -> Expression:
    if isinstance(given, Term | Expression):
        return expression_of(given)
    match given:
        case Mapping():
            pairs = list(given.items())
        case str() if "=" in given or _IS_NULL.search(given):
            parts = [part for part in _COMMA.split(given) if part.strip()]
            return conjunction([parse_where(part) for part in parts])
        case Sequence() if not isinstance(given, str | bytes):
            pairs = list(zip(_names(len(given), schema), given, strict=True))
        case _:
            pairs = list(zip(_names(1, schema), [given], strict=True))
    return conjunction([_equal(str(name), value) for name, value in pairs])


def _equal(name: str, value: object) -> Expression:
    """Match a value of a key column, null included."""
    return (col(name).is_null() if value is None else col(name) == value).expression


def _names(count: int, schema: TableSchema) -> tuple[str, ...]:
    for names in (schema.primary_keys, schema.trimmed_primary_keys):
        if len(names) == count:
            return names
    raise _refused(
        f"the key has {plural(count, 'value')}, but must have {len(schema.primary_keys)}",
        schema,
    )


def _refused(what: str, schema: TableSchema) -> InvalidInputError:
    keys = ", ".join(schema.primary_keys)
    hint = f"The primary key is {keys}; write {schema.primary_keys[0]} = …, or pass a dict."
    return InvalidInputError(f"Invalid key: {what}.", hint=hint)
