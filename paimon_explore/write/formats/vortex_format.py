"""Vortex files, by the optional package `vortex-data`.

The library pulls its input and writes to the local disk. The rows are collected in a temporary
Arrow file; when the file is closed, they are encoded to a second temporary file, which is copied to
the sink.

Spec: concepts/spec/fileformat, Vortex section.
"""

from collections.abc import Sequence

import pyarrow as pa
import vortex

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.native_libraries import aligned
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.formats.output_sink import TemporaryLocalFile

_EDITION = "core2025.10.0"
"""The encodings that may be used; those of later editions are unknown to the `vortex-data` 0.70
that pypaimon 2.1 needs."""


class VortexWriter:
    """Writes one Vortex file.

    Args:
        sink: receives the bytes when the file is closed; it is not closed.
        layout: the columns.
    """

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        self._sink = sink
        self._schema = arrow_schema(RowType(fields=layout.fields))
        self._rows = TemporaryLocalFile(".arrow")
        self._file = pa.OSFile(self._rows.path, "wb")
        self._writer = pa.ipc.new_stream(self._file, self._schema)
        self._size: int | None = None

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        self._writer.write_batch(pa.RecordBatch.from_arrays(list(columns), schema=self._schema))

    def position(self) -> int:
        """Return the size of the file; until it is closed, that of its rows."""
        return self._file.tell() if self._size is None else self._size

    def close(self) -> None:
        """Encode the rows and write the file."""
        encoded = TemporaryLocalFile(".vortex")
        try:
            self._writer.close()
            self._file.close()
            with pa.OSFile(self._rows.path, "rb") as rows, pa.ipc.open_stream(rows) as reader:
                batches = (_aligned_batch(batch) for batch in reader)
                pulled = pa.RecordBatchReader.from_batches(self._schema, batches)
                vortex.io.write(pulled, encoded.path, edition=_EDITION)
            self._size = encoded.copy_to(self._sink)
        finally:
            self._rows.remove()
            encoded.remove()

    def abort(self) -> None:
        """Discard the rows."""
        self._file.close()
        self._rows.remove()


def _aligned_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [aligned(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
