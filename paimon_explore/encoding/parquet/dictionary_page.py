"""Longest value of the dictionary of a column chunk, to limit the memory of decoded strings.

A dictionary value can be repeated in every row, so some kilobytes can decode to gigabytes. The size
of the dictionary page limits the length of its values; if that is not sufficient, the page is
decoded. It contains values as a data page with PLAIN encoding does, so it is decoded as one.

Spec: Parquet format, `DictionaryPageHeader`.
"""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import var_values
from paimon_explore.encoding.data_file_reader import PagesError
from paimon_explore.encoding.parquet.arrow_reader import ColumnChunkMetaData
from paimon_explore.encoding.parquet.pages import (
    PageHeader,
    PagesColumn,
    PagesFile,
    header_at,
)
from paimon_explore.encoding.parquet.thrift_compact import Struct, ThriftList, Wire, encode_struct
from paimon_explore.limits import max_unpacked_size

_CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "LZ4": 5, "ZSTD": 6}
"""Compression codecs by Arrow's name; Arrow decodes both forms of LZ4 as the older one."""
_BYTE_ARRAY, _DATA_PAGE, _PLAIN, _RLE, _REQUIRED = 6, 0, 0, 3, 0
_NAME = b"v"
UNKNOWN_LENGTH = 2**62
"""The length of values that could not be examined."""


def longest_value(file: pa.NativeFile, chunk: ColumnChunkMetaData, enough: int) -> int:
    """Return an upper bound of the length of strings in the dictionary page of a column chunk.

    Args:
        file: the file, opened for random access.
        chunk: the column chunk, with a dictionary page.
        enough: a bound that is not examined further.

    Returns:
        Bytes: at most `enough`, or the length of the longest value; `UNKNOWN_LENGTH` if the page
        cannot be examined.
    """
    try:
        start, header = _header(file, chunk)
        if not header.is_dictionary:
            return UNKNOWN_LENGTH
        size = max(header.unpacked, header.size)
        if size <= enough:
            return size
        file.seek(start + header.end)
        return _longest(file.read(header.size), header, chunk.compression)
    except PagesError:
        return UNKNOWN_LENGTH


def dictionary_size(file: pa.NativeFile, chunk: ColumnChunkMetaData) -> tuple[int, int]:
    """Return the number of values in the dictionary page of a column chunk, and their bytes.

    Args:
        file: the file, opened for random access.
        chunk: the column chunk.

    Returns:
        Zeros if the dictionary page cannot be examined.
    """
    try:
        _, header = _header(file, chunk)
    except PagesError:
        return 0, 0
    return (header.values, header.unpacked) if header.is_dictionary else (0, 0)


def _header(file: pa.NativeFile, chunk: ColumnChunkMetaData) -> tuple[int, PageHeader]:
    """Read the header of the first page of a column chunk; also returns its position.

    Raises:
        PagesError: the header is malformed.
    """
    start = min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset)

    def read(at: int, length: int) -> bytes:
        file.seek(at)
        return file.read(length)

    return start, header_at(read, start, start + chunk.total_compressed_size)


def _longest(page: bytes, header: PageHeader, compression: str) -> int:
    """Return the length of the longest value of a dictionary page, in bytes.

    Raises:
        PagesError: the page cannot be decoded.
    """
    if compression not in _CODECS:
        raise PagesError(f"the codec {compression} is unknown")
    if len(page) != header.size or header.unpacked > max_unpacked_size(header.size):
        raise PagesError("the dictionary page is truncated or too large")
    data: Struct = {
        1: (Wire.I32, header.values),
        2: (Wire.I32, _PLAIN),
        3: (Wire.I32, _RLE),
        4: (Wire.I32, _RLE),
    }
    start = encode_struct(
        {
            1: (Wire.I32, _DATA_PAGE),
            2: (Wire.I32, header.unpacked),
            3: (Wire.I32, header.size),
            5: (Wire.STRUCT, data),
        }
    )
    file = PagesFile([_column(header, compression)], [(0, len(start) + len(page))])
    pages = file.pages(0)
    pages[: len(start)] = start
    pages[len(start) :] = page
    root: Struct = {4: (Wire.BINARY, b"schema")}
    values = file.decoded(root, header.values, header.values, are_coded=[False]).column(0)
    return int(np.diff(var_values(values)[0]).max(initial=0))


def _column(header: PageHeader, compression: str) -> PagesColumn:
    return PagesColumn(
        elements=[{1: (Wire.I32, _BYTE_ARRAY), 3: (Wire.I32, _REQUIRED), 4: (Wire.BINARY, _NAME)}],
        chunk={
            1: (Wire.I32, _BYTE_ARRAY),
            2: (Wire.LIST, ThriftList(Wire.I32, [_PLAIN])),
            3: (Wire.LIST, ThriftList(Wire.BINARY, [_NAME])),
            4: (Wire.I32, _CODECS[compression]),
            6: (Wire.I64, header.unpacked),
        },
    )
