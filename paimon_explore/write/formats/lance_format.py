"""Lance files, by the optional package `pylance`.

The library writes to a path; the file is made in a temporary one, which is copied to the sink when
it is closed.

Spec: concepts/spec/fileformat, Lance section.
"""

from collections.abc import Sequence

import lance.file
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import RowType
from paimon_explore.data_types.traversal import parts
from paimon_explore.encoding.native_libraries import aligned
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.formats.output_sink import TemporaryLocalFile

_PLAIN, _WITH_NULL_ROWS = "2.0", "2.1"
"""Version 2.0 is read by all releases; it cannot store ROW values that are null."""


class LanceWriter:
    """Writes one Lance file.

    Args:
        sink: receives the bytes when the file is closed; it is not closed.
        layout: the columns.

    Raises:
        UnsupportedFeatureError: the name of a column contains a dot.
    """

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        for field in layout.fields:
            if "." in field.name:
                raise UnsupportedFeatureError(
                    "a dot in the name of a column of a Lance file",
                    f"column {field.name!r}",
                    hint="Rename the column, or set file.format to another format.",
                )
        nested = [part for field in layout.fields for part in parts(field.type)]
        has_rows = any(isinstance(part, RowType) for part in nested)
        self._sink = sink
        self._schema = arrow_schema(RowType(fields=layout.fields))
        self._file = TemporaryLocalFile(".lance")
        self._writer = lance.file.LanceFileWriter(
            self._file.path, self._schema, version=_WITH_NULL_ROWS if has_rows else _PLAIN
        )
        self._size = 0

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        arrays = [aligned(column) for column in columns]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        self._writer.write_batch(batch)
        self._size += batch.nbytes

    def position(self) -> int:
        """Return the size of the file; until it is closed, that of its rows in memory."""
        return self._size

    def close(self) -> None:
        """Write the footer, and all bytes to the sink."""
        try:
            self._writer.close()
            self._size = self._file.copy_to(self._sink)
        finally:
            self._file.remove()

    def abort(self) -> None:
        """Discard the file."""
        self._file.remove()
