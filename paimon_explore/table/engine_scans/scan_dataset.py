"""A scan as a pyarrow dataset, into which DuckDB and others push columns and filters.

DuckDB pushes projections and filters into objects of the class `pyarrow.dataset.Dataset` only: it
calls `scanner(columns=…, filter=…)` and reads the result once, as a stream. A filter that is
recognized as a whole is evaluated by the scan; another one by Arrow, and the scan skips the files,
row groups and rows that its recognized part excludes.

The scanners are no Arrow scanners, which read ahead in threads of their own, past the end of a
query that has enough rows and of the process.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from paimon_explore.errors import PaimonError, UnsupportedFeatureError
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.table.engine_scans.arrow_filter import arrow_condition, exact_condition
from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed

_Rows = TypeVar("_Rows", pa.RecordBatch, pa.Table)


class ScanDataset(ds.Dataset):
    """A dataset of the rows of a scan, which are read when a scanner is consumed.

    Args:
        scan: the scan.
    """

    def __init__(self, scan: LazyScan) -> None:
        self._scan = scan

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
        **_options: Any,  # noqa: ANN401 - options of files, which a scan does not have
    ) -> ds.Scanner:
        """Return a scanner of some columns of the rows that match a filter.

        Args:
            columns: names, or expressions by name; None for all columns.
            filter: an expression over any columns.
            batch_size: maximum number of rows of a batch.
        """
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
        if filter is None:
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

    def get_fragments(self, filter: pc.Expression | None = None) -> NoReturn:  # noqa: A002, ARG002
        """Refuse: the files of a table are not all plain files of rows.

        Raises:
            UnsupportedFeatureError: always.
        """
        raise _refused("fragments")

    def replace_schema(self, schema: pa.Schema) -> NoReturn:  # noqa: ARG002
        """Refuse, as `get_fragments`."""
        raise _refused("another schema")

    @property
    def partition_expression(self) -> NoReturn:
        """Refuse, as `get_fragments`."""
        raise _refused("a partition expression")

    def __reduce__(self) -> NoReturn:
        """Refuse, as `get_fragments`."""
        raise _refused("pickling")


class ScanScanner(ds.Scanner):
    """A scanner of the rows of a scan; each of its methods reads them again.

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
        raise _refused("fragments")

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
    return UnsupportedFeatureError(f"{what} of the dataset of a scan", hint="Use scanner().")
