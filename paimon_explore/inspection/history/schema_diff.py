"""Differences between two schema versions; fields are matched by id."""

from collections.abc import Iterator, Mapping

from paimon_explore.data_types.definitions import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sanitize import masked_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between two schemas.

    Attributes:
        what: `column`, `option`, `primary key`, `partition` or `comment`.
        name: name of the element; nested fields have a path.
        act: `added`, `dropped`, `renamed`, `type`, `nullability`, `comment`, `default`, `moved`,
            `set`, `unset` or `changed`.
        before: the old value; empty if there was none.
        after: the new value; empty if there is none.
    """

    what: str
    name: str
    act: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionedField:
    """A column or nested field with its position.

    Attributes:
        path: dotted path from the column.
        position: index among its siblings.
        field: the field.
    """

    path: str
    position: int
    field: DataField


def fields_by_id(schema: TableSchema) -> dict[int, PositionedField]:
    """All columns and nested fields by field id."""
    return {placed.field.id: placed for placed in _walk(schema.fields, "")}


def _walk(fields: tuple[DataField, ...], above: str) -> Iterator[PositionedField]:
    for place, one in enumerate(fields):
        path = f"{above}{one.name}"
        yield PositionedField(path=path, position=place, field=one)
        yield from _inside(one.type, f"{path}.")


def _inside(kind: DataType, above: str) -> Iterator[PositionedField]:
    match kind:
        case RowType(fields=fields):
            yield from _walk(fields, above)
        case ArrayType(element=element) | MultisetType(element=element):
            yield from _inside(element, f"{above}element.")
        case MapType(key=key, value=value):
            yield from _inside(key, f"{above}key.")
            yield from _inside(value, f"{above}value.")
        case _:
            return


def schema_differences(before: TableSchema, after: TableSchema) -> tuple[Difference, ...]:
    """The differences between two versions: columns by id, then options, keys and comment."""
    return (
        *_columns(before, after),
        *option_differences(before.options, after.options),
        *key_differences(before, after),
    )


def _columns(before: TableSchema, after: TableSchema) -> Iterator[Difference]:
    old, new = fields_by_id(before), fields_by_id(after)
    for number, placed in new.items():
        if number not in old:
            kind = type_text(placed.field.type)
            yield Difference(what="column", name=placed.path, act="added", after=kind)
        else:
            yield from _column(old[number], placed)
    for number, placed in old.items():
        if number not in new:
            kind = type_text(placed.field.type)
            yield Difference(what="column", name=placed.path, act="dropped", before=kind)
    yield from _moves(before, after)


def _column(old: PositionedField, new: PositionedField) -> Iterator[Difference]:
    pairs = (
        ("renamed", old.field.name, new.field.name),
        ("type", _shallow(old.field.type), _shallow(new.field.type)),
        ("comment", old.field.description or "", new.field.description or ""),
        ("default", old.field.default_value or "", new.field.default_value or ""),
    )
    for act, first, second in pairs:
        if first != second:
            yield Difference(what="column", name=new.path, act=act, before=first, after=second)


def _shallow(kind: DataType) -> str:
    """The text of a type; nested fields of a row are omitted, since they are compared by id."""
    nullable = "" if kind.nullable else " NOT NULL"
    match kind:
        case RowType():
            return f"ROW{nullable}"
        case ArrayType(element=element):
            return f"ARRAY<{_shallow(element)}>{nullable}"
        case MultisetType(element=element):
            return f"MULTISET<{_shallow(element)}>{nullable}"
        case MapType(key=key, value=value):
            return f"MAP<{_shallow(key)}, {_shallow(value)}>{nullable}"
        case _:
            return type_text(kind)


def _moves(before: TableSchema, after: TableSchema) -> Iterator[Difference]:
    """The smallest set of common columns whose move explains the new order."""
    old = [one.id for one in before.fields]
    new = [one for one in after.fields if one.id in set(old)]
    kept = _longest_increasing([old.index(one.id) for one in new])
    for place, one in enumerate(new):
        if place not in kept:
            left = f"position {old.index(one.id) + 1}"
            now = f"position {after.fields.index(one) + 1}"
            yield Difference(what="column", name=one.name, act="moved", before=left, after=now)


def _longest_increasing(values: list[int]) -> set[int]:
    """Indexes of a longest increasing subsequence, by a quadratic algorithm."""
    best: list[list[int]] = []
    for place, value in enumerate(values):
        shorter = [run for run in best if values[run[-1]] < value]
        best.append([*_longest(shorter), place])
    return set(_longest(best))


def _longest(runs: list[list[int]]) -> list[int]:
    return max(runs, key=lambda run: len(run)) if runs else []  # noqa: PLW0108 - types


def option_differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Difference]:
    """The options that differ; secrets are masked."""
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        act = "set" if before is None else "unset" if after is None else "changed"
        texts = (masked_value(key, before or ""), masked_value(key, after or ""))
        yield Difference(what="option", name=key, act=act, before=texts[0], after=texts[1])


def key_differences(before: TableSchema, after: TableSchema) -> Iterator[Difference]:
    """Whether the primary key, the partition columns and the comment differ."""
    pairs = (
        ("primary key", ", ".join(before.primary_keys), ", ".join(after.primary_keys)),
        ("partition", ", ".join(before.partition_keys), ", ".join(after.partition_keys)),
        ("comment", before.comment or "", after.comment or ""),
    )
    for what, first, second in pairs:
        if first != second:
            yield Difference(what=what, name="", act="changed", before=first, after=second)
