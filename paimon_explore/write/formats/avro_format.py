"""Avro row files.

Spec: concepts/spec/fileformat, Avro section. Seen in: golden java200/all_types_append_avro.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.encoding.avro.writer import AvroWriter as ContainerWriter
from paimon_explore.encoding.avro.writer import avro_schema
from paimon_explore.errors import InvalidInputError, choices

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


def avro_codec(compression: str) -> str:
    """Return Avro's name of a compression codec.

    Raises:
        InvalidInputError: Avro files do not support the codec.
    """
    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise InvalidInputError(
            f"{compression!r} is not a compression codec for Avro files.",
            hint=f"Set file.compression to one of {choices(_CODECS)}.",
        )
    return codec


class AvroWriter:
    """Writes one Avro file.

    Args:
        sink: receives the bytes; it is not closed.
        fields: the columns.
        compression: the codec, as in `file.compression`.

    Raises:
        UnsupportedFeatureError: a column has a type that Avro does not support.
    """

    def __init__(
        self, sink: pa.NativeFile, fields: Sequence[DataField], *, compression: str
    ) -> None:
        schema = avro_schema(arrow_schema(RowType(fields=tuple(fields))))
        self._writer = ContainerWriter(sink.write, schema, avro_codec(compression))

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        self._writer.write(columns)

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._writer.size

    def close(self) -> None:
        """Write the last block."""
        self._writer.close()

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
