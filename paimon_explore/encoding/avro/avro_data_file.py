"""Reader of Avro data files."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.encoding.avro.container import read_blocks, read_header
from paimon_explore.encoding.avro.reader import field_names, read_avro
from paimon_explore.encoding.data_file_reader import (
    WHOLE_FILE,
    PositionedBatch,
    Span,
    StoredColumn,
    decoding,
)
from paimon_explore.encoding.positional_batches import rows_without_columns, sliced


class AvroDataFile:
    """An Avro file in memory; see `OpenDataFile`."""

    spans = WHOLE_FILE

    def __init__(self, data: bytes, path: str) -> None:
        self._data = data
        self._path = path
        with decoding(path, "Avro file"):
            self.names = frozenset(field_names(data, path))

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield all rows; see `OpenDataFile`."""
        if not spans:
            return
        if not columns:
            rows = sum(block.count for block in read_blocks(self._data, read_header(self._data)))
            yield from rows_without_columns([Span(first=0, rows=rows)], batch_rows)
            return
        wanted = pa.schema([pa.field(column.name, to_arrow(column.type)) for column in columns])
        first = 0
        for batch in read_avro(self._data, wanted, self._path):
            yield from sliced(batch.columns, first, batch.num_rows, batch_rows)
            first += batch.num_rows
