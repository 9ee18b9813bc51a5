"""Records of an Avro container file, read by fastavro block by block, with no code of ours."""

import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import cramjam
import fastavro
import zstandard
from fastavro.types import AvroMessage

_MAGIC = b"Obj\x01"
_META = {"type": "map", "values": "bytes"}


def records(path: Path) -> Iterator[dict[str, object]]:
    """The records of a file."""
    return records_in(path.read_bytes())


def writer_schema(data: bytes) -> dict[str, Any]:
    """The schema in the header of a file with these bytes, as JSON."""
    found: dict[str, Any] = json.loads(_header(io.BytesIO(data))["avro.schema"])
    return found


def _header(stream: BinaryIO) -> dict[str, bytes]:
    assert stream.read(4) == _MAGIC
    meta = fastavro.schemaless_reader(stream, _META, None)
    assert isinstance(meta, dict)
    stream.read(16)
    return meta


def records_in(data: bytes) -> Iterator[dict[str, object]]:
    """The records of a file with these bytes."""
    stream = io.BytesIO(data)
    meta = _header(stream)
    schema = fastavro.parse_schema(json.loads(meta["avro.schema"]))
    codec = meta.get("avro.codec", b"null").decode()
    while stream.tell() < len(stream.getvalue()):
        count = _long(stream)
        block = io.BytesIO(_plain(codec, stream.read(_long(stream))))
        stream.read(16)
        for _ in range(count):
            record = fastavro.schemaless_reader(block, schema, None)
            assert isinstance(record, dict)
            yield record


def _long(stream: BinaryIO) -> int:
    value: AvroMessage = fastavro.schemaless_reader(stream, "long", None)
    assert isinstance(value, int)
    return value


def _plain(codec: str, data: bytes) -> bytes:
    if codec == "zstandard":
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    if codec == "snappy":
        return bytes(cramjam.snappy.decompress_raw(data[:-4]))
    if codec == "deflate":
        return zlib.decompress(data, -15)
    assert codec == "null"
    return data
