"""A scan as a source of a Daft DataFrame, which pushes columns, filters and limits into it.

Daft evaluates its filters on the rows that a task returns, too, so a task also returns the columns
that only a filter needs.
"""

from collections.abc import AsyncIterator, Sequence

import daft
import pyarrow as pa
from daft.io.pushdowns import Pushdowns
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import RecordBatch
from daft.schema import Schema

from paimon_explore.table.engine_scans.adapters.daft_filter import daft_condition
from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed
from paimon_explore.table.engine_scans.scan_part import ScanPart


class ScanSource(DataSource):  # type: ignore[misc]  # Daft may not be installed
    """A scan that is planned when a query runs.

    Args:
        scan: the scan.
    """

    def __init__(self, scan: LazyScan) -> None:
        self._scan = scan

    @property
    def name(self) -> str:
        """The name in Daft's plans."""
        return "Paimon"

    @property
    def schema(self) -> Schema:
        """The columns in Daft's types."""
        return Schema.from_pyarrow_schema(_daft_schema(self._scan.schema))

    async def get_tasks(self, pushdowns: Pushdowns) -> AsyncIterator[DataSourceTask]:
        """Yield a task for each part of the scan that a query needs.

        Args:
            pushdowns: the columns, filter and limit of the query.
        """
        filters = pushdowns.filters
        where = None if filters is None else daft_condition(filters, self._scan.row_type)
        found = narrowed(self._scan, self._columns(pushdowns), where)
        if pushdowns.limit is not None and filters is None:
            found = found.limit(pushdowns.limit)
        is_counted = pushdowns.columns is not None and not pushdowns.columns and filters is None
        for part in found.parts():
            yield PartTask(part, is_counted=is_counted)

    def _columns(self, pushdowns: Pushdowns) -> Sequence[str] | None:
        """The columns of the result and of the filter, in the order of the table."""
        if pushdowns.columns is None:
            return None
        wanted = {*pushdowns.columns, *pushdowns.filter_required_column_names()}
        names = self._scan.schema.names
        return [name for name in names if name in wanted] or names[:1]


class PartTask(DataSourceTask):  # type: ignore[misc]  # Daft may not be installed
    """The read of a part of a scan.

    Args:
        part: the part.
        is_counted: return rows without columns.
    """

    def __init__(self, part: ScanPart, *, is_counted: bool) -> None:
        self._part = part
        self._is_counted = is_counted

    @property
    def schema(self) -> Schema:
        """The columns in Daft's types."""
        columns = pa.schema([]) if self._is_counted else _daft_schema(self._part.schema)
        return Schema.from_pyarrow_schema(columns)

    async def read(self) -> AsyncIterator[RecordBatch]:
        """Yield the rows."""
        schema = _daft_schema(self._part.schema)
        for batch in self._part.to_batches():
            found = RecordBatch.from_arrow_record_batches([batch.cast(schema)], schema)
            yield found.eval_expression_list([]) if self._is_counted else found


def daft_frame(scan: LazyScan) -> "daft.DataFrame":
    """Return a DataFrame that reads a scan when it is collected."""
    return ScanSource(scan).read()


def _daft_schema(schema: pa.Schema) -> pa.Schema:
    """The columns, with the only type of times of day that Daft has: microseconds."""
    fields = [
        field.with_type(pa.time64("us")) if pa.types.is_time32(field.type) else field
        for field in schema
    ]
    return pa.schema(fields)
