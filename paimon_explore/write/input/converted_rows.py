"""Input rows that are converted to a table's types with a cast policy before they are written."""

from collections.abc import Iterator

import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.input.arrow_cast import conform
from paimon_explore.write.input.arrow_stream import batches_of
from paimon_explore.write.input.cast_policy import CastPolicy, casting
from paimon_explore.write.input.table_batches import Rows


def converted_rows(data: Rows, row_type: RowType, policy: CastPolicy) -> Rows:
    """Return rows whose columns have the types of the table.

    Args:
        data: the rows.
        row_type: the table's columns; other columns are passed on unchanged.
        policy: how values are converted; an error names column, row and value.
    """
    if policy is CastPolicy.SAFE:
        return data  # the writers cast in this way
    return ConvertedRows(data=data, row_type=row_type, policy=policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedRows:
    """Rows that are converted when they are iterated over.

    Attributes:
        data: the rows.
        row_type: the table's columns.
        policy: how values are converted.
    """

    data: Rows
    row_type: RowType
    policy: CastPolicy

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the converted batches."""
        batches = batches_of(self.data, self.row_type, lambda _: None)
        first_row = 0
        while True:
            with casting(self.policy):
                batch = next(batches, None)
                if batch is None:
                    return
                made = self._converted(batch, first_row)
            first_row += batch.num_rows
            yield made

    def _converted(self, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
        columns = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            known = self.row_type.field(name)
            columns.append(
                column
                if known is None
                else conform(column, known.type, where=name, first_row=first_row)
            )
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
