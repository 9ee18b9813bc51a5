"""What the readers of data files share: the shape of an open file, and their errors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.data_types.definitions import DataType
from paimon_explore.errors import CorruptFileError, PaimonError, StorageError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import too_large


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """A top-level column to read.

    Attributes:
        name: in the file.
        type: in the file's schema; of a ROW only the members to read.
    """

    name: str
    type: DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a file that can be skipped: a Parquet row group or an ORC stripe.

    Attributes:
        first: position of its first row.
        rows: how many it has.
    """

    first: int
    rows: int


BATCH_BYTES = 4 << 20
"""About what a batch takes, decoded; fewer rows than asked for where rows are wide."""
WHOLE_FILE = (Span(first=0, rows=2**62),)
"""The spans of a format that has no parts and does not say how many rows it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanBounds:
    """What a file says about one column, per span.

    Attributes:
        minimum: lower bounds in the column's Arrow type, perhaps lower than the values; null where
            unknown or all is null.
        maximum: upper bounds, likewise.
        null_count: int64; null where unknown.
    """

    minimum: Column
    maximum: Column
    null_count: Column


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionedBatch:
    """Consecutive rows of a file.

    Attributes:
        first: position of the first row.
        rows: how many; kept apart because there may be no column.
        columns: one array per column asked for, each of `rows` values; texts perhaps as places in
            a dictionary of them, see `looked_up`.
    """

    first: int
    rows: int
    columns: tuple[Column, ...]


def looked_up(column: Column) -> Column:
    """The values of a column of a batch, of one that has places in a dictionary, too.

    That is best asked of the rows that are wanted in the end: places are quicker to choose from.
    """
    if isinstance(column, pa.DictionaryArray):
        return column.dictionary.take(column.indices)
    return column


class OpenDataFile(Protocol):
    """A data file whose footer has been read."""

    @property
    def names(self) -> frozenset[str]:
        """The top-level columns the file has."""
        ...

    @property
    def spans(self) -> Sequence[Span]:
        """The parts that can be skipped, in file order; together all rows, or `WHOLE_FILE`."""
        ...

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """The rows of some spans in file order.

        Args:
            columns: each in `names`; the batches hold them in this order, in `to_arrow(type)` or
                as places in a dictionary of that.
            spans: ascending indexes into `spans`.
            batch_rows: no batch is longer.
        """
        ...


@runtime_checkable
class Bounded(Protocol):
    """A data file that has statistics of its spans."""

    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Statistics of a column, if the file has any that can be used."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBounds:
    """What a file says about one column, per page.

    Attributes:
        firsts: position of the first row of each page, and the one behind the last page.
        bounds: of the pages.
    """

    firsts: Ints
    bounds: SpanBounds


class PagedRows(Protocol):
    """A span of which single pages can be decoded.

    All of it raises `PagesError` where the pages cannot be used: the span is then read as a whole.
    """

    @property
    def batch_rows(self) -> int:
        """How many rows of all wanted columns take so few bytes that they may be held."""
        ...

    def bounds(self, column: StoredColumn) -> PageBounds | None:
        """Statistics of a column's pages, if the file has any that can be used."""
        ...

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """How much of the span has to be decoded for some rows of a column, at most 1.

        Args:
            column: to read.
            rows: ascending positions in the file, all within the span; at least one.
        """
        ...

    def values(self, column: StoredColumn, rows: Ints) -> Column:
        """The values of a column at some rows, in `to_arrow(type)`; see `share`."""
        ...


class PagesError(ValueError):
    """What a file says of its pages does not add up, or cannot be used: read it as a whole."""


@runtime_checkable
class Paged(Protocol):
    """A data file of which single pages can be decoded."""

    def paged(self, columns: Sequence[StoredColumn], span: int) -> PagedRows | None:
        """A span by its pages; None where a span is so small that this cannot pay."""
        ...


@contextmanager
def decoding(path: str, what: str) -> Iterator[None]:
    """Turns what Arrow raises on broken bytes into a `CorruptFileError` about the file.

    Errors of the storage pass through: they say nothing about the bytes.
    """
    try:
        yield
    except PaimonError:
        raise
    except MemoryError as error:
        raise too_large(None, path, what, str(error) or "its content") from error
    except OSError as error:
        if error.errno is not None:
            raise StorageError("read", path, str(error)) from error
        raise CorruptFileError(path, what, str(error)) from error
    except (pa.ArrowException, ValueError) as error:
        raise CorruptFileError(path, what, str(error)) from error
