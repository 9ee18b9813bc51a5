"""Location of a value in the input rows (column, path, row) for error messages."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

_MAX_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Location of the values of an array in the input.

    Attributes:
        column: the column, followed by the path within a nested type.
        row_of: returns the row number of the value at a position; None if it is unknown.
        values: the values as Python objects, if the caller passed Python objects.
    """

    column: str
    row_of: Callable[[int], int] | None = None
    values: Sequence[object] | None = None

    def part(self, name: str) -> "Location":
        """Return the location of a part that has one value per value here."""
        return Location(column=f"{self.column}{name}", row_of=self.row_of)

    def elements(self, name: str, offsets: Ints) -> "Location":
        """Return the location of a part that has any number of values per value here.

        Args:
            name: name of the part.
            offsets: n + 1 offsets of the elements of each value.
        """
        return self.part(name)._through(  # noqa: SLF001 - a location, too
            lambda position: int(np.searchsorted(offsets, position, "right")) - 1
        )

    def at(self, positions: Sequence[int], values: Sequence[object]) -> "Location":
        """Return the location of some of the values, with their Python objects."""
        found = self._through(lambda position: positions[position])
        return Location(column=found.column, row_of=found.row_of, values=values)

    def _through(self, outer: Callable[[int], int]) -> "Location":
        known = self.row_of
        row_of = None if known is None else lambda position: known(outer(position))
        return Location(column=self.column, row_of=row_of)

    def error(
        self,
        problem: str,
        data_type: DataType | None = None,
        position: int | None = None,
        hint: str = "",
    ) -> InvalidInputError:
        """Build the error for a value, or for the type of all values."""
        kind = "" if data_type is None else f" ({type_text(data_type)})"
        row_of = self.row_of
        row = ""
        if position is not None and row_of is not None:
            row = f", row {row_of(position)} (counted from 0)"
        return InvalidInputError(f"Column {self.column!r}{kind}{row}: {problem}.", hint=hint)

    def value_text(self, array: Column, position: int) -> str:
        """Return the value at a position as Python or Arrow prints it."""
        if self.values is not None:
            text = _represented(self.values[position])
        else:
            text = _printed(array, position)
        return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…"

    def type_name(self, array: Column, position: int) -> str:
        """Return the type name of the value at a position."""
        return str(array.type) if self.values is None else type(self.values[position]).__name__


def _represented(value: object) -> str:
    """Return the representation of a Python value, or its type if it cannot represent itself."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - code of any class; Arrow's scalars with some time zones
        return f"a value of type {type(value).__name__}"


def _printed(array: Column, position: int) -> str:
    """Print a value with Arrow: Python has no nanoseconds and no years beyond 9999."""
    is_plain = pa.types.is_string(array.type) or pa.types.is_binary(array.type)
    try:
        return repr(array[position].as_py()) if is_plain else str(array[position])
    except UnicodeDecodeError:
        return repr(array.slice(position, 1).cast(pa.binary())[0].as_py())
    except (OverflowError, ValueError):
        text: str = array.slice(position, 1).to_string(skip_new_lines=True)
        return text
