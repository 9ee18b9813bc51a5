"""Files to import: their format, and their rows in the types of a table."""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TextIO, TypeVar, cast

import pyarrow as pa

from paimon_explore.command_line.file_import.text_cast import MisfitError
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import InvalidInputError, StorageError, choices
from paimon_explore.frozen_dataclass import dataclass

BATCH_ROWS = 10_000
SAMPLE_ROWS = 10_000
"""Number of rows that decide the types of a new table."""
_COMPRESSED = ".gz"
Values = TypeVar("Values", bound="Sequence[object] | Column")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """How to read CSV.

    Attributes:
        delimiter: the character between values; None for a tab in `.tsv` files, else a comma.
        null: the text that means null.
        names: the names of the columns of a file without a header; None if there is a header.
    """

    delimiter: str | None = None
    null: str = ""
    names: tuple[str, ...] | None = None


class ImportFile(Protocol):
    """A file whose rows can be read as Arrow data."""

    def inferred_schema(self) -> pa.Schema:
        """Return the columns with types that fit the first rows."""

    def batches(self, target: "Target") -> Iterator[pa.RecordBatch]:
        """Read the rows in the types of a table.

        Raises:
            InvalidInputError: a value does not fit; the message names line and column.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The columns of the table.

    Attributes:
        schema: the columns with their Arrow types.
        type_texts: the Paimon types by column, for messages.
    """

    schema: pa.Schema
    type_texts: Mapping[str, str]

    def column(self, name: str, location: str) -> "pa.Field[pa.DataType]":
        """Return the column of a name in a file; case is ignored if that is unambiguous.

        Raises:
            InvalidInputError: the table has no such column.
        """
        if name in self.schema.names:
            return self.schema.field(name)
        alike = [one for one in self.schema.names if one.lower() == name.lower()]
        if len(alike) == 1:
            return self.schema.field(alike[0])
        raise InvalidInputError(
            f"{location}: the table has no column {name!r}.",
            hint=f"Columns of the table: {choices(self.schema.names)}.",
        )

    def batch(
        self,
        columns: "Iterable[tuple[pa.Field[pa.DataType], Values]]",
        cast: Callable[[Values, pa.DataType], Column],
        location: Callable[[int], str],
    ) -> pa.RecordBatch:
        """Rows as the table has them.

        Args:
            columns: the values of each column.
            cast: casts values to a type.
            location: where the value at an index is, for errors.

        Raises:
            InvalidInputError: a value is not of the type of its column.
        """
        arrays, names = [], []
        for field, values in columns:
            try:
                arrays.append(cast(values, field.type))
            except MisfitError as error:
                shown = _shown(values[error.index])
                wanted = self.type_texts.get(field.name, str(field.type))
                where = f"{location(error.index)}, column {field.name!r}"
                raise InvalidInputError(
                    f"{where}: {shown} is not a valid {wanted}{error.reason}.",
                    hint="Nothing was imported.",
                ) from error
            names.append(field.name)
        return pa.RecordBatch.from_arrays(arrays, names=names)


_MAX_SHOWN = 80


def _shown(value: object) -> str:
    shown = repr(value.as_py() if isinstance(value, pa.Scalar) else value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"


@contextmanager
def text_of(path: Path) -> Iterator[TextIO]:
    """Open a text file in UTF-8; `.gz` files are decompressed.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        opened = gzip.open if path.suffix.lower() == _COMPRESSED else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            yield cast("TextIO", stream)
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path} is not UTF-8: {error.reason} {error.object[error.start : error.start + 1]!r}.",
            hint="Convert the file to UTF-8, for example with iconv.",
        ) from error
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError("read", str(path), error.strerror or str(error)) from error
