r"""Lines of CSV and JSON files as rows of texts, parsed as Spark does in the mode PERMISSIVE.

pyarrow and DuckDB remove the `\` of unquoted CSV values, and lose digits of JSON numbers.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    list_offsets,
    null_scalar,
    string_scalar,
    take_rows,
)
from paimon_explore.data_types.casts.text_functions import computed
from paimon_explore.sql_statements.copy_into.file_format import CSV, FileFormat

_Row: TypeAlias = tuple[Sequence[str | None], str | None]
"""The values, and the line if it cannot be parsed."""
_BATCH_ROWS = 20_000
_CODECS: Mapping[str, Literal["gzip", "bz2", "zstd"]] = {
    "gz": "gzip",
    "bz2": "bz2",
    "zst": "zstd",
}


class _Number(str):
    """A number by its text."""

    __slots__ = ()


_JSON = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)


def text_rows(
    stream: pa.NativeFile, path: str, form: FileFormat, names: Sequence[str]
) -> Iterator[list[Column]]:
    """Parse a file: yield the values of the wanted columns, and the lines that cannot be parsed.

    Args:
        stream: the file.
        path: its path, whose extension tells the compression.
        form: its format.
        names: the wanted columns: keys of JSON objects, or as many values of CSV lines.
    """
    codec = _CODECS.get(path.rpartition(".")[2].lower())
    plain = stream if codec is None else pa.CompressedInputStream(stream, codec)
    text = io.TextIOWrapper(plain, "utf-8-sig", errors="replace")  # type: ignore[type-var]  # is a stream
    if form.options.get("multiLine") == "true":
        yield _json_rows(names, [text.read()])
        return
    found = (line.rstrip("\n") for line in text)
    lines = (line for line in found if line.strip())
    if form.kind == CSV and form.options.get("header") == "true":
        next(lines, None)
    read = _csv_rows(form, len(names)) if form.kind == CSV else partial(_json_rows, names)
    while part := list(islice(lines, _BATCH_ROWS)):
        yield read(part)


def _columns(rows: Sequence[_Row], count: int) -> list[Column]:
    """Return the values by column, and the lines that cannot be parsed."""
    values = [*zip(*(values for values, _ in rows), strict=True)] or [()] * count
    return [pa.array(column, pa.string()) for column in (*values, [line for _, line in rows])]


def _json_rows(names: Sequence[str], lines: Sequence[str]) -> list[Column]:
    return _columns([row for line in lines for row in _objects(line, names)], len(names))


def _csv_rows(form: FileFormat, count: int) -> Callable[[Sequence[str]], list[Column]]:
    """Return the function that splits lines into a number of values."""
    separator, quote, escape = form.signs
    values = _values_of(separator, quote, escape)

    def read(lines: Sequence[str]) -> list[Column]:
        if not quote or not any(quote in line for line in lines):
            options = pc.SplitPatternOptions(separator)
            split: Column = pc.call_function("split_pattern", [pa.array(lines)], options)
            if (np.diff(list_offsets(split)) == count).all():
                texts = computed("list_flatten", [split])
                none = null_scalar(pa.string())
                texts = computed(
                    "if_else", [computed("equal", [texts, string_scalar("")]), none, texts]
                )
                places = np.arange(len(lines)) * count
                found = [take_rows(texts, places + at) for at in range(count)]
                return [*found, pa.nulls(len(lines), pa.string())]
        rows = [[value or None for value in values(line)] for line in lines]
        parsed = [
            (row, None) if len(row) == count else ([None] * count, line)
            for row, line in zip(rows, lines, strict=True)
        ]
        return _columns(parsed, count)

    return read


def _values_of(separator: str, quote: str, escape: str) -> Callable[[str], list[str]]:
    r"""Return the function that splits a line.

    >>> _values_of(",", '"', "\\")(r'C:\a,"x\",y" ,"a"b"')
    ['C:\\a', 'x",y', '"a"b"']
    """
    if not quote:
        return lambda line: line.split(separator)
    s, q, e = map(re.escape, (separator, quote, escape))
    pair = f"{e}([{q}{e}])" if e else "(?!)()"
    body = pair.replace("(", "(?:", 1) if e else "(?!)"
    token = re.compile(rf"(?:{q}((?:{body}|[^{q}])*+)(?:{q}[ \t]*(?={s}|$)|$)|(.*?))({s}|$)")

    def values(line: str) -> list[str]:
        if quote not in line:
            return line.split(separator)
        found, at, more = list[str](), 0, "more"
        while more:
            match = token.match(line, at)
            assert match is not None  # noqa: S101 - it matches every text
            inner, plain, more = match.groups()
            found.append(plain if inner is None else re.sub(pair, r"\1", inner))
            at = match.end()
        return found

    return values


def _objects(text: str, names: Sequence[str]) -> Iterator[_Row]:
    """Parse the first JSON value of a text: an object, or an array of objects."""
    try:
        found, _ = _JSON.raw_decode(text.strip())
    except ValueError:
        found = None
    rows = found if isinstance(found, list) else [found]
    if all(isinstance(row, dict) for row in rows):
        yield from (([_text(row.get(name)) for name in names], None) for row in rows)
    else:
        yield [None] * len(names), text


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, str) else None if value is None else _json(value)


def _json(value: object) -> str:
    """Return the text of a value; numbers keep their digits."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        members = (
            f"{json.dumps(key, ensure_ascii=False)}:{_json(one)}" for key, one in value.items()
        )
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_json, value))}]"
    return json.dumps(value, ensure_ascii=False)
