"""ORC and Parquet manifests: between bytes and tables of records.

Up to 2.0 a table's `manifest.format` could choose them, and Java then reads that format only.
"""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from paimon_explore.errors import CorruptFileError, InvalidInputError, choices

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
"""What stands for an Avro codec in the other formats."""


def read_records(data: bytes, path: str) -> pa.Table:
    """The records of an ORC or Parquet file.

    Raises:
        CorruptFileError: it is neither, or cannot be read.
    """
    source = pa.BufferReader(data)
    try:
        if data[: len(_PARQUET_MAGIC)] == _PARQUET_MAGIC:
            return _checked(pq.ParquetFile(source).read())
        if data[: len(_ORC_MAGIC)] == _ORC_MAGIC:
            return _checked(orc.ORCFile(source).read())
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFileError(path, "the file", f"must be readable: {error}") from error
    raise CorruptFileError(path, "byte 0", "a manifest must be an Avro, ORC or Parquet file")


def _checked(records: pa.Table) -> pa.Table:
    """The records, all of whose names and texts are UTF-8; others raise a ValueError."""
    records.validate(full=True)
    for field in records.schema:
        _decode_names(field)
    return records


def _decode_names(field: "pa.Field[pa.DataType]") -> None:
    """Look at the names of a field and those below it, each of which is decoded only then."""
    assert field.name is not None  # noqa: S101 - the look
    for index in range(field.type.num_fields):
        _decode_names(field.type.field(index))


def write_records(records: pa.Table, file_format: str, codec: str) -> bytes:
    """An ORC or Parquet file.

    Args:
        records: the records.
        file_format: `orc` or `parquet`.
        codec: the compression by its Avro name.

    Raises:
        InvalidInputError: another format, or a codec that it does not have.
    """
    known = {"orc": ORC_COMPRESSIONS, "parquet": PARQUET_COMPRESSIONS}.get(file_format)
    compression = None if known is None else known.get(codec)
    if known is None or compression is None:
        raise InvalidInputError(
            f"Manifests cannot be written as {file_format!r} with {codec!r}.",
            hint=f"Formats are avro, orc and parquet; codecs {choices(PARQUET_COMPRESSIONS)}.",
        )
    sink = pa.BufferOutputStream()
    if file_format == "parquet":
        with pq.ParquetWriter(sink, records.schema, compression=compression) as writer:  # type: ignore[arg-type]  # one of them
            writer.write_table(records)
    else:
        with orc.ORCWriter(sink, compression=compression) as writer:  # type: ignore[arg-type]  # one of them
            writer.write(records)
    return sink.getvalue().to_pybytes()
