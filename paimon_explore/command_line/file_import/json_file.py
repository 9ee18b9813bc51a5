"""JSON files to import: an object on each line, or an array of objects."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import pyarrow as pa

from paimon_explore.command_line.file_import.import_file import (
    BATCH_ROWS,
    SAMPLE_ROWS,
    Target,
    text_of,
)
from paimon_explore.command_line.file_import.text_cast import (
    NumberLiteral,
    cast_json,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonFile:
    """A JSON file.

    Attributes:
        path: the file.
    """

    path: Path

    def inferred_schema(self) -> pa.Schema:
        """Return the columns with types that fit the first rows."""
        sample = [record for _, record in islice(self._rows(), SAMPLE_ROWS)]
        names = dict.fromkeys(chain.from_iterable(sample))
        return pa.schema([(n, _inferred([record.get(n) for record in sample])) for n in names])

    def batches(self, target: Target) -> Iterator[pa.RecordBatch]:
        """Read the rows in the types of the table."""
        fields: dict[str, pa.Field[pa.DataType]] = {}
        rows = self._rows()
        while part := list(islice(rows, BATCH_ROWS)):
            for location, record in part:
                for name in record.keys() - fields.keys():
                    fields[name] = target.column(name, location)
            columns = [
                (field, [record.get(name) for _, record in part]) for name, field in fields.items()
            ]
            locations = [location for location, _ in part]
            yield target.batch(columns, cast_json, locations.__getitem__)

    def _rows(self) -> Iterator[tuple[str, Record]]:
        """Each object with its location."""
        with text_of(self.path) as stream:
            first = next((line for line in stream if line.strip()), "")
            if not first.lstrip().startswith("["):
                stream.seek(0)
                yield from self._lines(stream)
                return
            location = str(self.path)
            found = self._parsed(first + stream.read(), location)
        for number, value in enumerate(found if isinstance(found, list) else (), start=1):
            yield self._record(value, f"{location}, element {number}")

    def _lines(self, stream: TextIO) -> Iterator[tuple[str, Record]]:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                location = f"{self.path}, line {number}"
                yield self._record(self._parsed(line, location), location)

    def _parsed(self, text: str, location: str) -> object:
        try:
            return json.loads(text, parse_float=NumberLiteral)
        except json.JSONDecodeError as error:
            what = f"{error.msg} at character {error.colno}"
            if error.lineno > 1:
                what += f" of line {error.lineno}"
            raise InvalidInputError(f"{location} is not JSON: {what}.") from error

    def _record(self, value: object, location: str) -> tuple[str, Record]:
        if not isinstance(value, dict):
            raise InvalidInputError(f"{location} is not a JSON object.")
        return location, value


def _inferred(values: list[object]) -> pa.DataType:
    try:
        found = pa.array(values).type  # type: ignore[arg-type]  # any values
    except (pa.ArrowException, OverflowError):
        return pa.string()
    return pa.string() if pa.types.is_null(found) else found
