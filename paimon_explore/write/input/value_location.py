"""Where a value stands in the rows of a caller, for messages: column, path in it, row, value."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

_LONGEST = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the values of an array come from.

    Attributes:
        column: the column, with the path to a part of a nested type behind it.
        row_of: the number of the row that holds the value at a position; None if it is not known.
        values: the values as Python objects, if the caller gave such.
    """

    column: str
    row_of: Callable[[int], int] | None = None
    values: Sequence[object] | None = None

    def part(self, name: str) -> "Location":
        """A part that has one value for each value here."""
        return Location(column=f"{self.column}{name}", row_of=self.row_of)

    def elements(self, name: str, offsets: Ints) -> "Location":
        """A part that has any number of values for each value here.

        Args:
            name: of the part.
            offsets: where the elements of each value begin, n + 1 numbers.
        """
        return self.part(name)._through(  # noqa: SLF001 - a location, too
            lambda position: int(np.searchsorted(offsets, position, "right")) - 1
        )

    def chosen(self, positions: Sequence[int], values: Sequence[object]) -> "Location":
        """Some of the values here, with their Python objects."""
        found = self._through(lambda position: positions[position])
        return Location(column=found.column, row_of=found.row_of, values=values)

    def _through(self, outer: Callable[[int], int]) -> "Location":
        known = self.row_of
        row_of = None if known is None else lambda position: known(outer(position))
        return Location(column=self.column, row_of=row_of)

    def refusal(
        self,
        problem: str,
        data_type: DataType | None = None,
        position: int | None = None,
        hint: str = "",
    ) -> InvalidInputError:
        """The error for a value, or for the type of all values."""
        kind = "" if data_type is None else f" ({type_text(data_type)})"
        row_of = self.row_of
        row = "" if position is None or row_of is None else f", row {row_of(position)}"
        return InvalidInputError(f"Column {self.column!r}{kind}{row}: {problem}.", hint=hint)

    def shown(self, array: Column, position: int) -> str:
        """The value at a position, as Python or Arrow print it."""
        if self.values is not None:
            text = repr(self.values[position])
        elif pa.types.is_string(array.type) or pa.types.is_binary(array.type):
            text = repr(array[position].as_py())
        else:
            text = _printed(array, position)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    def kind(self, array: Column, position: int) -> str:
        """The type of the value at a position."""
        return str(array.type) if self.values is None else type(self.values[position]).__name__


def _printed(array: Column, position: int) -> str:
    """As Arrow prints a value: Python has no word for nanoseconds, and for years beyond 9999."""
    try:
        return str(array[position])
    except (OverflowError, ValueError):
        text: str = array.slice(position, 1).to_string(skip_new_lines=True)
        return text
