"""A table as a pyarrow dataset: DuckDB passes columns and filters of a query to its scanner."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from paimon_explore.command_line.sql.filter_translation import (
    mentioned_columns,
    pushed_predicates,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.scan import Scan


class TableDataset(ds.Dataset):
    """The rows of a scan as a dataset.

    DuckDB recognizes subclasses of pyarrow's class, and calls `schema` and `scanner`.

    Args:
        scan: the table at a snapshot, with all columns.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table."""
        return self._scan.schema

    def scanner(  # type: ignore[override]  # what DuckDB needs of a scanner
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's name
        **options: Any,  # noqa: ANN401 - of pyarrow: batch sizes and the like
    ) -> "TableScanner":
        """Return a read of some columns and rows."""
        del options
        wanted = list(self.schema.names if columns is None else columns)
        return TableScanner(self._scan, wanted, filter)


class TableScanner:
    """A read of a table that applies a filter of pyarrow."""

    def __init__(self, scan: Scan, columns: list[str], condition: pc.Expression | None) -> None:
        self._condition = condition
        self._columns = columns
        text = "" if condition is None else str(condition)
        for predicate in pushed_predicates(text, scan.schema) if text else ():
            scan = _filtered(scan, predicate)
        needed = [*columns, *mentioned_columns(text, scan.schema)] if text else columns
        self.scan = scan.select(list(dict.fromkeys(needed)) or scan.schema.names[:1])

    @property
    def projected_schema(self) -> pa.Schema:
        """The columns of the result."""
        schema = self.scan.schema
        return pa.schema([schema.field(name) for name in self._columns])

    def to_reader(self) -> pa.RecordBatchReader:
        """Read the rows."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.scan.to_batches():
            rows = pa.Table.from_batches([batch])
            kept = rows if self._condition is None else rows.filter(self._condition)
            yield from kept.select(self._columns).to_batches()


def _filtered(scan: Scan, predicate: Any) -> Scan:  # noqa: ANN401 - whatever `filter` takes
    try:
        return scan.filter(predicate)
    except InvalidInputError:  # a literal that does not fit; pyarrow's filter decides
        return scan
