"""Reads and writes manifests in ORC and Parquet format.

Up to Paimon 2.0 the table option `manifest.format` selects the format, and Java then reads only
that format.
"""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from paimon_explore.data_types.arrow_buffers import Column, build_struct, valid_mask
from paimon_explore.encoding.orc.timestamp_fixes import provide_time_zones
from paimon_explore.errors import CorruptFileError, InvalidInputError, choices

provide_time_zones()
_ORC_MAGIC = b"ORC"
_PARQUET_MAGIC = b"PAR1"

ORC_COMPRESSIONS: Mapping[str, str] = {
    "null": "uncompressed",
    "deflate": "zlib",
    "snappy": "snappy",
    "zstandard": "zstd",
}
PARQUET_COMPRESSIONS: Mapping[str, str] = {
    "null": "none",
    "deflate": "gzip",
    "snappy": "snappy",
    "zstandard": "zstd",
}
"""Avro codec -> compression of the format."""


def read_records(data: bytes, path: str) -> pa.Table:
    """Read the records of an ORC or Parquet file.

    Raises:
        CorruptFileError: the file has another format or cannot be read.
    """
    source = pa.BufferReader(data)
    try:
        if data[: len(_PARQUET_MAGIC)] == _PARQUET_MAGIC:
            return _checked(pq.ParquetFile(source).read())
        if data[: len(_ORC_MAGIC)] == _ORC_MAGIC:
            return _checked(orc.ORCFile(source).read())
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFileError(path, "the file", f"cannot be read: {error}") from error
    raise CorruptFileError(path, "byte 0", "a manifest must be an Avro, ORC or Parquet file")


def _checked(records: pa.Table) -> pa.Table:
    """Check that all names and texts of the records are UTF-8; a ValueError if not."""
    records.validate(full=True)
    for field in records.schema:
        _decode_names(field)
    return records


def _decode_names(field: "pa.Field[pa.DataType]") -> None:
    """Decode the names of a field and its children, which Arrow decodes on access."""
    assert field.name is not None  # noqa: S101 - the access decodes
    for index in range(field.type.num_fields):
        _decode_names(field.type.field(index))


def write_records(records: pa.Table, file_format: str, codec: str) -> bytes:
    """Encode records as an ORC or Parquet file.

    Args:
        records: the records.
        file_format: `orc` or `parquet`.
        codec: the compression by its Avro name.

    Raises:
        InvalidInputError: the format is unknown or does not support the codec.
    """
    known = {"orc": ORC_COMPRESSIONS, "parquet": PARQUET_COMPRESSIONS}.get(file_format)
    compression = None if known is None else known.get(codec)
    if known is None:
        raise InvalidInputError(
            f"Manifests cannot be written in the format {file_format!r}.",
            hint="Set the option 'manifest.format' to 'avro', 'orc' or 'parquet'.",
        )
    if compression is None:
        raise InvalidInputError(
            f"Manifests in the format {file_format!r} cannot be compressed with {codec!r}.",
            hint=f"Use one of the codecs {choices(known)}.",
        )
    sink = pa.BufferOutputStream()
    if file_format == "parquet":
        columns = [_filled(column.combine_chunks()) for column in records.columns]
        with pq.ParquetWriter(sink, records.schema, compression=compression) as writer:  # type: ignore[arg-type]  # one of them
            writer.write_table(pa.Table.from_arrays(columns, schema=records.schema))
    else:
        with orc.ORCWriter(sink, compression=compression) as writer:  # type: ignore[arg-type]  # one of them
            writer.write(records)
    return sink.getvalue().to_pybytes()


def _filled(array: Column) -> Column:
    """Return a column with zeros in the NOT NULL numbers of null structs.

    The Parquet writer rejects nulls there.
    """
    if not isinstance(array, pa.StructArray) or not array.null_count:
        return array
    fields = [array.type.field(index) for index in range(array.type.num_fields)]
    children: list[Column] = [
        array.field(index) if field.nullable else array.field(index).fill_null(0)
        for index, field in enumerate(fields)
    ]
    return build_struct(array.type, children, valid_mask(array))
