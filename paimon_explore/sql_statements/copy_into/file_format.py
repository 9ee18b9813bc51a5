"""The clause FILE_FORMAT of COPY INTO: a format and its options, with Java's names.

| option | import | export |
| --- | --- | --- |
| FIELD_DELIMITER, QUOTE, ESCAPE | CSV | CSV |
| SKIP_HEADER: 0 or 1 | CSV | |
| HEADER | | CSV |
| NULL_IF, EMPTY_FIELD_AS_NULL | CSV, JSON | |
| MULTI_LINE | JSON | |
| DATE_FORMAT, TIMESTAMP_FORMAT | | JSON |
| COMPRESSION | all | all |
"""

from collections.abc import Mapping
from dataclasses import field

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sql_statements.tokenizer import Kind, Reader

CSV, JSON, PARQUET = "CSV", "JSON", "PARQUET"
_FORMATS = (CSV, JSON, PARQUET)
_TEXT = {"FIELD_DELIMITER": "sep", "QUOTE": "quote", "ESCAPE": "escape"}
_ALL = {"COMPRESSION": "compression"}
_READ = {
    CSV: {**_TEXT, **_ALL, "SKIP_HEADER": "header"},
    JSON: {**_ALL, "MULTI_LINE": "multiLine"},
    PARQUET: _ALL,
}
_WRITE = {
    CSV: {**_TEXT, **_ALL, "HEADER": "header"},
    JSON: {**_ALL, "DATE_FORMAT": "dateFormat", "TIMESTAMP_FORMAT": "timestampFormat"},
    PARQUET: _ALL,
}
_NULLS = ("NULL_IF", "EMPTY_FIELD_AS_NULL")
_FLAGS = {"true": "true", "false": "false", "1": "true", "0": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A file format.

    Attributes:
        kind: `CSV`, `JSON` or `PARQUET`.
        options: options of Spark's reader or writer.
        null_texts: texts that mean null.
    """

    kind: str
    options: Mapping[str, str] = field(default_factory=dict)
    null_texts: tuple[str, ...] = ()

    @property
    def signs(self) -> list[str]:
        """Return the separator, the quote and the escape character of CSV lines."""
        found = [
            self.options.get(*pair) for pair in (("sep", ","), ("quote", '"'), ("escape", "\\"))
        ]
        return [(text or "").replace("\\t", "\t") for text in found]


def file_format(text: str, *, is_import: bool) -> FileFormat:
    """Parse the inside of `FILE_FORMAT = (TYPE = CSV, …)`.

    Raises:
        InvalidInputError: the type is missing or unknown, or an option does not belong to it.
    """
    given = _given(text)
    kinds = given.pop("TYPE", ("",))
    kind = kinds[0].upper()
    if kind not in _FORMATS:
        raise InvalidInputError(
            f"COPY INTO: FILE_FORMAT has TYPE = {kinds[0]!r}."
            if kind
            else "COPY INTO: FILE_FORMAT has no TYPE.",
            hint=f"Write TYPE = {choices(_FORMATS)}.",
        )
    names = (_READ if is_import else _WRITE)[kind]
    known = {*names, *(_NULLS if is_import and kind != PARQUET else ())}
    for name in given:
        if name not in known:
            raise InvalidInputError(
                f"COPY INTO: {name} is not an option for {'reading' if is_import else 'writing'} "
                f"{kind} files.",
                hint=f"Options: {choices(sorted(known))}.",
            )
    options = {
        names[name]: _flag(name, values[0]) if names[name] in {"header", "multiLine"} else values[0]
        for name, values in given.items()
        if name in names
    }
    nulls = given.get("NULL_IF", ())
    if _flag("EMPTY_FIELD_AS_NULL", given.get("EMPTY_FIELD_AS_NULL", ("false",))[0]) == "true":
        nulls = (*nulls, "")
    return FileFormat(kind=kind, options=options, null_texts=nulls)


def _given(text: str) -> dict[str, tuple[str, ...]]:
    """Return the options by name, each with its values."""
    reader, found = Reader(text), dict[str, tuple[str, ...]]()
    while not reader.is_done:
        name = reader.identifier("an option").upper()
        reader.expect("=", part="FILE_FORMAT")
        if reader.here.sign == "(":
            found[name] = tuple(Reader(one).text("a value") for one in reader.parts("the values"))
        else:
            found[name] = (option_value(reader),)
        if not reader.is_done:
            reader.expect(",", part="FILE_FORMAT")
    return found


def option_value(reader: Reader) -> str:
    """Read a string, a number or a word."""
    if reader.here.kind is Kind.TEXT:
        return reader.text("the value")
    if reader.here.kind in {Kind.WORD, Kind.NAME, Kind.NUMBER}:
        return reader.next().text
    raise reader.problem("expected a value", part="COPY INTO")


def _flag(name: str, value: str) -> str:
    if value.lower() not in _FLAGS:
        is_count = name == "SKIP_HEADER"
        known = "0 or 1" if is_count else "TRUE or FALSE"
        raise InvalidInputError(
            f"COPY INTO: {name} must be {known}, not {value!r}.",
            hint="At most one line of headers can be skipped." if is_count else "",
        )
    return _FLAGS[value.lower()]
