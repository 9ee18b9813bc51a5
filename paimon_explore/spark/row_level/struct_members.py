"""Assignments to columns and to members of struct columns: `SET s.a = 1`.

Other members do not change. A null struct becomes one with the new value and nulls in its other
members, as in Spark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import Path, check_paths, path_of
from paimon_explore.spark.writes.store_assignment import assigned_column


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A column, or a member of one, that an assignment sets.

    Attributes:
        key: its name as given.
        path: names of the members inside the column; empty for the column itself.
        field: the column or member, with its full name.
    """

    key: str
    path: Path
    field: DataField

    def converted(self, given: Column, kind: st.DataType) -> Column:
        """Convert a new value to the type of the target; see `assigned_column`."""
        return assigned_column(given, kind, self.field)


def targets_by_column(names: Iterable[str], row_type: RowType) -> dict[str, list[Target]]:
    """Return the targets of assignments by column.

    Args:
        names: names of columns, or dotted paths of members.
        row_type: the table's columns.

    Raises:
        InvalidInputError: a column or member is unknown, or set twice.
    """
    found: dict[str, list[Target]] = {}
    paths = []
    for name in names:
        fields = path_of(name, row_type)
        paths.append(tuple(field.name for field in fields))
        full = replace(fields[-1], name=".".join(paths[-1]))
        target = Target(key=name, path=paths[-1][1:], field=full)
        found.setdefault(fields[0].name, []).append(target)
    check_paths(paths)
    return found


def new_column(old: Column, field: DataField, new: Sequence[tuple[Target, Column]]) -> Column:
    """Return the new value of a column.

    Args:
        old: its old value.
        field: the column.
        new: the assignments to it, with values in the types of their targets.
    """
    values = {target.path: value for target, value in new}
    return values[()] if () in values else _with_members(old, field.type, values)


def _with_members(old: Column, kind: DataType, new: Mapping[Path, Column]) -> Column:
    assert isinstance(kind, RowType)  # noqa: S101 - it has members
    members = []
    for field in kind:
        member = old.getField(field.name)
        below = {path[1:]: value for path, value in new.items() if path[0] == field.name}
        if () in below:
            member = below[()]
        elif below:
            member = _with_members(member, field.type, below)
        members.append(member.alias(field.name))
    return f.struct(*members)
