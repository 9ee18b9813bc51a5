"""What the lazy scans of other engines need of a `Scan`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self

import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import PaimonError

if TYPE_CHECKING:
    from paimon_explore.scan.predicate.builder import Term
    from paimon_explore.table.engine_scans.scan_part import ScanPart


class LazyScan(Protocol):
    """A scan that has not been run."""

    @property
    def row_limit(self) -> int | None:
        """The maximum number of rows, if there is one."""

    @property
    def row_type(self) -> RowType:
        """The columns in Paimon types."""

    @property
    def schema(self) -> pa.Schema:
        """The columns in Arrow types."""

    def select(self, *columns: str) -> Self:
        """Return a scan of some columns."""

    def filter(self, where: "Term") -> Self:
        """Return a scan of the rows that match."""

    def limit(self, rows: int) -> Self:
        """Return a scan of at most so many rows."""

    def count(self) -> int:
        """Return the number of rows."""

    def parts(self) -> "tuple[ScanPart, ...]":
        """Return parts of the rows that can be read independently."""

    def to_arrow(self) -> pa.Table:
        """Read the rows at once."""

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows."""


def narrowed(scan: LazyScan, columns: Sequence[str] | None, where: "Term | None") -> LazyScan:
    """Return a scan of some columns that skips files and rows that cannot match.

    Args:
        scan: the scan.
        columns: the columns; None for all.
        where: a condition that all wanted rows fulfil; the engine evaluates its own filter, too.
    """
    found = scan if columns is None else scan.select(*columns)
    if where is None or scan.row_limit is not None:  # the limit applies before the filter
        return found
    try:
        return found.filter(where)
    except PaimonError:  # a comparison that the binder does not know
        return found
