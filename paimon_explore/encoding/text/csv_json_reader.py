"""CSV and JSON data files as columns of texts.

Both formats hold every value as text; which type it means is the table's business
(`read/text_data_file.py`). Rows are taken apart one by one, for neither format has columns to
decode.

CSV is read as the exact inverse of Paimon's writer. A field with a delimiter, a quote or a line end
in it is quoted, and quotes inside are escaped; nothing else is: a backslash is just a backslash, a
line end may be part of a value. (Paimon's own reader loses such values.)

Seen in: golden append_csv.
"""

import bz2
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import TypeAlias

import cramjam
import zstandard

from paimon_explore.errors import CorruptFileError, ResourceLimitError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import max_unpacked_size, memory_limit, too_large, within_memory

MAX_TEXT_BYTES = 1 << 31
_PIECE_BYTES = 1 << 20
"""Largest text, decompressed, that is read."""

Json: TypeAlias = "dict[str, Json] | list[Json] | str | bool | None"
"""A parsed JSON value; numbers are their texts."""

_INT_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLayout:
    """The marks of a CSV file: each one character, but for the line end and the text of null."""

    field_delimiter: str = ","
    line_delimiter: str = "\n"
    quote: str = '"'
    escape: str = "\\"
    null_literal: str = ""
    has_header: bool = False


def csv_records(text: str, layout: CsvLayout) -> list[list[str | None]]:
    r"""The rows of a CSV file; null where a field is the null literal.

    >>> csv_records('1,"a,\\"b"\n2,\n', CsvLayout())
    [['1', 'a,"b'], ['2', None]]
    """
    if layout.quote in text:
        records = _quoted_records(text, layout)
    else:
        records = [line.split(layout.field_delimiter) for line in _lines(text, layout)]
    null = layout.null_literal
    return [
        [None if field == null else field for field in record]
        for record in records[layout.has_header :]
    ]


def _lines(text: str, layout: CsvLayout) -> list[str]:
    lines = text.split(layout.line_delimiter)
    if lines[-1] == "":
        lines.pop()
    return lines


def _quoted_records(text: str, layout: CsvLayout) -> list[list[str]]:
    quote, escaped = re.escape(layout.quote), re.escape(layout.escape + layout.quote)
    field, line = re.escape(layout.field_delimiter), re.escape(layout.line_delimiter)
    pattern = re.compile(
        rf"(?:{quote}((?:{escaped}|[^{quote}])*){quote}|((?:(?!{field}|{line}).)*))"
        rf"({field}|{line}|\Z)",
        re.DOTALL,
    )
    records: list[list[str]] = []
    record: list[str] = []
    at = 0
    while at < len(text) or record:
        found = pattern.match(text, at)
        assert found is not None  # noqa: S101 - the second way matches anything
        quoted, plain, end = found.groups()
        if quoted is None:
            record.append(plain)
        else:
            record.append(quoted.replace(layout.escape + layout.quote, layout.quote))
        at = found.end()
        if end != layout.field_delimiter:
            records.append(record)
            record = []
    return records


def json_records(text: str, *, line_delimiter: str, path: str) -> Iterator[dict[str, Json]]:
    """The rows of a JSON file: one object per line.

    Raises:
        CorruptFileError: a line is no JSON object.
    """
    for number, line in enumerate(text.split(line_delimiter)):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
            if "\\u" in line:  # may smuggle in half a surrogate pair, which is no text
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise CorruptFileError(path, f"line {number + 1}", str(error)) from error
        if not isinstance(record, dict):
            raise CorruptFileError(path, f"line {number + 1}", "must be a JSON object")
        yield record


def decompressed(data: bytes, compression: str, *, path: str) -> str:
    """The text of a file.

    Args:
        data: the whole file.
        compression: the file's compression extension; empty for none.
        path: for messages.

    Raises:
        CorruptFileError: the bytes do not unpack, or are no UTF-8.
    """
    try:
        most = min(max_unpacked_size(len(data)) if compression else memory_limit(), MAX_TEXT_BYTES)
        with within_memory(path, "text"):
            unpacked = _UNPACK[compression](data, most)
            if len(unpacked) > most:
                what = f"{len(data):,} bytes, which unpack to at least {len(unpacked):,},"
                raise too_large(None, path, "text", what)
            return unpacked.decode()
    except ResourceLimitError as error:
        raise (error if error.path else error.at(path)) from error
    except (
        OSError,
        EOFError,
        ValueError,
        zlib.error,
        zstandard.ZstdError,
        cramjam.DecompressionError,
    ) as error:
        what = f"compression {compression!r}" if compression else "text"
        raise CorruptFileError(path, what, str(error)) from error


def _hadoop_blocks(data: bytes, most: int, unpack: Callable[[bytes, int], bytes]) -> bytes:
    """Hadoop's framing: size of a block, then chunks with their packed size, all big-endian."""
    out = bytearray()
    at = 0
    while at < len(data):
        end = len(out) + int.from_bytes(data[at : at + _INT_BYTES])
        at += _INT_BYTES
        if end > most:
            raise too_large(end, "", "text", f"{len(data):,} bytes of blocks")
        while len(out) < end:
            if at >= len(data):
                raise EOFError("the last block is cut short")
            size = int.from_bytes(data[at : at + _INT_BYTES])
            at += _INT_BYTES
            out += unpack(data[at : at + size], end - len(out))
            at += size
    return bytes(out)


def _unlz4(chunk: bytes, size: int) -> bytes:
    out = bytearray(size)
    return bytes(out[: cramjam.lz4.decompress_block_into(chunk, output=out)])


_Stream: TypeAlias = gzip.GzipFile | bz2.BZ2File | zstandard.ZstdDecompressionReader


def _unzstd(data: bytes, most: int) -> bytes:
    return _limited(zstandard.ZstdDecompressor().stream_reader(data), most)


def _limited(stream: _Stream, most: int) -> bytes:
    """Everything of a stream, up to one piece more than allowed."""
    parts, total = [], 0
    with stream:
        while total <= most and (part := stream.read(_PIECE_BYTES)):
            parts.append(part)
            total += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _ungzip(data: bytes, most: int) -> bytes:
    return _limited(gzip.GzipFile(fileobj=BytesIO(data)), most)


def _unbzip2(data: bytes, most: int) -> bytes:
    return _limited(bz2.BZ2File(BytesIO(data)), most)


def _inflate(data: bytes, most: int) -> bytes:
    return zlib.decompressobj().decompress(data, most + 1)


def _unsnap(chunk: bytes, size: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(chunk) > size:
        raise ValueError("a chunk is larger than its block")
    return bytes(cramjam.snappy.decompress_raw(chunk))


_UNPACK: Mapping[str, Callable[[bytes, int], bytes]] = {
    "": lambda data, _: data,
    "gz": _ungzip,
    "gzip": _ungzip,
    "bz2": _unbzip2,
    "deflate": _inflate,
    "zst": _unzstd,
    "zstd": _unzstd,
    "snappy": lambda data, most: _hadoop_blocks(data, most, _unsnap),
    "lz4": lambda data, most: _hadoop_blocks(data, most, _unlz4),
}
