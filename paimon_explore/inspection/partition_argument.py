"""Resolves the partition arguments of the API: `dt=d1`, `{"dt": "d1"}`, or a single value.

Predicates that select the rows or files of one partition.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from paimon_explore.data_types.definitions import AtomicType, RowType
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.inspection.rendering.value_text import Partitions, unambiguous_text
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    IsNull,
    Literal,
    LiteralValue,
)
from paimon_explore.scan.predicate.literals import value_at

Given = str | Mapping[str, object] | Sequence[object] | int | None
"""The accepted forms of a partition argument; None for no partition."""


def resolve_partition(given: Given, names: Sequence[str], texts: Sequence[str]) -> str | None:
    """Resolve a partition argument to one of `texts`; None if no partition is given.

    Args:
        given: text as in `texts`, a dict, values in order, or the value of the only column.
        names: the partition columns.
        texts: the existing partitions as `dt=d1/hr=3`.

    Raises:
        InvalidInputError: the table does not have these partition columns.
        NotFoundError: the partition does not exist.
    """
    if given is None:
        return None
    if isinstance(given, str) and given in texts:
        return given  # its values may contain separators
    wanted = _text(given, names)
    for text in texts:
        if text in (wanted, given):
            return text
    hint = (
        f"Partitions: {choices(list(texts), limit=10)}."
        if texts
        else "The table has no data files."
    )
    raise NotFoundError("partition", wanted, hint=hint)


def _text(given: str | Mapping[str, object] | Sequence[object] | int, names: Sequence[str]) -> str:
    match given:
        case Mapping():
            values = dict(given)
        case str():
            values = parse_partition(given, names)
        case Sequence():
            values = dict(zip(names, given, strict=False))
        case _:
            values = dict(zip(names, [given], strict=False))
    if not names and values:
        raise InvalidInputError(
            f"Partition {given!r} does not exist, because the table is not partitioned."
        )
    if set(values) != set(names):
        msg = (
            f"The partition {given!r} must have a value for each of the partition columns "
            f"{choices(list(names))}, and for no other column."
        )
        path = "/".join(f"{name}=…" for name in names)
        raise InvalidInputError(msg, hint=f"Pass a str of the form '{path}', or a dict.")
    return "/".join(f"{name}={partition_value_text(values[name])}" for name in names)


def parse_partition(given: str, names: Sequence[str]) -> dict[str, object]:
    """Parse `dt=d1/hr=3` or `dt=d1, hr=3`, or the value of the only partition column.

    A value ends where a separator and the name of a partition column follow; `null` is null, unless
    it is quoted.

    >>> parse_partition("dt=a/b, hr=null", ["dt", "hr"])
    {'dt': 'a/b', 'hr': None}
    """
    if not names and not given:
        return {}
    if "=" not in given and len(names) == 1:
        return {names[0]: None if given == "null" else given}
    columns = "|".join(map(re.escape, names))
    found: dict[str, object] = {}
    for part in re.split(rf"\s*[/,]\s*(?=(?:{columns})\s*=)", given.strip()):
        known = re.match(rf"({columns}|[^=]*?)\s*(?:=|$)", part)
        name, value = (known[1], part[known.end() :]) if known else (part, "")
        found[name] = None if value.strip() == "null" else unquoted_value(value)
    return found


def unquoted_value(text: str) -> str:
    """A value written in text, without the blanks around it and the quotes that enclose it."""
    text = text.strip()
    if text[:1] in {"'", '"'} and text.endswith(text[0]) and len(text) > 1:
        return text[1:-1].replace(text[0] * 2, text[0])
    return text


def partition_value_text(value: object) -> str:
    """The text of a value in a partition name."""
    if value is None or isinstance(value, str):
        return unambiguous_text(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def partition_tests(
    partitions: Partitions, partition_type: RowType, text: str
) -> tuple[Compare | IsNull, ...]:
    """One test per partition column; none if the partition is unknown or cannot be decoded.

    Args:
        partitions: the known partitions.
        partition_type: types of the partition columns.
        text: the partition as `dt=d1/hr=3`.
    """
    if not partitions.columns or text not in partitions.texts:
        return ()
    index = partitions.texts.index(text)
    return tuple(
        equality(field.name, value_at(values, index, field.type), field.type)
        for field, values in zip(partition_type, partitions.columns, strict=True)
        if isinstance(field.type, AtomicType)
    )


def equality(name: str, value: LiteralValue, kind: AtomicType) -> Compare | IsNull:
    """The test that a column has a value, represented as in `Literal.value`; None for null."""
    column = Column(path=(name,))
    if value is None:
        return IsNull(operand=column)
    return Compare(op=CompareOp.EQ, left=column, right=Literal(value=value, type=kind))
