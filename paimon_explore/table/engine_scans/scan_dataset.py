"""A scan as a pyarrow dataset, into which DuckDB and others push columns and filters.

DuckDB pushes projections and filters into objects of the class `pyarrow.dataset.Dataset` only: it
calls `scanner(columns=…, filter=…)` and reads the result once, as a stream. A filter that is
recognized as a whole is evaluated by the scan; another one by Arrow, and the scan skips the files,
row groups and rows that its recognized part excludes.

The scanners are no Arrow scanners, which read ahead in threads of their own, past the end of a
query that has enough rows and of the process; `pyarrow.dataset.write_dataset`, which needs one,
asks for it by `use_threads`. What Arrow does with a dataset without calling its methods, as in a
union, would end the process if the dataset had no parts, so it has one that cannot be read.

Translates a filter of pyarrow.dataset, which DuckDB makes, into a condition of a scan.

pyarrow has no access to the parts of an expression, so its text is parsed. What is not recognized
is left out of a conjunction, so the condition may match more rows than the filter, never fewer;
`exact_condition` is one that matches the same rows, so that the filter need not be evaluated.

| text | condition |
| --- | --- |
| `(a and b)`, `(a or b)` | AND of the recognized sides; OR if both are recognized |
| `(id > 5)`, `(5 < id)` | comparison of a column with a value |
| `(FieldRef.Nested(FieldRef.Name(r) FieldRef.Name(x)) > 5)` | the same with a field of a ROW |
| `is_null(id, …)`, `is_valid(id)` | IS NULL, IS NOT NULL |
| `is_in(id, {value_set=int64:[1, 2], …})` | IN |
| `if_else(is_valid(id), is_in(id, …), null[bool])` | IN, which is unknown for null |
| `invert(if_else(…))` of these | NOT IN |
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from io import RawIOBase
from typing import Any, NoReturn, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import PaimonError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.table.engine_scans.comparable_values import (
    Path,
    compared,
    field_at,
    kind_of,
    one_of,
    swapped,
)
from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed

_Rows = TypeVar("_Rows", pa.RecordBatch, pa.Table)
_FILE_BYTES = 1 << 10
"""Size of a file, large enough that Arrow reads from it."""


class _NoFile(RawIOBase):
    """The file of a dataset whose rows Arrow cannot read by itself.

    An error of `seek` or `tell`, which Arrow calls at once, would be kept with the frames of all
    callers, and so with the dataset itself, for the life of the process.
    """

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, *_position: int) -> int:
        return _FILE_BYTES

    def tell(self) -> int:
        return _FILE_BYTES

    def read(self, _size: int = -1) -> NoReturn:
        raise _refused("Arrow's own reading")


class ScanDataset(ds.UnionDataset):
    """A dataset of the rows of a scan, which are read when a scanner is consumed.

    Args:
        scan: the scan.
        where: a filter of all its scanners; None for no filter.
    """

    def __init__(self, scan: LazyScan, where: pc.Expression | None = None) -> None:
        form = ds.IpcFileFormat()
        part = form.make_fragment(_NoFile())  # type: ignore[arg-type]  # takes any file
        files = ds.FileSystemDataset([part], scan.schema, form)
        super().__init__(scan.schema, [files])  # type: ignore[call-arg]  # the stubs have none
        self._scan = scan
        self._where = where

    def __repr__(self) -> str:
        """Return the scan."""
        return f"ScanDataset of {self._scan!r}"

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self._scan.schema

    def scanner(  # type: ignore[override]  # the stubs leave out expressions
        self,
        columns: Sequence[str] | dict[str, pc.Expression] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002 - as in pyarrow
        batch_size: int | None = None,
        **options: Any,  # noqa: ANN401 - options of files, which a scan does not have
    ) -> "ds.Scanner | ScanScanner":
        """Return a scanner of some columns of the rows that match a filter.

        Args:
            columns: names, or expressions by name; None for all columns.
            filter: an expression over any columns.
            batch_size: maximum number of rows of a batch.
            options: with `use_threads` the scanner is one of Arrow, which can be read once.
        """
        if self._where is not None:
            filter = self._where if filter is None else self._where & filter  # noqa: A001
        if "use_threads" in options:
            rows = self._scanner(columns, filter, batch_size).to_reader()
            return ds.Scanner.from_batches(rows, use_threads=options["use_threads"])
        return self._scanner(columns, filter, batch_size)

    def _scanner(
        self,
        columns: Sequence[str] | dict[str, pc.Expression] | None,
        filter: pc.Expression | None,  # noqa: A002 - as in pyarrow
        batch_size: int | None,
    ) -> "ds.Scanner | ScanScanner":
        text = "" if filter is None else str(filter)
        exact = None if filter is None else self._exact(text)
        rest = filter if exact is None else None
        where = arrow_condition(text, self._scan.row_type) if rest is not None else exact
        if isinstance(columns, dict) or columns == []:
            read = narrowed(self._scan, self._read(columns, text), where)
            return ds.Scanner.from_batches(read.to_batches(), columns=columns, filter=filter)
        names = None if columns is None else list(columns)
        wanted = names if rest is None else self._read(columns, text)
        return ScanScanner(narrowed(self._scan, wanted, where), names, rest, batch_size)

    def _exact(self, text: str) -> Term | None:
        """The filter as a condition that the scan evaluates; None if it cannot."""
        where = exact_condition(text, self._scan.row_type)
        if where is None or self._scan.row_limit is not None:
            return None
        try:
            self._scan.filter(where)
        except PaimonError:  # a comparison that the binder does not know
            return None
        return where

    def count_rows(  # type: ignore[override]  # the stubs name each option
        self,
        filter: pc.Expression | None = None,  # noqa: A002 - as in pyarrow
        **options: Any,  # noqa: ANN401 - as in pyarrow
    ) -> int:
        """Return the number of rows that match a filter; without one, no column is read for it.

        Args:
            filter: an expression over any columns.
            options: those of `scanner`.
        """
        if filter is None and self._where is None:
            return self._scan.count()
        return self.scanner(self._scan.schema.names[:1], filter, **options).count_rows()

    def _read(
        self, columns: Sequence[str] | dict[str, pc.Expression] | None, text: str
    ) -> list[str] | None:
        """Return the columns that are read: those that the result or the filter may name."""
        if columns is None:
            return None
        if isinstance(columns, dict):
            text = " ".join([text, *map(str, columns.values())])
            columns = ()
        names = self._scan.schema.names
        return [name for name in names if name in columns or name in text] or names[:1]

    def filter(self, expression: pc.Expression) -> "ScanDataset":
        """Return a dataset of the rows that match another filter, too.

        Args:
            expression: an expression over any columns.
        """
        where = expression if self._where is None else self._where & expression
        return ScanDataset(self._scan, where)

    def sort_by(self, *by: Any, **options: Any) -> ds.Dataset:  # type: ignore[override]  # noqa: ANN401 - as in pyarrow
        """Read the rows, and return them sorted."""
        return ds.dataset(self.to_table().sort_by(*by, **options))

    def join(self, right_dataset: ds.Dataset, *by: Any, **options: Any) -> ds.Dataset:  # type: ignore[override]  # noqa: ANN401 - as in pyarrow
        """Read the rows and those of another dataset, and return them joined."""
        return ds.dataset(self.to_table().join(right_dataset.to_table(), *by, **options))

    def join_asof(self, right_dataset: ds.Dataset, *by: Any, **options: Any) -> ds.Dataset:  # type: ignore[override]  # noqa: ANN401 - as in pyarrow
        """Read the rows and those of another dataset, and return them joined by the next value."""
        return ds.dataset(self.to_table().join_asof(right_dataset.to_table(), *by, **options))

    def get_fragments(self, filter: pc.Expression | None = None) -> NoReturn:  # noqa: A002, ARG002
        """Refuse: the files of a table are not all plain files of rows.

        Raises:
            UnsupportedFeatureError: always.
        """
        raise _refused("using fragments")

    def replace_schema(self, schema: pa.Schema) -> NoReturn:  # noqa: ARG002
        """Refuse, as `get_fragments`."""
        raise _refused("choosing another schema")

    @property
    def partition_expression(self) -> NoReturn:
        """Refuse, as `get_fragments`."""
        raise _refused("choosing a partition expression")

    def __reduce__(self) -> NoReturn:
        """Refuse, as `get_fragments`."""
        raise _refused("pickling")


class ScanScanner:
    """Has the methods of a scanner of pyarrow; each of them reads the rows of a scan again.

    Args:
        scan: the rows.
        columns: the columns of the result; None for all of the scan.
        filter: evaluated by Arrow; None if the scan has just the wanted rows.
        batch_size: maximum number of rows of a batch; None for batches as they are read.
    """

    def __init__(
        self,
        scan: LazyScan,
        columns: list[str] | None,
        filter: pc.Expression | None,  # noqa: A002 - as in pyarrow
        batch_size: int | None,
    ) -> None:
        self._scan = scan
        self._columns = columns
        self._filter = filter
        self._batch_size = batch_size

    def __repr__(self) -> str:
        """Return the scan."""
        return f"ScanScanner of {self._scan!r}"

    @property
    def dataset_schema(self) -> pa.Schema:
        """The columns that are read."""
        return self._scan.schema

    @property
    def projected_schema(self) -> pa.Schema:
        """The columns of the result."""
        whole = self._scan.schema
        if self._columns is None:
            return whole
        return pa.schema([whole.field(name) for name in self._columns]).with_metadata(
            whole.metadata
        )

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the rows as a stream, in bounded memory."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._batches())

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self._batches()

    def to_table(self) -> pa.Table:
        """Return the rows."""
        if self._filter is None and self._batch_size is None:
            return self._selected(self._scan.to_arrow())
        return self.to_reader().read_all()

    def head(self, num_rows: int) -> pa.Table:
        """Return the first rows.

        Args:
            num_rows: how many.
        """
        found, missing = [], num_rows
        for batch in self._batches():
            found.append(batch.slice(0, missing))
            missing -= found[-1].num_rows
            if not missing:
                break
        return pa.Table.from_batches(found, self.projected_schema)

    def take(self, indices: object) -> pa.Table:
        """Return the rows at indices.

        Args:
            indices: the numbers of the rows.
        """
        return self.to_table().take(indices)  # type: ignore[arg-type]  # as in pyarrow

    def count_rows(self) -> int:
        """Return the number of rows."""
        if self._filter is None:
            return self._scan.count()
        return sum(batch.num_rows for batch in self._batches())

    def scan_batches(self) -> NoReturn:
        """Refuse, as the dataset has no fragments.

        Raises:
            UnsupportedFeatureError: always.
        """
        raise _refused("using fragments")

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._scan.to_batches():
            found = self._filtered(batch)
            size = self._batch_size or max(found.num_rows, 1)
            for start in range(0, found.num_rows, size):
                yield self._selected(found.slice(start, size))

    def _filtered(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._filter is None:
            return batch
        rows = pa.Table.from_batches([batch]).filter(self._filter).combine_chunks().to_batches()
        return rows[0] if rows else batch.slice(0, 0)

    def _selected(self, rows: _Rows) -> _Rows:
        if self._columns is None or rows.schema.names == self._columns:
            return rows
        return rows.select(self._columns)


def _refused(what: str) -> UnsupportedFeatureError:
    hint = "Pass the rows instead: dataset.to_table(), or dataset.scanner().to_reader()."
    return UnsupportedFeatureError(f"{what} of the dataset of a scan", hint=hint)


_NAME = re.compile(r"[A-Za-z_]\w*")
_NESTED = re.compile(
    r"FieldRef\.Nested\((?P<names>FieldRef\.Name\(\w+\)( FieldRef\.Name\(\w+\))*)\)"
)
_NESTED_NAME = re.compile(r"FieldRef\.Name\((\w+)\)")
_COMPARISON = re.compile(r"(?P<left>.+?) (?P<operator>==|!=|<=|>=|<|>) (?P<right>.+)", re.DOTALL)
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)", re.DOTALL)
_VALUES = re.compile(r"\{value_set=[^:]+:\[(?P<values>.*)\], .*\}", re.DOTALL)
_NULLS = ["{nan_is_null=false}"]
_MAX_TEXT = 80
"""Arrow shortens longer texts when it prints a list."""
_MAX_DEPTH = 200
"""Maximum number of conditions that are translated; Arrow nests them."""
_MAX_FRACTION = re.compile(r"\.\d{7}")
"""Digits of a second that Python's datetime would cut off."""
_PAIR = 2


def arrow_condition(text: str, row_type: RowType) -> Term | None:
    """Return a condition that holds for all rows that a filter accepts; None if there is none.

    Args:
        text: the text of a pyarrow.compute.Expression.
        row_type: the columns.

    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> row_type = parse_type_text("ROW<id INT, city STRING>")
    >>> arrow_condition('((id > 5) and starts_with(city, {pattern="O"}))', row_type)
    Term(id > 5)
    """
    return _Filter(row_type, is_exact=False).condition(text)


def exact_condition(text: str, row_type: RowType) -> Term | None:
    """Return a condition that holds for the rows that a filter accepts and no others.

    Args:
        text: the text of a pyarrow.compute.Expression.
        row_type: the columns.

    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> row_type = parse_type_text("ROW<id INT, city STRING>")
    >>> exact_condition('((id > 5) and (city == "Oslo"))', row_type)
    Term(id > 5 AND city = 'Oslo')
    >>> exact_condition('((id > 5) and starts_with(city, {pattern="O"}))', row_type)
    """
    return _Filter(row_type, is_exact=True).condition(text)


@dataclass(frozen=True, slots=True)
class _Filter:
    """Translates the parts of a filter.

    Attributes:
        row_type: the columns.
        is_exact: whether a part that is not recognized makes the whole not recognized.
    """

    row_type: RowType
    is_exact: bool

    def condition(self, text: str) -> Term | None:
        text = text.strip()
        if text.startswith("(" * _MAX_DEPTH):
            return None
        call = _CALL.fullmatch(text)
        if call is not None:
            return self._call(call["name"], _split(call["arguments"], ", "))
        if not (text.startswith("(") and _end(text) == len(text)):
            return None
        inner = text[1:-1]
        for word in (" and ", " or "):
            sides = _split(inner, word)
            if len(sides) == _PAIR:
                return self._both([self.condition(side) for side in sides], word)
        return self._comparison(inner)

    def _both(self, sides: list[Term | None], word: str) -> Term | None:
        known = [side for side in sides if side is not None]
        if len(known) == _PAIR:
            return known[0] & known[1] if word == " and " else known[0] | known[1]
        return known[0] if known and word == " and " and not self.is_exact else None

    def _call(self, name: str, arguments: list[str]) -> Term | None:
        first = arguments[0].strip()
        if name == "if_else" and len(arguments) == _PAIR + 1 and arguments[-1] == "null[bool]":
            member = self._member_or_null(first, arguments[1])
            return member if member is not None or self.is_exact else self.condition(arguments[1])
        if name == "invert" and len(arguments) == 1:
            return self._not_member(first)
        path = self._path(first)
        if path is None:
            return None
        if name == "is_null" and arguments[1:] == _NULLS:
            return col(*path).is_null()
        if name == "is_valid":
            return col(*path).is_not_null()
        return self._member(path, arguments[1:]) if name == "is_in" else None

    def _member_or_null(self, valid: str, text: str) -> Term | None:
        """IN, which is unknown for null: the value if `valid` says that it is not null."""
        call = _CALL.fullmatch(text.strip())
        arguments = [] if call is None else _split(call["arguments"], ", ")
        if call is None or call["name"] != "is_in" or valid != f"is_valid({arguments[0]})":
            return None
        return self._call("is_in", arguments)

    def _not_member(self, text: str) -> Term | None:
        call = _CALL.fullmatch(text)
        arguments = [] if call is None else _split(call["arguments"], ", ")
        if call is None or call["name"] != "if_else" or arguments[-1] != "null[bool]":
            return None
        found = self._member_or_null(arguments[0].strip(), arguments[1])
        return None if found is None else ~found

    def _member(self, path: Path, options: list[str]) -> Term | None:
        found = _VALUES.fullmatch(", ".join(options))
        if found is None:
            return None
        parts = [part.strip() for part in _split(found["values"], ",")]
        values = [_value(part, kind_of(self.row_type, path)) for part in parts]
        return None if None in values else one_of(self.row_type, path, values)

    def _comparison(self, text: str) -> Term | None:
        found = _COMPARISON.fullmatch(text)
        if found is None:
            return None
        left, operator, right = found["left"], found["operator"], found["right"]
        path = self._path(left)
        if path is None:
            path, operator, right = self._path(right), swapped(operator), left
        if path is None or self._path(right) is not None:
            return None
        value = _value(right, kind_of(self.row_type, path))
        return None if value is None else compared(self.row_type, path, operator, value)

    def _path(self, text: str) -> Path | None:
        """The column or nested field that a text names; None if there is none."""
        nested = _NESTED.fullmatch(text)
        if nested is None and not _NAME.fullmatch(text):
            return None
        path = (text,) if nested is None else tuple(_NESTED_NAME.findall(nested["names"]))
        return None if field_at(self.row_type, path) is None else path


def _value(text: str, kind: type | None) -> object:
    """Return the value that a text means in a column of a kind; None if that is not certain."""
    if kind is None or len(text) > _MAX_TEXT or "..." in text:
        return None
    with suppress(ValueError, ArithmeticError):
        found = _PARSERS[kind](text)
        return found if type(found) is kind else None
    return None


def _naive(text: str) -> object:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is None and not _MAX_FRACTION.search(text) else None


_PARSERS: Mapping[type, Callable[[str], object]] = {
    bool: {"true": True, "false": False}.get,
    str: json.loads,
    int: int,
    float: float,
    Decimal: Decimal,
    date: date.fromisoformat,
    datetime: _naive,
}
"""The value of a text by its Python type."""


def _split(text: str, separator: str) -> list[str]:
    """Split a text at a separator, outside of brackets and quotes."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        character = text[at]
        if character == '"':
            at = _after_quote(text, at)
            continue
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            at += len(separator)
            start = at
            continue
        at += 1
    return [*parts, text[start:]]


def _end(text: str) -> int:
    """Return the position after the bracket that closes the first one."""
    depth, at = 0, 0
    while at < len(text):
        if text[at] == '"':
            at = _after_quote(text, at)
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
        if depth == 0:
            return at
    return at


def _after_quote(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1
