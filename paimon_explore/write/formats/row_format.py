"""Row files (`.row`), for lookups of whole rows.

Spec: none yet (release 2.0). Seen in: golden java200/append_row_format.
"""

from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.row_format.row_file import DEFAULT_BLOCK_BYTES, RowFileWriter
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.write.file_layout import FileLayout


class RowWriter:
    """Writes one row file; always compressed with Zstandard.

    Args:
        sink: receives the bytes; it is not closed.
        layout: the columns, and the size of blocks.
    """

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        self._writer = RowFileWriter(
            sink.write,
            [StoredColumn(name=field.name, type=field.type) for field in layout.fields],
            block_bytes=layout.options.value(opt.FILE_BLOCK_SIZE) or DEFAULT_BLOCK_BYTES,
            level=layout.zstd_level,
        )

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        self._writer.add(columns, len(columns[0]))

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._writer.size

    def close(self) -> None:
        """Write the last block, the index and the footer."""
        self._writer.finish()

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
