"""COPY INTO 'folder' FROM a table or query without Spark: one file, with the text of Spark's."""

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pat
from sqlglot.dialects.spark import Spark
from sqlglot.time import format_time

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_python,
    map_distinct,
    string_scalar,
    used_bytes,
)
from paimon_explore.data_types.casts.float_to_text import float_texts
from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.data_types.casts.text_functions import (
    computed,
    concatenated,
    matches,
    replaced,
)
from paimon_explore.data_types.definitions import TypeRoot
from paimon_explore.encoding.csv_json import json_strings, json_value
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join
from paimon_explore.sql_statements.copy_into.file_format import CSV, PARQUET, FileFormat
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows

_TEXT_CODECS = {"none": "", "gzip": ".gz", "bzip2": ".bz2"}
_PARQUET_CODECS = {"none": "", "snappy": ".snappy", "gzip": ".gz", "zstd": ".zstd"}
_SPACES = "".join(map(chr, range(33)))
_LINES = 1 << 14
_Text = Callable[[object], str]
_Lines = Callable[[pa.RecordBatch], Column]


def export_rows(
    rows: DuckRows, form: FileFormat, folder: str, storage: tuple[FileIO, str], *, overwrite: bool
) -> int:
    """Write rows to a file in a folder; return their number.

    Args:
        rows: the rows.
        form: the format of the file.
        folder: the folder as the statement names it.
        storage: its storage and path.
        overwrite: whether the files of an existing folder are deleted, after the new one is there.

    Raises:
        InvalidInputError: the folder exists and is not replaced, or a wrong option.
        UnsupportedFeatureError: a type that CSV files do not store.
    """
    file_io, path = storage
    if not overwrite and file_io.exists(path):
        raise InvalidInputError(
            f"COPY INTO: the folder {folder!r} exists.",
            hint="Add OVERWRITE = TRUE to replace its files.",
        )
    codecs = _PARQUET_CODECS if form.kind == PARQUET else _TEXT_CODECS
    codec = form.options.get("compression", "snappy" if form.kind == PARQUET else "none").lower()
    codec = "none" if codec == "uncompressed" else codec
    if codec not in codecs:
        raise InvalidInputError(
            f"COPY INTO: COMPRESSION = {codec!r} is unknown for {form.kind} files.",
            hint=f"Use {choices(codecs)}.",
        )
    suffix = f".{form.kind.lower()}"
    suffix = codecs[codec] + suffix if form.kind == PARQUET else suffix + codecs[codec]
    before = file_io.list(path)
    name = join(path, f"part-00000-{uuid4()}-c000{suffix}")
    with file_io.create_stream(name) as stream:
        count = _write(rows.to_batches(), form, stream, codec)
    for status in before:
        (file_io.delete_folder if status.is_folder else file_io.delete)(status.path)
    file_io.replace(join(path, "_SUCCESS"), b"")
    return count


def _write(
    reader: pa.RecordBatchReader, form: FileFormat, stream: pa.NativeFile, codec: str
) -> int:
    count = 0
    if form.kind == PARQUET:
        with pq.ParquetWriter(stream, reader.schema, compression=codec) as writer:  # type: ignore[arg-type]  # checked
            for batch in reader:
                writer.write_batch(batch)
                count += batch.num_rows
        return count
    lines = _csv_lines(reader.schema, form) if form.kind == CSV else _json_lines(form)
    out = stream
    if codec != "none":
        out = pa.CompressedOutputStream(stream, "gzip" if codec == "gzip" else "bz2")
    with out:
        if form.options.get("header") == "true":
            names = reader.schema.names
            header = pa.RecordBatch.from_arrays([pa.array([name]) for name in names], names)
            out.write(_bytes(_csv_lines(header.schema, form)(header)))
        for batch in reader:
            for start in range(0, batch.num_rows, _LINES):
                out.write(_bytes(lines(batch.slice(start, _LINES))))
            count += batch.num_rows
    return count


def _bytes(lines: Column) -> pa.Buffer:
    """Return the lines one after the other."""
    return pa.py_buffer(used_bytes(_wrapped(lines, "", "\n")))  # type: ignore[arg-type]  # as stubs tell


def _csv_lines(schema: pa.Schema, form: FileFormat) -> _Lines:
    separator, quote, escape = form.signs
    for field in schema:
        if pat.is_nested(field.type):
            raise UnsupportedFeatureError(
                f"COPY INTO CSV files with column {field.name!r} of type {field.type}",
                hint="Write JSON or Parquet files.",
            )
    special = (one for one in (separator, quote, "\n", "\r") if one)
    quoted = "|".join(["^$", *map(re.escape, special)])

    def cells(column: Column) -> Column:
        if pat.is_binary(column.type):
            return _by_value(column, _hex)
        shown = computed("utf8_trim", [_texts(column, {})], pc.TrimOptions(_SPACES))
        is_quoted = matches(shown, quoted)
        if quote and pc.call_function("any", [is_quoted]).as_py():
            inner = shown
            if escape != quote and escape:
                inner = _with(inner, escape, escape * 2)
            inner = _wrapped(_with(inner, quote, escape + quote), quote, quote)
            shown = computed("if_else", [is_quoted, inner, shown])
        return shown

    return lambda batch: _joined([*map(cells, batch.columns)], separator, "replace")


def _json_lines(form: FileFormat) -> _Lines:
    formats = {
        name: _strftime(pattern)
        for name, pattern in form.options.items()
        if name in {"dateFormat", "timestampFormat"}
    }

    def members(name: str, column: Column) -> Column:
        return _wrapped(_json_texts(column, formats), f"{json_value(name)}:", "")

    return lambda batch: _wrapped(
        _joined([*map(members, batch.schema.names, batch.columns)], ",", "skip"), "{", "}"
    )


def _json_texts(column: Column, formats: Mapping[str, str]) -> Column:
    """Return the values of a column in JSON; null for null."""
    kind = column.type
    if pat.is_nested(kind):
        text = _json(kind, formats)
        return pa.array([None if v is None else text(v) for v in as_python(column)], pa.string())
    shown = _texts(column, formats)
    if pat.is_integer(kind) or pat.is_decimal(kind) or pat.is_boolean(kind):
        return shown
    quoted = json_strings(shown)
    if pat.is_floating(kind):
        return computed("if_else", [pc.call_function("is_finite", [column]), shown, quoted])
    return quoted


def _texts(column: Column, formats: Mapping[str, str]) -> Column:
    """Return the texts of atomic values; null for null."""
    kind = column.type
    if pat.is_dictionary(kind):
        return _texts(column.cast(kind.value_type), formats)
    if pat.is_integer(kind) or pat.is_boolean(kind) or pat.is_large_string(kind):
        return column.cast(pa.string())
    if pat.is_floating(kind):
        return float_texts(column, TypeRoot.FLOAT if kind == pa.float32() else TypeRoot.DOUBLE)
    if pat.is_timestamp(kind):
        if kind.tz is None and "timestampFormat" not in formats:
            options = pc.RoundTemporalOptions(unit="millisecond")
            floored = computed("floor_temporal", [column], options)
            return replaced(floored.cast(pa.timestamp("ms")).cast(pa.string()), " ", "T")
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    return column if pat.is_string(kind) else _by_value(column, _text(kind, formats))


def _by_value(column: Column, text: _Text) -> Column:
    """Return a column of texts, which are computed once for each value."""
    return map_distinct(column, text, pa.string())


def _wrapped(texts: Column, start: str, end: str) -> Column:
    return concatenated(string_scalar(start), texts, string_scalar(end))


def _with(texts: Column, old: str, new: str) -> Column:
    return computed("replace_substring", [texts], pc.ReplaceSubstringOptions(old, new))


def _joined(columns: Sequence[Column], separator: str, nulls: Literal["skip", "replace"]) -> Column:
    """Join the texts of each row; null is left out, or an empty text."""
    options = pc.JoinOptions(null_handling=nulls)
    return computed("binary_join_element_wise", [*columns, string_scalar(separator)], options)


def _strftime(pattern: str) -> str:
    """Translate a pattern of Java; its quoted parts stay."""
    made = ""
    for at, part in enumerate(pattern.split("'")):
        text = part if at % 2 else format_time(part, Spark.TIME_MAPPING, Spark.TIME_TRIE) or ""
        text = text if at % 2 else text.replace("strict", "")
        if not at % 2 and re.search(r"[A-Za-z]", re.sub("%-?[A-Za-z]", "", text)):
            raise UnsupportedFeatureError(
                f"the format {pattern!r} without Spark", hint="Use y, M, d, H, h, m, s, S and E."
            )
        made += text
    return made


def _object(members: Iterable[tuple[tuple[str, _Text], object]]) -> str:
    found = (f"{name}:{text(value)}" for (name, text), value in members if value is not None)
    return f"{{{','.join(found)}}}"


def _json(kind: pa.DataType, formats: Mapping[str, str]) -> _Text:
    """Return how JSON contains a value; null members of objects are left out, as in Spark."""
    if isinstance(kind, pa.StructType):
        members = [
            (field.name, json_value(field.name), _json(field.type, formats)) for field in kind
        ]
        return lambda value: _object(
            ((key, text), value[name])  # type: ignore[index]  # a dict
            for name, key, text in members
        )
    if isinstance(kind, pa.MapType):
        key, item = _text(kind.key_type, formats), _or_null(_json(kind.item_type, formats))
        return lambda value: "{{{}}}".format(
            ",".join(f"{json_value(key(k))}:{item(v)}" for k, v in value)  # type: ignore[attr-defined]  # pairs
        )
    if isinstance(kind, pa.ListType):
        item = _or_null(_json(kind.value_type, formats))
        return lambda value: f"[{','.join(map(item, value))}]"  # type: ignore[call-overload]  # a list
    text = _text(kind, formats)
    if pat.is_floating(kind):
        return lambda value: text(value) if abs(value) < float("inf") else json_value(text(value))  # type: ignore[arg-type]
    if pat.is_integer(kind) or pat.is_decimal(kind) or pat.is_boolean(kind):
        return text
    return lambda value: json_value(text(value))


def _or_null(text: _Text) -> _Text:
    return lambda value: "null" if value is None else text(value)


def _text(kind: pa.DataType, formats: Mapping[str, str]) -> _Text:
    """Return the text of an atomic value."""
    pattern = formats.get("dateFormat" if pat.is_date(kind) else "timestampFormat")

    def text(value: object) -> str:  # noqa: PLR0911 - one for each type
        match value:
            case bool():
                return str(value).lower()
            case float():
                return float_text(value) if kind == pa.float32() else double_text(value)
            case Decimal():
                return format(value, "f")
            case bytes():
                return base64.b64encode(value).decode()
            case datetime():
                if pattern and value.tzinfo:
                    return value.strftime(pattern)
                return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            case date():
                return value.strftime(pattern) if pattern else value.isoformat()
            case _:
                return str(value)

    return text


def _hex(value: object) -> str:
    assert isinstance(value, bytes)  # noqa: S101 - of a binary column
    return f"[{value.hex(' ').upper()}]"
