"""Mosaic files, by the optional package `paimon-mosaic`.

Mosaic has no unit of seconds: TIMESTAMP(0) is stored in milliseconds.

Spec: concepts/spec/fileformat, Mosaic section.
"""

from collections.abc import Mapping, Sequence

import mosaic
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.native_libraries import aligned
from paimon_explore.metadata.options import format_options
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.formats.output_sink import ErrorHoldingSink, chosen_codec

_CODECS: Mapping[str, int] = {
    "zstd": mosaic.WriterOptions.COMPRESSION_ZSTD,
    "none": mosaic.WriterOptions.COMPRESSION_NONE,
    "uncompressed": mosaic.WriterOptions.COMPRESSION_NONE,
}


class _MosaicSink(ErrorHoldingSink):
    """A sink for a library that passes its own memory and ignores why a write failed."""

    is_open = True

    def write(self, data: bytes) -> int:
        """Forward a copy of the bytes; none after an abort."""
        return super().write(bytes(data)) if self.is_open else len(data)


class MosaicWriter:
    """Writes one Mosaic file.

    Args:
        sink: receives the bytes; it is not closed.
        layout: the columns, compression and size of row groups.

    Raises:
        InvalidInputError: the compression is neither zstd nor none.
    """

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        codec = chosen_codec(_CODECS, layout.compression, "Mosaic")
        self._schema = pa.schema([_stored(arrow_field(field)) for field in layout.fields])
        self._output = _MosaicSink(sink)
        names = {field.name for field in layout.fields}
        chosen = layout.options.value(format_options.MOSAIC_STATS_COLUMNS)
        options = mosaic.WriterOptions(
            compression=codec,
            zstd_level=layout.zstd_level,
            num_buckets=layout.options.value(format_options.MOSAIC_NUM_BUCKETS),
            stats_columns=[name for name in chosen if name in names],
        )
        size = layout.options.value(opt.FILE_BLOCK_SIZE)
        if size is not None:
            options.row_group_max_size = size
        self._writer = mosaic.MosaicWriter(self._output, self._schema, options)
        self._closed = False

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        arrays = [
            aligned(column if column.type == field.type else column.cast(field.type))
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._output.check()

    def position(self) -> int:
        """Return the number of bytes written; until the file is closed, an estimate."""
        return self._output.tell() if self._closed else int(self._writer.estimated_file_size())

    def close(self) -> None:
        """Write the last row group and the footer."""
        self._writer.close()
        self._output.check()
        self._closed = True

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
        self._output.is_open = False


def _stored(field: "pa.Field[pa.DataType]") -> "pa.Field[pa.DataType]":
    """Return a field as it is stored: seconds become milliseconds."""
    kind = field.type
    if isinstance(kind, pa.TimestampType) and kind.unit == "s":
        return field.with_type(pa.timestamp("ms", kind.tz))
    return field
