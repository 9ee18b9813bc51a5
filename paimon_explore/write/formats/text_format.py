"""CSV and JSON data files, and the text files of format tables.

Values are written as Java's cast to STRING prints them, and bytes in base64. Only JSON supports
lists, maps and rows. Null of CSV files is the text `csv.null-literal`, which no other value may
have: Java writes such values, and reads null. A text file has one column of texts, a line each;
null is an empty line.

Spec: concepts/spec/fileformat, CSV, JSON and text. Seen in: golden append_csv.
"""

import base64
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_python,
    list_offsets,
    string_scalar,
    true_mask,
    valid_mask,
)
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.definitions import (
    STRING,
    TEXTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import parts
from paimon_explore.encoding.csv_json import (
    CODECS,
    CsvLayout,
    Json,
    compressor,
    csv_header,
    csv_text,
    json_strings,
    json_text,
    json_value,
    needs_quotes,
    text_lines,
)
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.metadata.options import format_options as opt
from paimon_explore.write.file_layout import FileLayout

T = TypeVar("T")
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.BLOB})
_NOT_AS_TEXT = frozenset({TypeRoot.VARIANT, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY})
_CSV, _TEXT = "csv", "text"


class TextWriter:
    """Writes one CSV, JSON or text file.

    Args:
        sink: receives the bytes; it is not closed.
        layout: columns, format, compression, and options such as delimiters.

    Raises:
        InvalidInputError: text files do not support the compression.
        UnsupportedFeatureError: a column has a type that the format does not support.
    """

    def __init__(self, sink: pa.NativeFile, layout: FileLayout) -> None:
        codec = compressor(layout.compression.lower(), layout.zstd_level)
        if codec is None:
            raise InvalidInputError(
                f"{layout.compression!r} is not a compression codec for {layout.format} files.",
                hint=f"Set file.compression to one of {choices(CODECS)}.",
            )
        self._compressor = codec
        self._sink = sink
        self._size = 0
        self._fields = layout.fields
        self._format = layout.format
        if layout.format == _TEXT and [_is_text(field.type) for field in layout.fields] != [True]:
            raise UnsupportedFeatureError(
                "writing other columns than one of type STRING to a text file"
            )
        for field in layout.fields:
            _check_type(field.type, field.name, layout.format)
        options = layout.options
        self._json_line = options.value(opt.JSON_LINE_DELIMITER)
        self._csv = CsvLayout(
            field_delimiter=options.value(opt.CSV_FIELD_DELIMITER),
            line_delimiter=options.value(opt.CSV_LINE_DELIMITER),
            quote=options.value(opt.CSV_QUOTE_CHARACTER),
            escape=options.value(opt.CSV_ESCAPE_CHARACTER),
            null_literal=options.value(opt.CSV_NULL_LITERAL),
            has_header=options.value(opt.CSV_INCLUDE_HEADER),
        )
        self._text_line = options.value(opt.TEXT_LINE_DELIMITER)
        if self._format == _CSV and self._csv.has_header:
            self._put(csv_header([field.name for field in layout.fields], self._csv))

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type.

        Raises:
            InvalidInputError: a row of a text or JSON file contains the end of a line, or a value
                of a CSV file is the text of null, or would escape the quote behind it.
        """
        if self._format == _TEXT:
            self._put(text_lines(columns[0], self._text_line))
        elif self._format == _CSV:
            texts = [_texts(c, f.type) for c, f in zip(columns, self._fields, strict=True)]
            for text, field in zip(texts, self._fields, strict=True):
                _check_not_null_text(text, field.name, self._csv.null_literal)
                _check_not_escaping(text, field.name, self._csv)
            self._put(csv_text(texts, self._csv))
        else:
            named = zip(columns, self._fields, strict=True)
            self._put(json_text({f.name: _json(c, f.type) for c, f in named}, self._json_line))

    def _put(self, text: str) -> None:
        self._write(self._compressor.compress(text.encode()))

    def _write(self, data: bytes) -> None:
        self._sink.write(data)
        self._size += len(data)

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._size

    def close(self) -> None:
        """Write the bytes that the compressor still holds."""
        self._write(self._compressor.flush())

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""


def _check_type(data_type: DataType, name: str, file_format: str) -> None:
    for part in parts(data_type):
        if isinstance(part, AtomicType):
            is_refused = part.root in _NOT_AS_TEXT
        else:
            is_refused = file_format == _CSV or isinstance(part, MultisetType)
        if is_refused:
            raise UnsupportedFeatureError(
                f"writing column {name!r} of type {type_text(part)} to a {file_format} file",
                hint="Set file.format to parquet.",
            )


def _check_not_null_text(texts: Column, name: str, null_literal: str) -> None:
    if (
        pc.call_function("index", [texts], pc.IndexOptions(string_scalar(null_literal))).as_py()
        >= 0
    ):
        raise InvalidInputError(
            f"Column {name!r}: {null_literal!r} is the text of null in this CSV file; it would be "
            "read as null.",
            hint="Pass null, or create the table with a 'csv.null-literal' that no value has, such "
            "as \\\\N.",
        )


def _check_not_escaping(texts: Column, name: str, layout: CsvLayout) -> None:
    """Refuse a quoted value that ends with the escape character: its end could not be found."""
    ends = pc.call_function("ends_with", [texts], pc.MatchSubstringOptions(layout.escape))
    if layout.escape in {"", layout.quote} or not true_mask(ends).any():
        return
    found = np.flatnonzero(true_mask(ends) & true_mask(needs_quotes(texts, layout)))
    if len(found):
        value = texts[int(found[0])].as_py()
        raise InvalidInputError(
            f"Column {name!r}: {value!r} ends with {layout.escape!r}, the escape character of this "
            "CSV file, and has to be in quotes, whose end would be lost.",
            hint="Set file.format to parquet.",
        )


def _is_text(data_type: DataType) -> bool:
    return isinstance(data_type, AtomicType) and data_type.root in TEXTS


def _texts(array: Column, data_type: DataType) -> Column:
    """Convert atomic values to strings."""
    if not isinstance(data_type, AtomicType) or data_type.root in TEXTS:
        return array
    if data_type.root in _BYTES:
        encoded = [None if v is None else _base64(v) for v in as_python(array)]
        return pa.array(encoded, pa.string())
    return cast_column(array, data_type, STRING)


def _base64(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else ""


def _json(array: Column, data_type: DataType) -> Column:
    if isinstance(data_type, AtomicType):
        return json_strings(_texts(array, data_type))
    values = _json_values(array, data_type)
    return pa.array([None if v is None else json_value(v) for v in values], pa.string())


def _json_rows(columns: Sequence[Column], fields: Sequence[DataField]) -> list[dict[str, Json]]:
    """Convert columns to one JSON object per row."""
    values = [_json_values(c, f.type) for c, f in zip(columns, fields, strict=True)]
    names = [field.name for field in fields]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _json_values(array: Column, data_type: DataType) -> list[Json]:
    match data_type:
        case AtomicType():
            return [None if v is None else str(v) for v in as_python(_texts(array, data_type))]
        case ArrayType(element=element) if isinstance(array, pa.ListArray):
            return list(_runs(array, _json_values(array.values, element)))
        case VectorType(element=element) if isinstance(array, pa.FixedSizeListArray):
            plain = array.cast(pa.list_(array.type.value_type))
            return _json_values(plain, ArrayType(element=element))
        case MapType(key=key, value=value) if isinstance(array, pa.MapArray):
            keys = _json_values(array.keys, key)
            pairs = list(zip(keys, _json_values(array.items, value), strict=True))
            return [None if run is None else _object(run) for run in _runs(array, pairs)]
        case RowType() if isinstance(array, pa.StructArray):
            rows = _json_rows(array.flatten(), data_type.fields)
            valid = valid_mask(array).tolist()
            return [row if ok else None for row, ok in zip(rows, valid, strict=True)]
        case _:
            raise UnsupportedFeatureError(
                f"writing a value of type {type_text(data_type)} to a JSON file"
            )


def _object(pairs: Sequence[tuple[Json, Json]]) -> dict[str, Json]:
    return {str(key): value for key, value in pairs}


def _runs(array: Column, values: list[T]) -> Iterator[list[T] | None]:
    """Yield the values of each list."""
    offsets = list_offsets(array).tolist()
    for (start, end), ok in zip(pairwise(offsets), valid_mask(array).tolist(), strict=True):
        yield values[start:end] if ok else None
