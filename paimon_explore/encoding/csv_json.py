"""Parsing and formatting of CSV, JSON and text data files.

Both formats store every value as text; `read/csv_json_data_file.py` converts it to the column
types. Rows are parsed one by one, as both formats are row-oriented.

CSV parsing is the exact inverse of Paimon's writer. A field that contains a delimiter, a quote or a
line end is quoted, and quotes inside it are escaped. Nothing else is escaped: a backslash stands
for itself, and a value may contain a line end. (Paimon's own reader loses such values.)

Formatting is the inverse: null is the null literal, and a JSON file has one object per line with
all columns; all values except nested ones are strings.

Seen in: golden append_csv.
"""

import bz2
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from io import BytesIO
from typing import Literal, Protocol, TypeAlias

import cramjam
import pyarrow as pa
import pyarrow.csv as pa_csv
import zstandard

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_python,
    bool_values,
    map_distinct,
    string_scalar,
)
from paimon_explore.data_types.casts.text_functions import computed, concatenated, matches
from paimon_explore.errors import CorruptFileError, InvalidInputError, ResourceLimitError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import (
    max_unpacked_size,
    memory_limit,
    read_limited,
    too_large,
    within_memory,
)

MAX_TEXT_BYTES = 1 << 31
"""Maximum size of a decompressed text file."""


Json: TypeAlias = "dict[str, Json] | list[Json] | str | bool | None"
"""A parsed JSON value; numbers are kept as text."""

_JSON_READER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_JSON_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_INT_BYTES = 4
_BREAKS = ("\n", "\r\n", "\r")
_LINE_FEEDS = _BREAKS[:2]
_LOST = ("\r", "\ufeff")
"""What readers drop at the end of a line and at the start of a file, unless it is quoted."""


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

    >>> csv_records('1,"a,\\"b"\r\n2,\n', CsvLayout())
    [['1', 'a,"b'], ['2', None]]
    """
    text = _without_mark(text, layout.line_delimiter)
    if layout.quote in text:
        records = _quoted_records(text, layout)
    else:
        records = [line.split(layout.field_delimiter) for line in _lines(text, layout)]
    null = layout.null_literal
    return [
        [None if field == null else field for field in record]
        for record in records[layout.has_header :]
    ]


def csv_columns(text: str, names: Sequence[str], layout: CsvLayout) -> dict[str, Column]:
    """Parse a CSV file that has no quotes by Arrow: the same fields as those of `csv_records`.

    Returns:
        the columns by name; empty if Arrow's parser could split the text in another way, or finds
        a fault in it.
    """
    delimiter = layout.field_delimiter
    if (
        layout.line_delimiter not in _LINE_FEEDS
        or not (delimiter.isascii() and delimiter.isprintable())
        or layout.quote in text
    ):
        return {}
    text = _without_mark(text, layout.line_delimiter).replace("\r\n", "\n")
    if any(mark in text for mark in ("\r", "\0", "\n\n")) or text.startswith("\n"):
        return {}
    data = text.encode()
    try:
        table = pa_csv.read_csv(
            BytesIO(data),
            pa_csv.ReadOptions(
                use_threads=False,
                block_size=max(len(data), 1),
                skip_rows=int(layout.has_header),
                column_names=list(names),
            ),
            pa_csv.ParseOptions(
                delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False
            ),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                null_values=[layout.null_literal],
            ),
        )
    except pa.ArrowInvalid:
        return {}
    return dict(zip(names, (c.combine_chunks() for c in table.columns), strict=True))


def _lines(text: str, layout: CsvLayout) -> list[str]:
    lines = re.split(_line_break(layout), text)
    if lines[-1] == "":
        lines.pop()
    return lines


def _line_break(layout: CsvLayout) -> str:
    """Return the pattern of what ends a row: files of Windows are read as those of others."""
    delimiter = layout.line_delimiter
    return r"\r?\n" if delimiter in _LINE_FEEDS else re.escape(delimiter)


def _quoted_records(text: str, layout: CsvLayout) -> list[list[str]]:
    quote, escaped = re.escape(layout.quote), re.escape(layout.escape + layout.quote)
    field, line = re.escape(layout.field_delimiter), _line_break(layout)
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
    for number, line in enumerate(text_records(text, line_delimiter)):
        if not line.strip():
            continue
        try:
            record = _JSON_READER.decode(line)
            if "\\u" in line:  # fails on unpaired surrogates
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            column = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            rule = f"the line is not valid JSON: {reason}"
            raise CorruptFileError(path, f"line {number + 1}{column}", rule) from error
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
    lines = line_ends(line_delimiter).split(_without_mark(text, line_delimiter))
    return lines if lines[-1] else lines[:-1]


def _without_mark(text: str, line_delimiter: str) -> str:
    """Return a text without the byte order mark, which Java skips with plain line breaks."""
    return text.removeprefix("\ufeff") if line_delimiter in _BREAKS else text


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
    except (OSError, EOFError, ValueError, cramjam.DecompressionError) as error:
        what = f"compression {compression!r}" if compression else "text"
        raise CorruptFileError(path, what, f"the text cannot be decoded: {error}") from error


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


def _streamed(data: bytes, limit: int, *, codec: Literal["bz2", "gzip", "zstd"]) -> bytes:
    """Decompress one or more streams; unlike some libraries, Arrow refuses a truncated one."""
    with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
        return read_limited(stream.read, limit)


def _decompress_snappy(chunk: bytes, size: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(chunk) > size:
        raise ValueError("a chunk is larger than its block")
    return bytes(cramjam.snappy.decompress_raw(chunk))


_DECOMPRESS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "": lambda data, _: data,
    **dict.fromkeys(("gz", "gzip"), partial(_streamed, codec="gzip")),
    "bz2": partial(_streamed, codec="bz2"),
    "deflate": partial(_streamed, codec="gzip"),  # which knows the header of zlib, too
    **dict.fromkeys(("zst", "zstd"), partial(_streamed, codec="zstd")),
    "snappy": lambda data, limit: _hadoop_blocks(data, limit, _decompress_snappy),
    "lz4": lambda data, limit: _hadoop_blocks(data, limit, _decompress_lz4),
}


_BLOCK_BYTES = 256 * 1024
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


def needs_quotes(column: Column, layout: CsvLayout) -> Column:
    """Return which of n texts a CSV file has in quotes; null for null."""
    special = {layout.field_delimiter, layout.quote, layout.line_delimiter, "\n", *_LOST}
    marked: list[Column] = [
        pc.call_function("match_substring", [column], pc.MatchSubstringOptions(mark))
        for mark in special
        if mark
    ]
    return reduce(lambda one, two: pc.call_function("or", [one, two]), marked)


def _csv_fields(column: Column, layout: CsvLayout) -> Column:
    quoted = needs_quotes(column, layout)
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


def json_text(columns: Mapping[str, Column], line_delimiter: str) -> str:
    r"""Format rows as JSON.

    Args:
        columns: the values of each column as JSON; null for null.
        line_delimiter: ends each line.

    Raises:
        InvalidInputError: a row contains the delimiter.

    >>> json_text({"a": pa.array(['"1"']), "b": pa.array([None], pa.string())}, "\n")
    '{"a":"1","b":null}\n'
    """
    marks = "{", *[","] * (len(columns) - 1)
    parts: list[Column | str] = []
    for mark, (name, values) in zip(marks, columns.items(), strict=True):
        parts += (f"{mark}{json_value(name)}:", pc.call_function("coalesce", [values, "null"]))
    lines = pc.call_function("binary_join_element_wise", [*parts, "}", ""]).to_pylist()
    if line_delimiter not in _BREAKS:  # which are escaped
        _check_lines(lines, line_delimiter, "JSON")
    return "".join([line + line_delimiter for line in lines])


def json_value(value: object) -> str:
    """Format a value as JSON."""
    return _JSON_WRITER.encode(value)


def json_strings(texts: Column) -> Column:
    r"""Format each text as a JSON string.

    >>> json_strings(pa.array(["a", 'b"', None])).to_pylist()
    ['"a"', '"b\\""', None]
    """
    quote = string_scalar('"')
    quoted = concatenated(quote, texts, quote)
    is_escaped = matches(texts, r'["\\\x00-\x1f]')
    escaped = map_distinct(computed("filter", [texts, is_escaped]), json_value, pa.string())
    return computed("replace_with_mask", [quoted, is_escaped, escaped])


def text_lines(column: Column, line_delimiter: str) -> str:
    r"""Format the rows of a text file; null is an empty line.

    Raises:
        InvalidInputError: a value contains the end of a line.

    >>> text_lines(pa.array(["a", None]), "\n")
    'a\n\n'
    """
    lines = [str(value or "") for value in as_python(column)]
    _check_lines(lines, line_delimiter, "text")
    return "".join(line + line_delimiter for line in lines)


def _check_lines(lines: Sequence[str], line_delimiter: str, file_format: str) -> None:
    """Check that the first end of a line is the one behind it."""
    ends = line_ends(line_delimiter)
    for line in lines:
        end = ends.search(line + line_delimiter)
        if end is None or end.start() != len(line):
            raise InvalidInputError(f"{line!r} contains the end of a line of a {file_format} file.")


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
        return b"".join((len(data).to_bytes(_INT_BYTES), len(packed).to_bytes(_INT_BYTES), packed))


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
