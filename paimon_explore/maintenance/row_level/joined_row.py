"""The joined row of a merge: columns of both sides, named `target.<name>` and `source.<name>`.

Expressions may qualify names with a side or not; they are rewritten to the names of the joined row
before they are bound.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField, RowType, with_nullable
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    Computed,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Operand,
    Or,
    is_operand,
)

TARGET = "target"
SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The columns of both sides.

    Attributes:
        target: the columns of the table that expressions may read, also `_ROW_ID`.
        assigned: the columns of the table that have values to set.
        source: the source's columns.
        names: names and aliases of the sides in expressions, in lower case, mapped to the side.
    """

    target: RowType
    assigned: RowType
    source: RowType
    names: Mapping[str, str]

    @property
    def row_type(self) -> RowType:
        """Return the columns of the joined row, all nullable."""
        sides = ((TARGET, self.target), (SOURCE, self.source))
        fields = [
            DataField(id=0, name=f"{side}.{f.name}", type=with_nullable(f.type, nullable=True))
            for side, row_type in sides
            for f in row_type
        ]
        numbered = (replace(field, id=number) for number, field in enumerate(fields))
        return RowType(fields=tuple(numbered))

    def join(self, target: pa.RecordBatch | None, source: pa.RecordBatch | None) -> pa.RecordBatch:
        """Join rows of both sides column-wise, with the columns that they have."""
        columns = []
        names = []
        for side, batch in ((TARGET, target), (SOURCE, source)):
            if batch is not None:
                columns += batch.columns
                names += [f"{side}.{name}" for name in batch.schema.names]
        known = {field.name: field for field in arrow_schema(self.row_type)}
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema([known[n] for n in names]))

    def qualify(self, expr: Expression, *visible: str) -> Expression:
        """Rewrite an expression to the column names of the joined row.

        Args:
            expr: the expression.
            visible: the sides that it may use.

        Raises:
            InvalidInputError: a name is unknown, ambiguous, or of a side that is not visible.
        """
        return renamed(expr, lambda path: self._path(path, visible))

    def _path(self, path: tuple[str, ...], visible: tuple[str, ...]) -> tuple[str, ...]:
        first, dot, rest = path[0].partition(".")
        if dot and first.lower() in self.names:
            path = (first, rest, *path[1:])
        side = self.names.get(path[0].lower()) if len(path) > 1 else None
        if side is not None:
            if side not in visible:
                raise InvalidInputError(
                    f"Column {'.'.join(path)!r} cannot be used, because the rows of this "
                    "clause have "
                    f"no matching {side} row."
                )
            return (f"{side}.{self._exact_name(side, path[1])}", *path[2:])
        found = [side for side in visible if _alike(self._of(side), path[0])]
        if len(found) == 1:
            return (f"{found[0]}.{self._exact_name(found[0], path[0])}", *path[1:])
        if found:
            raise InvalidInputError(
                f"Column {path[0]!r} is ambiguous, because the source and the target both have "
                "a column of this name.",
                hint=f"Write {TARGET}.{path[0]} or {SOURCE}.{path[0]}.",
            )
        known = [f"{side}.{name}" for side in visible for name in self._of(side).names]
        raise InvalidInputError(
            f"There is no column {'.'.join(path)!r}.",
            hint=f"Columns: {choices(known)}. Strings are written in single quotes.",
        )

    def _of(self, side: str) -> RowType:
        return self.target if side == TARGET else self.source

    def _exact_name(self, side: str, name: str) -> str:
        """Return the exact name of a column of a side."""
        row_type = self._of(side)
        if row_type.field(name) is not None:
            return name
        alike = _alike(row_type, name)
        if len(alike) != 1:
            raise InvalidInputError(
                f"The {side} has no column {name!r}.", hint=f"Columns: {choices(row_type.names)}."
            )
        return alike[0]


def _alike(row_type: RowType, name: str) -> list[str]:
    """Return the column of that name, else those that differ only in case."""
    if row_type.field(name) is not None:
        return [name]
    return [known for known in row_type.names if known.lower() == name.lower()]


Rename = Callable[[tuple[str, ...]], tuple[str, ...]]


def renamed(expr: Expression, rename: Rename) -> Expression:
    """Rename the columns of an expression."""
    if is_operand(expr):
        return _operand(expr, rename)
    match expr:
        case And(children=children) | Or(children=children):
            return replace(expr, children=tuple(renamed(child, rename) for child in children))
        case Not(child=child) | IsTrue(child=child):
            return replace(expr, child=renamed(child, rename))
        case Compare(left=left, right=right):
            return replace(expr, left=_operand(left, rename), right=_operand(right, rename))
        case In(operand=operand) | Like(operand=operand) | IsNull(operand=operand):
            return replace(expr, operand=_operand(operand, rename))
        case _:
            return expr


def _operand(operand: Operand, rename: Rename) -> Operand:
    match operand:
        case Column(path=path):
            return Column(path=rename(path))
        case Cast(operand=inner):
            return replace(operand, operand=_operand(inner, rename))
        case Computed(arguments=columns):
            return replace(
                operand, arguments=tuple(Column(path=rename(one.path)) for one in columns)
            )
        case Call(arguments=arguments):
            return replace(operand, arguments=tuple(renamed(part, rename) for part in arguments))
        case Literal():
            return operand
