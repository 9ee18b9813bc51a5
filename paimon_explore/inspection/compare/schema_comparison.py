"""Compares the schemas of two tables; columns are matched by name, and their ids are shown."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.formatter import type_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.schema_diff import key_differences, option_differences
from paimon_explore.metadata.schema.table_schema import TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPair:
    """A column of one or both tables.

    Attributes:
        name: name of the column.
        id_a: its field id in the first table; None if the table does not have it.
        id_b: its field id in the second table; None if the table does not have it.
        type_a: its type in the first table; empty if the table does not have it.
        type_b: its type in the second table; empty if the table does not have it.
        note: `same`, `only in a`, `only in b`, `type differs` or `id differs`; for tables with
            common history also `renamed to …` and `renamed from …`.
    """

    name: str
    id_a: int | None
    id_b: int | None
    type_a: str
    type_b: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingPair:
    """A setting of one or both tables, such as an option or the primary key.

    Attributes:
        name: name of the setting.
        a: its value in the first table; None if it is not set.
        b: its value in the second table; None if it is not set.
    """

    name: str
    a: str | None
    b: str | None


def column_pairs(a: TableSchema, b: TableSchema, *, related: bool) -> tuple[ColumnPair, ...]:
    """The columns of both tables, in the order of the first, then the second.

    Args:
        a: schema of the first table.
        b: schema of the second table.
        related: whether both are versions of one table, so that equal ids mean the same column.
    """
    first, second = ({one.name: one for one in schema.fields} for schema in (a, b))
    names = dict.fromkeys([*first, *second])
    ids = ({one.id: one.name for one in first.values()}, {o.id: o.name for o in second.values()})
    return tuple(_pair(name, first, second, ids if related else ({}, {})) for name in names)


def _pair(
    name: str,
    first: Mapping[str, DataField],
    second: Mapping[str, DataField],
    ids: tuple[Mapping[int, str], Mapping[int, str]],
) -> ColumnPair:
    a, b = first.get(name), second.get(name)
    types = ["" if one is None else type_text(one.type) for one in (a, b)]
    note = "same"
    if b is None:
        note = "only in a"
        new = None if a is None else ids[1].get(a.id)
        if new is not None and new not in first:
            note = f"renamed to {new}"
    elif a is None:
        note = "only in b"
        old = ids[0].get(b.id)
        if old is not None and old not in second:
            note = f"renamed from {old}"
    elif types[0] != types[1]:
        note = "type differs"
    elif a.id != b.id:
        note = "id differs"
    return ColumnPair(
        name=name,
        id_a=None if a is None else a.id,
        id_b=None if b is None else b.id,
        type_a=types[0],
        type_b=types[1],
        note=note,
    )


def setting_pairs(a: TableSchema, b: TableSchema) -> Iterator[SettingPair]:
    """The keys, comment and options that differ; secrets are masked."""
    for one in key_differences(a, b):
        name = "partition columns" if one.what == "partition" else one.what
        yield SettingPair(name=name, a=one.before or None, b=one.after or None)
    for one in option_differences(a.options, b.options):
        first = None if one.act == "set" else one.before
        yield SettingPair(name=one.name, a=first, b=None if one.act == "unset" else one.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedColumns:
    """The columns in which rows can be compared.

    Attributes:
        schema: the columns of both tables with their common type.
        keys: the common primary key; empty to compare whole rows.
        omitted: columns that are not compared, with the reason.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    omitted: Mapping[str, str]


def compared_columns(a: TableSchema, b: TableSchema) -> ComparedColumns:
    """The columns that both tables have with types that can be compared."""
    first, second = arrow_schema(a.row_type), arrow_schema(b.row_type)
    fields: list[pa.Field[pa.DataType]] = []
    omitted: dict[str, str] = {}
    for name in dict.fromkeys([*first.names, *second.names]):
        if name not in second.names:
            omitted[name] = "only in a"
        elif name not in first.names:
            omitted[name] = "only in b"
        else:
            common = _common_type(first.field(name).type, second.field(name).type)
            if common is None:
                omitted[name] = "the types cannot be compared"
            else:
                fields.append(pa.field(name, common))
    schema = pa.schema(fields)
    keys = a.primary_keys if set(a.primary_keys) == set(b.primary_keys) else ()
    if any(key not in schema.names for key in keys):
        keys = ()
    return ComparedColumns(schema=schema, keys=tuple(keys), omitted=omitted)


def _common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The type to which both can be cast; None if there is none."""
    if a.equals(b):
        return a
    both = [pa.schema([("x", kind)]) for kind in (a, b)]
    try:
        merged = pa.unify_schemas(both, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    found: pa.DataType = merged.field(0).type
    return found
