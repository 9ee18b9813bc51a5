"""Parquet files whose MAP columns have the storage layout `shared-shredding`.

The dictionary of the keys is complete when the file is closed. It is in the metadata of the column
in the Arrow schema in the footer.

Spec: option `fields.<column>.map.storage-layout`, release 2.0. Seen in: files of Java 2.0.0.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, empty_array
from paimon_explore.data_types.definitions import DataField, MapType
from paimon_explore.encoding.shared_shredding import (
    ARROW_SCHEMA,
    SharedShreddingEncoder,
    column_count,
)
from paimon_explore.write.formats.parquet_format import ParquetWriter


class ShreddedParquetWriter:
    """Writes one Parquet file with shredded maps.

    Args:
        sink: receives the bytes; it is not closed.
        fields: the columns with their ids.
        max_columns: maximum number of physical columns of each shredded map.
        compression: the codec, as in `file.compression`.
        zstd_level: compression level of zstd.
    """

    def __init__(
        self,
        sink: pa.NativeFile,
        fields: Sequence[DataField],
        *,
        max_columns: Mapping[str, int],
        compression: str,
        zstd_level: int = 1,
    ) -> None:
        self._sink = sink
        self._fields = tuple(fields)
        self._max_columns = max_columns
        self._compression = compression
        self._zstd_level = zstd_level
        self._encoders: dict[int, SharedShreddingEncoder] = {}
        self._writer: ParquetWriter | None = None

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows as one row group: one array per field, in `to_arrow` of its type."""
        writer = self._writer or self._open(columns)
        encoders = self._encoders
        writer.write([encoders[i].encode(c) if i in encoders else c for i, c in enumerate(columns)])

    def _open(self, columns: Sequence[Column]) -> ParquetWriter:
        """Choose the physical columns by the first rows."""
        physical = list(self._fields)
        for i, field in enumerate(self._fields):
            if field.name in self._max_columns and isinstance(field.type, MapType):
                count = column_count(columns[i], self._max_columns[field.name])
                encoder = SharedShreddingEncoder(field.type, count)
                physical[i] = replace(field, type=encoder.physical_type)
                self._encoders[i] = encoder
        self._writer = ParquetWriter(
            self._sink, physical, compression=self._compression, zstd_level=self._zstd_level
        )
        return self._writer

    def position(self) -> int:
        """Return the number of bytes written."""
        return 0 if self._writer is None else self._writer.position()

    def close(self) -> None:
        """Write the footer."""
        writer = self._writer or self._open([empty_array(to_arrow(f.type)) for f in self._fields])
        schema = writer.schema
        for i, encoder in self._encoders.items():
            field = schema.field(i)
            metadata = {**(field.metadata or {}), **encoder.metadata()}
            schema = schema.set(i, field.with_metadata(metadata))  # type: ignore[arg-type]  # in stubs
        text = base64.b64encode(schema.serialize().to_pybytes())
        writer.close({ARROW_SCHEMA.decode(): text.decode()})

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
        if self._writer is not None:
            self._writer.abort()
