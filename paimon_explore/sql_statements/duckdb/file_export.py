"""COPY INTO 'folder' FROM a table or query without Spark: one file, with the text of Spark's."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pat
from sqlglot.dialects.spark import Spark
from sqlglot.time import format_time

from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join
from paimon_explore.sql_statements.copy_into.file_format import CSV, PARQUET, FileFormat
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows

_TEXT_CODECS = {"none": "", "gzip": ".gz", "bzip2": ".bz2"}
_PARQUET_CODECS = {"none": "", "snappy": ".snappy", "gzip": ".gz", "zstd": ".zstd"}
_SPACES = "".join(map(chr, range(33)))
_Text = Callable[[object], str]


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
    line = _csv_line(reader.schema, form) if form.kind == CSV else _json_line(reader.schema, form)
    out = stream
    if codec != "none":
        out = pa.CompressedOutputStream(stream, "gzip" if codec == "gzip" else "bz2")
    with out:
        if form.options.get("header") == "true":
            header = pa.schema([(field, pa.string()) for field in reader.schema.names])
            out.write(f"{_csv_line(header, form)(reader.schema.names)}\n".encode())
        for batch in reader:
            for values in _rows(batch):
                out.write(f"{line(values)}\n".encode())
            count += batch.num_rows
    return count


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[object, ...]]:
    columns = [
        column.cast(pa.timestamp("us", column.type.tz), safe=False)
        if pat.is_timestamp(column.type)
        else column
        for column in batch.columns
    ]
    return zip(*(column.to_pylist() for column in columns), strict=True)


def _csv_line(schema: pa.Schema, form: FileFormat) -> Callable[[Sequence[object]], str]:
    given = [form.options.get(*pair) for pair in (("sep", ","), ("quote", '"'), ("escape", "\\"))]
    separator, quote, escape = ((text or "").replace("\\t", "\t") for text in given)
    for field in schema:
        if pat.is_nested(field.type):
            raise UnsupportedFeatureError(
                f"COPY INTO CSV files with column {field.name!r} of type {field.type}",
                hint="Write JSON or Parquet files.",
            )
    texts = [_hex if pat.is_binary(field.type) else _text(field.type, {}) for field in schema]
    special = (separator, quote, "\n", "\r")

    def cell(value: object, text: _Text) -> str:
        if value is None:
            return ""
        shown = text(value).strip(_SPACES)
        if not quote or (shown and not any(one and one in shown for one in special)):
            return shown
        if escape != quote:
            shown = shown.replace(escape, escape * 2) if escape else shown
        return f"{quote}{shown.replace(quote, escape + quote)}{quote}"

    return lambda values: separator.join(map(cell, values, texts))


def _json_line(schema: pa.Schema, form: FileFormat) -> Callable[[Sequence[object]], str]:
    formats = {
        name: _strftime(pattern)
        for name, pattern in form.options.items()
        if name in {"dateFormat", "timestampFormat"}
    }
    members = [(_string(field.name), _json(field.type, formats)) for field in schema]
    return lambda values: _object(zip(members, values, strict=True))


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


def _object(members: "Iterator[tuple[tuple[str, _Text], object]]") -> str:
    found = (f"{name}:{text(value)}" for (name, text), value in members if value is not None)
    return f"{{{','.join(found)}}}"


def _string(text: object) -> str:
    return json.dumps(text, ensure_ascii=False)


def _json(kind: pa.DataType, formats: Mapping[str, str]) -> _Text:
    """Return how JSON contains a value; null members of objects are left out, as in Spark."""
    if isinstance(kind, pa.StructType):
        members = [(field.name, _string(field.name), _json(field.type, formats)) for field in kind]
        return lambda value: _object(
            ((key, text), value[name])  # type: ignore[index]  # a dict
            for name, key, text in members
        )
    if isinstance(kind, pa.MapType):
        key, item = _text(kind.key_type, formats), _or_null(_json(kind.item_type, formats))
        return lambda value: "{{{}}}".format(
            ",".join(f"{_string(key(k))}:{item(v)}" for k, v in value)  # type: ignore[attr-defined]  # pairs
        )
    if isinstance(kind, pa.ListType):
        item = _or_null(_json(kind.value_type, formats))
        return lambda value: f"[{','.join(map(item, value))}]"  # type: ignore[call-overload]  # a list
    text = _text(kind, formats)
    if pat.is_floating(kind):
        return lambda value: text(value) if abs(value) < float("inf") else _string(text(value))  # type: ignore[arg-type]
    if pat.is_integer(kind) or pat.is_decimal(kind) or pat.is_boolean(kind):
        return text
    return lambda value: _string(text(value))


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
