r"""Lines of CSV and JSON files as rows of texts, parsed as Spark does in the mode PERMISSIVE.

pyarrow and DuckDB remove the `\` of unquoted CSV values, and lose digits of JSON numbers.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, TypeAlias

import pyarrow as pa

from paimon_explore.sql_statements.copy_into.file_format import CSV, FileFormat

TextRow: TypeAlias = tuple[Sequence[str | None], str | None]
"""The values, and the line if it cannot be parsed."""
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
) -> Iterator[TextRow]:
    """Parse a file.

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
        yield from _objects(text.read(), names)
        return
    found = (line.rstrip("\n") for line in text)
    lines = (line for line in found if line.strip())
    if form.kind == CSV:
        values = _values_of(form)
        for line in islice(lines, int(form.options.get("header") == "true"), None):
            row = [value or None for value in values(line)]
            yield (row, None) if len(row) == len(names) else ([None] * len(names), line)
        return
    for line in lines:
        yield from _objects(line, names)


def _values_of(form: FileFormat) -> Callable[[str], list[str]]:
    r"""Return the function that splits a line.

    >>> _values_of(FileFormat(kind=CSV))(r'C:\a,"x\",y" ,"a"b"')
    ['C:\\a', 'x",y', '"a"b"']
    """
    given = [form.options.get(*pair) for pair in (("sep", ","), ("quote", '"'), ("escape", "\\"))]
    separator, quote, escape = ((text or "").replace("\\t", "\t") for text in given)
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


def _objects(text: str, names: Sequence[str]) -> Iterator[TextRow]:
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
