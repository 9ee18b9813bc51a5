"""Create the writer of a file format."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import UnsupportedFeatureError, choices
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.formats.orc_format import OrcWriter
from paimon_explore.write.formats.parquet_format import ParquetWriter
from paimon_explore.write.formats.text_format import TextWriter

if TYPE_CHECKING:
    from paimon_explore.write.formats.shredded_parquet import ShreddedParquetWriter
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.avro.writer import AvroWriter, avro_schema
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.row_format.row_file import DEFAULT_BLOCK_BYTES, RowFileWriter
from paimon_explore.errors import needs_extra
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.write.formats.output_sink import chosen_codec

# Spec: concepts/spec/fileformat, Avro section. Seen in: golden java200/all_types_append_avro.
_CODECS: Mapping[str, str] = {
    "zstd": "zstandard",
    "zstandard": "zstandard",
    "snappy": "snappy",
    "deflate": "deflate",
    "gzip": "deflate",
    "bzip2": "bzip2",
    "xz": "xz",
    "none": "null",
    "null": "null",
    "uncompressed": "null",
}


class FormatWriter(Protocol):
    """Writes one file of one format."""

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per column, in `to_arrow` of its type."""

    def position(self) -> int:
        """Return the number of bytes written."""

    def close(self) -> None:
        """Write the footer; the sink is not closed."""

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""


def open_format(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    """Create the writer of a layout's file format.

    Raises:
        UnsupportedFeatureError: the format cannot be written, or does not support a column's type,
            or its optional package is not installed.
    """
    opener = _OPENERS.get(layout.format)
    if opener is None:
        raise UnsupportedFeatureError(
            f"writing {layout.format} files", hint=f"Set file.format to one of {choices(_OPENERS)}."
        )
    with needs_extra(layout.format, f"writing {layout.format} files"):
        return opener(sink, layout)


def _parquet(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    options = layout.options
    infers = options.value(opt.VARIANT_INFER_SHREDDING_SCHEMA)
    if not (layout.shredded_variants or infers):
        return _parquet_of(sink, layout, layout.fields)
    from paimon_explore.encoding.variant.shredding_inference import (  # noqa: PLC0415 - rare
        InferenceLimits,
        has_variants,
    )
    from paimon_explore.write.formats.shredded_variants import (  # noqa: PLC0415 - rare
        InferredVariantWriter,
        ShreddedVariantWriter,
    )

    open_file = partial(_parquet_of, sink, layout)
    if options.has(opt.VARIANT_SHREDDING_SCHEMA):
        return ShreddedVariantWriter(layout.fields, layout.shredded_variants, open_file)
    if not any(has_variants(field.type) for field in layout.fields):
        return open_file(layout.fields)
    limits = InferenceLimits(
        width=options.value(opt.VARIANT_MAX_SCHEMA_WIDTH),
        depth=options.value(opt.VARIANT_MAX_SCHEMA_DEPTH),
        ratio=options.value(opt.VARIANT_MIN_FIELD_CARDINALITY_RATIO),
    )
    rows = options.value(opt.VARIANT_MAX_INFER_BUFFER_ROW)
    return InferredVariantWriter(layout.fields, limits, rows, open_file)


def _parquet_of(
    sink: pa.NativeFile, layout: FileLayout, fields: Sequence[DataField]
) -> "ParquetWriter | ShreddedParquetWriter":
    if layout.shredded_maps:
        from paimon_explore.write.formats.shredded_parquet import (  # noqa: PLC0415 - rare
            ShreddedParquetWriter,
        )

        return ShreddedParquetWriter(
            sink,
            fields,
            max_columns=layout.shredded_maps,
            compression=layout.compression,
            zstd_level=layout.zstd_level,
        )
    return ParquetWriter(
        sink,
        fields,
        compression=layout.compression,
        zstd_level=layout.zstd_level,
        adaptive=not layout.has_chosen_compression,
    )


def _orc(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    return OrcWriter(
        sink, layout.fields, compression=layout.compression, stripe_bytes=layout.group_bytes
    )


def _avro(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    schema = avro_schema(arrow_schema(RowType(fields=tuple(layout.fields))))
    codec = chosen_codec(_CODECS, layout.compression, "Avro")
    return EncodedWriter(AvroWriter(sink.write, schema, codec))


# Spec: none yet (release 2.0). Seen in: golden java200/append_row_format.
def _row(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    """Create the writer of a row file, which is always compressed with Zstandard."""
    writer = RowFileWriter(
        sink.write,
        [StoredColumn(name=field.name, type=field.type) for field in layout.fields],
        block_bytes=layout.options.value(opt.FILE_BLOCK_SIZE) or DEFAULT_BLOCK_BYTES,
        level=layout.zstd_level,
    )
    return EncodedWriter(writer)


def _lance(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    from paimon_explore.write.formats.lance_format import LanceWriter  # noqa: PLC0415 - optional

    return LanceWriter(sink, layout)


def _vortex(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    from paimon_explore.write.formats.vortex_format import VortexWriter  # noqa: PLC0415 - optional

    return VortexWriter(sink, layout)


def _mosaic(sink: pa.NativeFile, layout: FileLayout) -> FormatWriter:
    from paimon_explore.write.formats.mosaic_format import MosaicWriter  # noqa: PLC0415 - optional

    return MosaicWriter(sink, layout)


_OPENERS: Mapping[str, Callable[[pa.NativeFile, FileLayout], FormatWriter]] = {
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
    "csv": TextWriter,
    "json": TextWriter,
    "text": TextWriter,
    "row": _row,
    "lance": _lance,
    "vortex": _vortex,
    "mosaic": _mosaic,
}


class EncodedWriter:
    """Writes one file by an encoder that counts its bytes.

    Args:
        writer: writes to the sink; it is not closed.
    """

    def __init__(self, writer: RowFileWriter | AvroWriter) -> None:
        self._writer = writer

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        self._writer.write(columns)

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._writer.size

    def close(self) -> None:
        """Write the last block, and what follows it."""
        self._writer.close()

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
