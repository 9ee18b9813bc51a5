"""Example conditions on the rows of a table: a column and a value of it, quoted for its type."""

from collections.abc import Mapping

from paimon_explore.data_types.definitions import NUMBERS, TEXTS, AtomicType, DataField, TypeRoot
from paimon_explore.errors import PaimonError
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import predicate
from paimon_explore.scan.predicate.sql_tokenizer import quoted_name, quoted_text

_TYPICAL: Mapping[TypeRoot, str] = {
    **dict.fromkeys(NUMBERS, "0"),
    **dict.fromkeys(TEXTS, "a"),
    TypeRoot.DATE: "2026-01-01",
    TypeRoot.TIME: "12:00:00",
    TypeRoot.TIMESTAMP: "2026-01-01 00:00:00",
    TypeRoot.TIMESTAMP_LTZ: "2026-01-01 00:00:00",
}
"""A value of each type with an order, as text."""


def example_condition(schema: TableSchema, minima: Mapping[str, str]) -> str:
    """A valid condition on a column of a table; empty for a table without columns.

    Args:
        schema: the schema.
        minima: known minimum values of columns as text; a typical value of the type is used if
            there is none.
    """
    names = (*schema.trimmed_primary_keys, *schema.partition_keys)
    fields = sorted(schema.fields, key=lambda field: field.name not in names)
    known = [(field, minima[field.name]) for field in fields if field.name in minima]
    for field, value in [*known, *((field, _typical(field)) for field in fields)]:
        found = _valid(schema, _range(field, value))
        if found:
            return found
    return to_sql((~col(fields[0].name).is_null()).expression) if fields else ""


def _typical(field: DataField) -> str:
    return _TYPICAL.get(field.type.root, "") if isinstance(field.type, AtomicType) else ""


def _range(field: DataField, value: str) -> str:
    """The condition that a column is at least a value given as text; empty if it has no order."""
    kind = field.type
    if not value or not isinstance(kind, AtomicType) or kind.root not in _TYPICAL:
        return ""
    literal = value
    if kind.root not in NUMBERS:
        word = "" if kind.root in TEXTS else f"{kind.root.value.partition(' ')[0]} "
        literal = f"{word}{quoted_text(value)}"
    return f"{quoted_name(field.name)} >= {literal}"


def _valid(schema: TableSchema, text: str) -> str:
    """The condition in normalized form; empty if it is not valid, or empty."""
    if not text:
        return ""
    try:
        found = predicate(text)
        bind(found, schema.row_type)
    except PaimonError:
        return ""
    return to_sql(found)
