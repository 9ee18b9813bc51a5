r"""Formatting of CSV, JSON and text data files; the inverse of `csv_json_reader`.

A CSV field that contains a delimiter, a quote or a line end is quoted, and quotes inside it are
escaped; null is the null literal. A JSON file has one object per line with all columns; all values
except nested ones are strings.

Seen in: golden append_csv.
"""

import bz2
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Protocol

import cramjam
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from paimon_explore.data_types.arrow_buffers import Column, as_python, bool_values
from paimon_explore.encoding.text.csv_json_reader import CsvLayout, Json, line_ends
from paimon_explore.errors import InvalidInputError

_BLOCK_BYTES = 256 * 1024
_INT_BYTES = 4
_GZIP_WINDOW = 31


def csv_text(columns: Sequence[Column], layout: CsvLayout) -> str:
    r"""Format rows as CSV, without a header.

    Args:
        columns: string columns of the same length.
        layout: the format options.

    >>> csv_text([pa.array(["1", "2"]), pa.array(['a,"b', None])], CsvLayout())
    '1,"a,\\"b"\n2,\n'
    """
    fields = [_csv_fields(column, layout) for column in columns]
    lines = pc.call_function("binary_join_element_wise", [*fields, layout.field_delimiter])
    return "".join(line + layout.line_delimiter for line in lines.to_pylist())


def csv_header(names: Sequence[str], layout: CsvLayout) -> str:
    """Format the header line."""
    return csv_text([pa.array([name]) for name in names], layout)


def _csv_fields(column: Column, layout: CsvLayout) -> Column:
    special = [layout.field_delimiter, layout.quote, layout.line_delimiter]
    marked: list[Column] = [
        pc.call_function("match_substring", [column], pc.MatchSubstringOptions(mark))
        for mark in special
        if mark
    ]
    quoted: Column = reduce(lambda one, two: pc.call_function("or", [one, two]), marked)
    if bool_values(quoted).any():
        replaced: Column = pc.call_function(
            "replace_substring",
            [column],
            pc.ReplaceSubstringOptions(layout.quote, layout.escape + layout.quote),
        )
        around: Column = pc.call_function(
            "binary_join_element_wise", [layout.quote, replaced, layout.quote, ""]
        )
        column = pc.call_function("if_else", [quoted, around, column])
    filled: Column = pc.call_function("coalesce", [column, layout.null_literal])
    return filled


def json_text(rows: Sequence[Mapping[str, Json]], line_delimiter: str) -> str:
    r"""Format rows as JSON.

    >>> json_text([{"a": "1", "b": None}], "\n")
    '{"a":"1","b":null}\n'
    """
    return "".join(
        json.dumps(row, ensure_ascii=False, separators=(",", ":")) + line_delimiter for row in rows
    )


def text_lines(column: Column, line_delimiter: str) -> str:
    r"""Format the rows of a text file; null is an empty line.

    Raises:
        InvalidInputError: a value contains the end of a line.

    >>> text_lines(pa.array(["a", None]), "\n")
    'a\n\n'
    """
    lines = [str(value or "") for value in as_python(column)]
    ends = line_ends(line_delimiter)
    for line in lines:
        end = ends.search(line + line_delimiter)
        if end is None or end.start() != len(line):
            raise InvalidInputError(f"{line!r} contains the end of a line of a text file.")
    return "".join(line + line_delimiter for line in lines)


class Compressor(Protocol):
    """Compresses a file incrementally."""

    def compress(self, data: bytes, /) -> bytes:
        """Compress data; may return no bytes yet."""

    def flush(self) -> bytes:
        """Return the remaining compressed bytes."""


class _Plain:
    """No compression."""

    def compress(self, data: bytes, /) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


class _HadoopBlocks:
    """Hadoop's block format for raw codecs: big-endian sizes of block and chunk, then the chunk."""

    def __init__(self, pack: Callable[[bytes], bytes]) -> None:
        self._pack = pack
        self._waiting = bytearray()

    def compress(self, data: bytes, /) -> bytes:
        self._waiting += data
        out = bytearray()
        while len(self._waiting) >= _BLOCK_BYTES:
            out += self._block(bytes(self._waiting[:_BLOCK_BYTES]))
            del self._waiting[:_BLOCK_BYTES]
        return bytes(out)

    def flush(self) -> bytes:
        return self._block(bytes(self._waiting)) if self._waiting else b""

    def _block(self, data: bytes) -> bytes:
        packed = self._pack(data)
        return b"".join(
            (len(data).to_bytes(_INT_BYTES), len(packed).to_bytes(_INT_BYTES), packed),
        )


def _compress_snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def _compress_lz4(data: bytes) -> bytes:
    return bytes(cramjam.lz4.compress_block(data, store_size=False))


def compressor(codec: str, zstd_level: int = 1) -> Compressor | None:
    """Return a compressor of text files; None if the codec is unknown.

    Args:
        codec: value of the option `file.compression`.
        zstd_level: compression level of zstd.
    """
    made: Mapping[str, Callable[[], Compressor]] = {
        "none": _Plain,
        "uncompressed": _Plain,
        "gzip": lambda: zlib.compressobj(wbits=_GZIP_WINDOW),
        "deflate": zlib.compressobj,
        "bzip2": bz2.BZ2Compressor,
        "zstd": lambda: zstandard.ZstdCompressor(level=zstd_level).compressobj(),
        "snappy": lambda: _HadoopBlocks(_compress_snappy),
        "lz4": lambda: _HadoopBlocks(_compress_lz4),
    }
    return made[codec]() if codec in made else None


CODECS = ("none", "gzip", "deflate", "bzip2", "zstd", "snappy", "lz4")
"""Codecs of text files."""
