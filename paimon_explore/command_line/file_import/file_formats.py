"""The formats of files to import: CSV and Parquet files; see also `json_file`."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from paimon_explore.command_line.file_import.import_file import (
    BATCH_ROWS,
    SAMPLE_ROWS,
    CsvOptions,
    ImportFile,
    Target,
    text_of,
)
from paimon_explore.command_line.file_import.json_file import JsonFile
from paimon_explore.command_line.file_import.text_cast import MisfitError, cast_column, cast_texts
from paimon_explore.errors import CorruptFileError, InvalidInputError, StorageError
from paimon_explore.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_COMPRESSED = ".gz"


class FileFormat(StrEnum):
    """The format of a file."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


_SUFFIXES = {
    ".csv": FileFormat.CSV,
    ".tsv": FileFormat.CSV,
    ".txt": FileFormat.CSV,
    ".json": FileFormat.JSON,
    ".jsonl": FileFormat.JSON,
    ".ndjson": FileFormat.JSON,
    ".parquet": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
}


def format_of(path: Path, given: str | None) -> FileFormat:
    """Return the format of a file by its name.

    Raises:
        InvalidInputError: the path is a folder, or its name does not tell the format.
    """
    if path.is_dir():
        hint = f"Name its files, such as {path}/*.parquet."
        raise InvalidInputError(f"{path} is a folder.", hint=hint)
    if given is not None:
        return FileFormat(given)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != _COMPRESSED]
    found = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise InvalidInputError(
            f"The name {path.name!r} does not tell the format of the file.",
            hint="Add --format csv, json or parquet.",
        )
    return found


def open_import(path: Path, form: FileFormat, options: CsvOptions) -> ImportFile:
    """Return a file to import."""
    match form:
        case FileFormat.CSV:
            return CsvFile(path=path, options=options)
        case FileFormat.JSON:
            return JsonFile(path=path)
        case FileFormat.PARQUET:
            return ParquetImport(path=path)


_MAX_VALUE = 2**31 - 1
_WHOLE = (pa.int64(), pa.decimal128(38, 0))
_CANDIDATES = (
    pa.float64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("us", tz="UTC"),
)
"""Types of columns of a new table, if all values of the first rows fit; otherwise text. Those of
whole numbers keep all digits."""
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
_DIGITS = re.compile(r"\s*[+-]?\d+\s*")
_CODE = re.compile(r"[+-]?0\d")
"""A number with leading zeros is a code, such as a postcode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFile:
    """A CSV file.

    Attributes:
        path: the file.
        options: delimiter, null and names.
    """

    path: Path
    options: CsvOptions

    def inferred_schema(self) -> pa.Schema:
        """Return the columns with types that fit the first rows."""
        rows = self._rows()
        names = self._names(rows)
        sample = [values for _, values in islice(rows, SAMPLE_ROWS)]
        columns = list(zip(*sample, strict=True)) if sample else [()] * len(names)
        return pa.schema([(name, _inferred(c)) for name, c in zip(names, columns, strict=True)])

    def batches(self, target: Target) -> Iterator[pa.RecordBatch]:
        """Read the rows in the types of the table."""
        rows = self._rows()
        names = self._names(rows)
        fields = [target.column(name, f"{self.path}, line 1") for name in names]
        while part := list(islice(rows, BATCH_ROWS)):
            columns = zip(*(values for _, values in part), strict=True)
            pairs = zip(fields, map(self._stored, fields, columns), strict=True)
            yield target.batch(pairs, cast_texts, partial(self._location, part))

    def _stored(
        self, field: "pa.Field[pa.DataType]", texts: Sequence[str | None]
    ) -> Sequence[str | None]:
        """Return the texts of a column; `""` is a null in columns that are not texts or bytes."""
        if self.options.null or any(is_text(field.type) for is_text in _TEXTS):
            return texts
        return [text or None for text in texts]

    def _location(self, rows: Sequence[tuple[int, object]], index: int) -> str:
        return f"{self.path}, line {rows[index][0]}"

    def _names(self, rows: Iterator[tuple[int, list[str | None]]]) -> tuple[str, ...]:
        if self.options.names is not None:
            return self.options.names
        _, header = next(rows, (0, []))
        if not header:
            raise InvalidInputError(f"{self.path} is empty: it has no line with column names.")
        names = tuple(name or "" for name in header)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None or "" in names:
            what = "a column without a name" if twice is None else f"the column {twice!r} twice"
            hint = "If there is no header, name the columns: --no-header a,b,c."
            raise InvalidInputError(f"{self.path}, line 1 has {what}.", hint=hint)
        return names

    def _rows(self) -> Iterator[tuple[int, list[str | None]]]:
        """Each row with its first line. A line of one column that is empty is a null."""
        tab = ".tsv" in [suffix.lower() for suffix in self.path.suffixes]
        delimiter = self.options.delimiter or ("\t" if tab else ",")
        csv.field_size_limit(_MAX_VALUE)
        null = self.options.null
        count = None if self.options.names is None else len(self.options.names)
        mark = uuid4().hex
        with text_of(self.path) as stream:
            lines = _marked(stream, delimiter, mark)
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            line = 1
            try:
                for found in reader:
                    values = [""] if not found and count == 1 else found
                    if values:
                        count = len(values) if count is None else count
                        self._check(line, values, count)
                        yield (
                            line,
                            [None if text == null else _unmarked(text, mark) for text in values],
                        )
                    line = reader.line_num + 1
            except csv.Error as error:
                text = str(error).rstrip(".")
                raise InvalidInputError(f"{self.path}, line {line}: {text}.") from error

    def _check(self, line: int, values: Sequence[str], count: int) -> None:
        if len(values) != count:
            raise InvalidInputError(
                f"{self.path}, line {line} has {len(values)} values instead of {count}.",
                hint="Nothing was imported.",
            )


def _marked(lines: Iterable[str], delimiter: str, mark: str) -> Iterator[str]:
    """Replace `""`, an empty text, by a mark: the module csv does not tell it from no value."""
    edge = re.escape(delimiter)
    empty = re.compile(rf'(?:^|(?<={edge}))""(?={edge}|[\r\n]|$)')
    quotes = 0
    for line in lines:
        before = quotes

        def marked(found: re.Match[str], line: str = line, before: int = before) -> str:
            is_inside = (before + line.count('"', 0, found.start())) % 2
            return '""' if is_inside else mark

        quotes += line.count('"')
        yield empty.sub(marked, line) if '""' in line else line


def _unmarked(text: str, mark: str) -> str:
    """Return the text; a mark in a longer one is an escaped quote, after a quote outside quotes."""
    return "" if text == mark else text.replace(mark, '"')


def _inferred(texts: Sequence[str | None]) -> pa.DataType:
    given = [text for text in texts if text]
    if not given or any(_CODE.match(text) for text in given):
        return pa.string()
    for candidate in _WHOLE if all(map(_DIGITS.fullmatch, given)) else _CANDIDATES:
        if pa.types.is_boolean(candidate) and not {t.lower() for t in given} <= {"true", "false"}:
            continue
        try:
            cast_texts(given, candidate)
        except MisfitError:
            continue
        return candidate
    return pa.string()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetImport:
    """A Parquet file.

    Attributes:
        path: the file.
    """

    path: Path

    def inferred_schema(self) -> pa.Schema:
        """Return the columns of the file."""
        with self._opened() as file:
            return file.schema_arrow

    def batches(self, target: Target) -> Iterator[pa.RecordBatch]:
        """Read the rows in the types of the table."""
        first = 0
        with self._opened() as file:
            names = file.schema_arrow.names
            fields = [target.column(name, str(self.path)) for name in names]
            for batch in file.iter_batches(BATCH_ROWS):
                columns = zip(fields, batch.columns, strict=True)
                row = partial(self._location, first)
                yield target.batch(columns, cast_column, row)
                first += batch.num_rows

    def _location(self, first: int, index: int) -> str:
        return f"{self.path}, row {first + index + 1}"

    def _opened(self) -> "ParquetFile":
        from pyarrow.parquet import ParquetFile

        try:
            return ParquetFile(self.path)
        except pa.ArrowInvalid as error:
            raise CorruptFileError(str(self.path), "footer", f"{error}".splitlines()[0]) from error
        except OSError as error:
            raise StorageError("read", str(self.path), error.strerror or str(error)) from error
