"""Protocol of data file readers, and translation of decoding errors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    as_buffer,
    take_column,
    used_bytes,
    var_values,
)
from paimon_explore.data_types.definitions import DataType
from paimon_explore.errors import CorruptFileError, PaimonError, StorageError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import too_large, undecodable

if TYPE_CHECKING:
    from paimon_explore.encoding.file_index.index_condition import Condition
    from paimon_explore.encoding.variant.paths import VariantPath


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """A top-level column to read.

    Attributes:
        name: its name in the file.
        type: its type in the file's schema; a ROW has only the fields to read.
        paths: of a VARIANT of which only the values at these paths are needed: a format that
            stores them separately omits the others. Empty if the whole values are needed.
    """

    name: str
    type: DataType
    paths: "tuple[VariantPath, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a file that can be skipped: a Parquet row group, ORC stripe or `.row` block.

    Attributes:
        first: position of its first row.
        rows: number of rows.
    """

    first: int
    rows: int


_MAX_OFFSET = 2**31 - 1
BATCH_BYTES = 4 << 20
"""Target size of a decoded batch; batches of wide rows have fewer rows than requested."""
MAX_DECODED_SHARE = 0.5
"""Share of the rows of a span above which it is decoded as a whole."""
_PAGE_ROWS = 20_000
"""Maximum rows per page of writers that limit pages by rows."""
WHOLE_FILE = (Span(first=0, rows=2**62),)
"""Spans of a format without parts whose number of rows is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanBounds:
    """Statistics of a column per span.

    Attributes:
        minimum: lower bounds in the column's Arrow type, not necessarily tight; null if unknown or
            if all values are null.
        maximum: upper bounds, likewise.
        null_count: int64; null if unknown.
    """

    minimum: Column
    maximum: Column
    null_count: Column


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionedBatch:
    """Consecutive rows of a file.

    Attributes:
        first: position of the first row.
        rows: number of rows, also without columns.
        columns: one array per requested column, each of `rows` values; strings may be dictionary
            encoded, see `decode_dictionary`.
    """

    first: int
    rows: int
    columns: tuple[Column, ...]


def decode_dictionary(column: Column) -> Column:
    """Decode a column if it is dictionary encoded.

    Decode after filtering: dictionary indices are cheaper to filter than values.
    """
    if not isinstance(column, pa.DictionaryArray):
        return column
    values, indices = column.dictionary, column.indices
    is_text = pa.types.is_string(values.type) or pa.types.is_binary(values.type)
    if is_text and not values.null_count and not indices.null_count:
        sizes = np.diff(var_values(values)[0])
        size = int(sizes[0]) if len(sizes) else 0
        if 0 < size * len(indices) <= _MAX_OFFSET and (sizes == size).all():
            return _take_fixed(values, indices, size)
    return take_column(values, indices)


def _take_fixed(values: Column, indices: Column, size: int) -> Column:
    """Take strings or bytes of `size` bytes each, as fixed-size values: twice as fast."""
    data = as_buffer(used_bytes(values))
    whole = pa.Array.from_buffers(pa.binary(size), len(values), [None, data])
    fixed = take_column(whole, indices)
    offsets = as_buffer(np.arange(0, (len(fixed) + 1) * size, size, dtype=np.int32))
    return pa.Array.from_buffers(values.type, len(fixed), [None, offsets, fixed.buffers()[1]])


class OpenDataFile(Protocol):
    """A data file whose footer has been read."""

    @property
    def names(self) -> frozenset[str]:
        """Names of the top-level columns."""

    @property
    def spans(self) -> Sequence[Span]:
        """The parts that can be skipped, in file order; they cover all rows."""

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of spans in file order.

        Args:
            columns: each in `names`; the batches have them in this order, in `to_arrow(type)` or
                dictionary encoded.
            spans: ascending indexes into `spans`.
            batch_rows: maximum number of rows of a batch.
        """


class Bounded(ABC):
    """A data file with statistics of its spans."""

    @abstractmethod
    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Return the statistics of a column; None if there are no usable ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBounds:
    """Statistics of a column per page.

    Attributes:
        firsts: position of the first row of each page, and the end of the last page.
        bounds: statistics of the pages.
    """

    firsts: Ints
    bounds: SpanBounds


Choice = Sequence[tuple[StoredColumn, "Condition"]]
"""Comparisons of columns, at least one of which must be true."""


class Filtering(ABC):
    """A data file whose library evaluates comparisons itself."""

    @abstractmethod
    def match_finder(self, choices: Sequence[Choice]) -> Callable[[int], bool] | None:
        """Return a function that tells of the index of a span whether a row fulfils all choices.

        None if the file is too small to benefit, or has columns of other types.

        Args:
            choices: at least one, of columns of integers, strings, booleans and dates.
        """


class PagedRows(Protocol):
    """A span whose pages can be decoded individually.

    All methods raise `PagesError` if the pages cannot be used; the whole span must then be read.
    """

    @property
    def batch_rows(self) -> int:
        """Number of rows of all wanted columns that fit into a batch."""

    @property
    def page_rows(self) -> int | None:
        """Number of rows of all pages; None if it is not known before pages are looked at."""

    @property
    def distinct(self) -> frozenset[str] | None:
        """Columns of which a value probably occurs in few rows; None if the span is large.

        To read the predicate's columns of a small span first pays off for few rows only.
        """

    def bounds(self, column: StoredColumn) -> PageBounds | None:
        """Return the statistics of a column's pages; None if there are no usable ones."""

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """Return the fraction of the span, at most 1, to decode for some rows of a column.

        Args:
            column: the column to read.
            rows: ascending positions in the file, all within the span; at least one.
        """

    def values(self, columns: Sequence[StoredColumn], rows: Ints) -> tuple[Column, ...]:
        """Read the values of columns at some rows, in `to_arrow(type)`; see `share`."""


@dataclass(frozen=True, slots=True)
class WholeColumns:
    """A span of which columns are decoded as a whole, one after the other; see `PagedRows`."""

    batch_rows: int
    distinct: frozenset[str]
    page_rows: None = None

    def bounds(self, column: StoredColumn) -> None:
        """Return None: pages are not looked at."""
        del column

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """See `PagedRows`."""
        del column, rows
        return 1.0

    def values(self, columns: Sequence[StoredColumn], rows: Ints) -> tuple[Column, ...]:
        """Raise `PagesError`."""
        del columns, rows
        raise PagesError("the span is too small for reads of pages")


class PagesError(ValueError):
    """Page metadata is inconsistent or unusable; the whole span must be read."""


class Paged(ABC):
    """A data file whose pages can be decoded individually."""

    @abstractmethod
    def paged(self, columns: Sequence[StoredColumn], span: int) -> PagedRows | None:
        """Return the pages of a span; None if the span is too small to benefit."""


@contextmanager
def decoding(path: str, what: str) -> Iterator[None]:
    """Translate Arrow's errors on malformed bytes to a `CorruptFileError` of the file.

    Errors of the storage are not corruption and become a `StorageError`.
    """
    try:
        yield
    except PaimonError:
        raise
    except MemoryError as error:
        raise too_large(None, path, what, undecodable(error)) from error
    except OSError as error:
        if error.errno is not None:
            raise StorageError("read", path, str(error)) from error
        raise CorruptFileError(path, what, str(error)) from error
    except (pa.ArrowException, ValueError) as error:
        raise CorruptFileError(path, what, str(error)) from error


def are_on_few_pages(
    pages: PagedRows, columns: Sequence[StoredColumn], span: Span, rows: Ints, otherwise: int
) -> bool:
    """Whether some rows of a span are on so few pages that it pays off to read these alone.

    Args:
        pages: of the span.
        columns: to read; never worth it without any.
        span: the span.
        rows: positions in the file, ascending.
        otherwise: the number of rows that are decoded if pages are not used.
    """
    size = pages.page_rows or _PAGE_ROWS
    edges = np.arange(span.first, span.first + span.rows, size)
    counts = np.diff(np.searchsorted(rows, edges), append=len(rows))
    decoded = np.count_nonzero(counts) * size
    if not columns or decoded > max(otherwise * MAX_DECODED_SHARE, size):
        return False
    try:
        shares = [pages.share(column, rows) for column in columns]
    except PagesError:
        return False
    return sum(shares) * span.rows < MAX_DECODED_SHARE * otherwise * len(shares)
