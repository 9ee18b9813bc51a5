"""Reads and writes the records of Avro files by fastavro; partitions may be records without fields.

Logical types are ignored: values are the stored integers and bytes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

import fastavro
from fastavro.types import Schema

from paimon_explore.commit.iceberg.manifest_records import Record
from paimon_explore.commit.iceberg.schema_json import Json
from paimon_explore.encoding.avro.container import (
    PROCESS_SYNC,
    read_blocks,
    read_header,
    write_block,
    write_header,
)
from paimon_explore.encoding.avro.fastavro_reader import FASTAVRO_ERRORS, without_logical_types
from paimon_explore.encoding.avro.writer import compact_json
from paimon_explore.errors import CorruptFileError


def read_records(data: bytes, path: str) -> list[Record]:
    """Return the records of a file.

    Raises:
        CorruptFileError: the file cannot be decoded.
    """
    try:
        return [*_records(data)]
    except FASTAVRO_ERRORS as error:
        if isinstance(error, CorruptFileError):
            raise CorruptFileError(path, error.where, error.rule) from error
        reason = str(error) or type(error).__name__
        rule = f"fastavro cannot decode the file: {reason:.200}"
        raise CorruptFileError(path, "a record", rule) from error


def _records(data: bytes) -> Iterator[Record]:
    header = read_header(data)
    source: Schema = without_logical_types(json.loads(header.schema))  # type: ignore[assignment]  # JSON
    schema = fastavro.parse_schema(source)
    for block in read_blocks(data, header):
        stream = BytesIO(block.data)
        for _ in range(block.count):
            record = fastavro.schemaless_reader(stream, schema, None)
            if not isinstance(record, Mapping):
                raise TypeError("must be a record")
            yield {str(name): value for name, value in record.items()}


def encode_records(
    schema: dict[str, Json], records: Sequence[Record], codec: str, header: Mapping[str, str]
) -> bytes:
    """Return a file.

    Args:
        schema: the schema of the records.
        records: the records.
        codec: the Avro codec of the blocks.
        header: further members of the header.
    """
    stream = BytesIO()
    fastavro.writer(stream, schema, records, "null")
    data = stream.getvalue()
    more = tuple((name, text.encode()) for name, text in header.items())
    parts = [write_header(compact_json(schema), codec, PROCESS_SYNC, more)]
    blocks = read_blocks(data, read_header(data))  # fastavro may lack the codec
    parts += [write_block(block.count, block.data, codec, PROCESS_SYNC) for block in blocks]
    return b"".join(parts)
