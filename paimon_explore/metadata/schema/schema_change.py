"""Schema change values (`AddColumn`, `RenameColumn`, …), as Java's `SchemaChange`.

Values only: `alter_schema` applies them. A column is identified by its path: the name of a
top-level column, then names of row fields. Array elements are named `element`, map values `value`.

Spec: concepts/schema evolution, SQL ALTER pages.
"""

from enum import Enum
from typing import TypeAlias

from paimon_explore.data_types.definitions import DataType
from paimon_explore.frozen_dataclass import dataclass

ColumnPath: TypeAlias = tuple[str, ...]


class Position(Enum):
    """Position of a column among its siblings."""

    FIRST = "first"
    LAST = "last"
    AFTER = "after"
    BEFORE = "before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The target position of a column.

    Attributes:
        position: the position.
        reference: the sibling column for AFTER and BEFORE.
    """

    position: Position
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn:
    """Add a nullable column, by default as the last one."""

    column: ColumnPath
    type: DataType
    comment: str | None = None
    move: Move | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn:
    """Rename a column, also in keys and options."""

    column: ColumnPath
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumn:
    """Drop a column; its field id is never reused."""

    column: ColumnPath


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeType:
    """Change the type of a column; stored values are cast on read.

    Attributes:
        keep_nullability: whether to keep the nullability of the old type.
    """

    column: ColumnPath
    type: DataType
    keep_nullability: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNullability:
    """Change whether a column is nullable."""

    column: ColumnPath
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeColumnComment:
    """Change the comment of a column; None removes it."""

    column: ColumnPath
    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDefault:
    """Change the default value of a column, given as text; None removes it."""

    column: ColumnPath
    default_value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveColumn:
    """Move a top-level column."""

    column: str
    move: Move


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption:
    """Set a table option."""

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveOption:
    """Reset a table option to its default."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComment:
    """Change the comment of the table; None removes it."""

    comment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPrimaryKey:
    """Drop the primary key; allowed only while the table has no snapshot."""


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
"""A change of a column, an option, the comment or the key of a table."""
