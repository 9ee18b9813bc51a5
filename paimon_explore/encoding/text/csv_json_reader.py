"""Parsing of CSV and JSON data files.

Both formats store every value as text; `read/csv_json_data_file.py` converts it to the column
types. Rows are parsed one by one, as both formats are row-oriented.

CSV parsing is the exact inverse of Paimon's writer. A field that contains a delimiter, a quote or a
line end is quoted, and quotes inside it are escaped. Nothing else is escaped: a backslash stands
for itself, and a value may contain a line end. (Paimon's own reader loses such values.)

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
"""Maximum size of a decompressed text file."""
_READ_BYTES = 1 << 20

Json: TypeAlias = "dict[str, Json] | list[Json] | str | bool | None"
"""A parsed JSON value; numbers are kept as text."""

_INT_BYTES = 4
_BREAKS = ("\n", "\r\n", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLayout:
    """Format options of a CSV file.

    All delimiters are single characters, except the line delimiter and the null literal.
    """

    field_delimiter: str = ","
    line_delimiter: str = "\n"
    quote: str = '"'
    escape: str = "\\"
    null_literal: str = ""
    has_header: bool = False


def csv_records(text: str, layout: CsvLayout) -> list[list[str | None]]:
    r"""Parse the rows of a CSV file; fields equal to the null literal are null.

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
        assert found is not None  # noqa: S101 - the second alternative matches anything
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
    """Parse the rows of a JSON file: one object per line.

    Raises:
        CorruptFileError: a line is not a JSON object.
    """
    for number, line in enumerate(text.split(line_delimiter)):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
            if "\\u" in line:  # fails on unpaired surrogates
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            rule = f"the line is not valid JSON: {error}"
            raise CorruptFileError(path, f"line {number + 1}", rule) from error
        if not isinstance(record, dict):
            raise CorruptFileError(path, f"line {number + 1}", "must be a JSON object")
        yield record


def line_ends(line_delimiter: str) -> re.Pattern[str]:
    """Return what ends a line of a text file: line breaks of all systems are the same to Java."""
    return re.compile(r"\r\n?|\n" if line_delimiter in _BREAKS else re.escape(line_delimiter))


def text_records(text: str, line_delimiter: str) -> list[str]:
    r"""Parse the lines of a text file.

    >>> text_records("a\r\n\nb", "\n")
    ['a', '', 'b']
    """
    if line_delimiter in _BREAKS:
        text = text.removeprefix("\ufeff")
    lines = line_ends(line_delimiter).split(text)
    return lines if lines[-1] else lines[:-1]


def decompressed(data: bytes, compression: str, *, path: str) -> str:
    """Decompress and decode a text file.

    Args:
        data: the content of the file.
        compression: the compression extension of the file; empty for none.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the bytes cannot be decompressed, or are not UTF-8.
    """
    try:
        limit = min(max_unpacked_size(len(data)) if compression else memory_limit(), MAX_TEXT_BYTES)
        with within_memory(path, "text"):
            text = _DECOMPRESS[compression](data, limit)
            if len(text) > limit:
                what = f"a text of {len(data):,} compressed bytes"
                raise too_large(len(text), path, "text", what, limit=limit)
            return text.decode()
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
        rule = f"the text cannot be decoded: {error}"
        raise CorruptFileError(path, what, rule) from error


def _hadoop_blocks(data: bytes, limit: int, decompress: Callable[[bytes, int], bytes]) -> bytes:
    """Decompress Hadoop's block format: size of a block, then chunks with their compressed size."""
    out = bytearray()
    at = 0
    while at < len(data):
        end = len(out) + int.from_bytes(data[at : at + _INT_BYTES])
        at += _INT_BYTES
        if end > limit:
            raise too_large(
                end, "", "text", f"a text of {len(data):,} compressed bytes", limit=limit
            )
        while len(out) < end:
            if at >= len(data):
                raise EOFError("the last block is truncated")
            size = int.from_bytes(data[at : at + _INT_BYTES])
            at += _INT_BYTES
            out += decompress(data[at : at + size], end - len(out))
            at += size
    return bytes(out)


def _decompress_lz4(chunk: bytes, size: int) -> bytes:
    out = bytearray(size)
    return bytes(out[: cramjam.lz4.decompress_block_into(chunk, output=out)])


_Stream: TypeAlias = gzip.GzipFile | bz2.BZ2File | zstandard.ZstdDecompressionReader


def _decompress_zstd(data: bytes, limit: int) -> bytes:
    return _read_limited(zstandard.ZstdDecompressor().stream_reader(data), limit)


def _read_limited(stream: _Stream, limit: int) -> bytes:
    """Read a stream to its end, or until more than `limit` bytes were read."""
    parts, total = [], 0
    with stream:
        while total <= limit and (part := stream.read(_READ_BYTES)):
            parts.append(part)
            total += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _decompress_gzip(data: bytes, limit: int) -> bytes:
    return _read_limited(gzip.GzipFile(fileobj=BytesIO(data)), limit)


def _decompress_bzip2(data: bytes, limit: int) -> bytes:
    return _read_limited(bz2.BZ2File(BytesIO(data)), limit)


def _decompress_zlib(data: bytes, limit: int) -> bytes:
    return zlib.decompressobj().decompress(data, limit + 1)


def _decompress_snappy(chunk: bytes, size: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(chunk) > size:
        raise ValueError("a chunk is larger than its block")
    return bytes(cramjam.snappy.decompress_raw(chunk))


_DECOMPRESS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "": lambda data, _: data,
    "gz": _decompress_gzip,
    "gzip": _decompress_gzip,
    "bz2": _decompress_bzip2,
    "deflate": _decompress_zlib,
    "zst": _decompress_zstd,
    "zstd": _decompress_zstd,
    "snappy": lambda data, limit: _hadoop_blocks(data, limit, _decompress_snappy),
    "lz4": lambda data, limit: _hadoop_blocks(data, limit, _decompress_lz4),
}
