"""Changes of a schema, as values.

A column is named by its path: the name of a top-level column, then names of members of rows. The
elements of an array are named `element`, the values of a map `value`.

Spec: concepts/schema evolution, SQL ALTER pages.
"""

from enum import Enum
from typing import TypeAlias

from paimon_explore.data_types.definitions import DataType
from paimon_explore.frozen_dataclass import dataclass

ColumnPath: TypeAlias = tuple[str, ...]


class Position(Enum):
    """Where a column goes among its siblings."""

    FIRST = "first"
    LAST = "last"
    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A place for a column.

    Attributes:
        position: the place.
        reference: the sibling that AFTER and BEFORE mean.
    """

    position: Position
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn:
    """A new, nullable column, last unless a place is given."""

    column: ColumnPath
    type: DataType
    comment: str | None = None
    move: Move | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn:
    """Another name; keys and options that name the column follow."""

    column: ColumnPath
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumn:
    """A column to leave out from now on; its id is never used again."""

    column: ColumnPath


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeType:
    """Another type of a column, to which its values are cast.

    Attributes:
        keep_nullability: whether the new type is as nullable as the old one.
    """

    column: ColumnPath
    type: DataType
    keep_nullability: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNullability:
    """Whether a column may hold null."""

    column: ColumnPath
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeColumnComment:
    """Another comment of a column; None for none."""

    column: ColumnPath
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDefault:
    """Another default value of a column, as text; None for none."""

    column: ColumnPath
    default_value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveColumn:
    """Another place of a top-level column."""

    column: str
    move: Move


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption:
    """Another value of a table option."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveOption:
    """A table option to leave at its default."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComment:
    """Another comment of the table; None for none."""

    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPrimaryKey:
    """No primary key any more; only while the table has no snapshot."""


ColumnChange: TypeAlias = (
    AddColumn
    | RenameColumn
    | DropColumn
    | ChangeType
    | ChangeNullability
    | ChangeColumnComment
    | ChangeDefault
    | MoveColumn
)
SchemaChange: TypeAlias = ColumnChange | SetOption | RemoveOption | SetComment | DropPrimaryKey
