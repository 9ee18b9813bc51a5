"""Parsing of types in SQL syntax, such as `DECIMAL(10, 2) NOT NULL` or `MAP<STRING, ARRAY<INT>>`.

Keywords are case-insensitive and white space is ignored. Schema files store atomic types in this
form; users also write nested types, as DESCRIBE prints them.

Spec: concepts/spec/schema.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullable,
)
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.errors import InvalidInputError, choices, suggestion

T = TypeVar("T")

MAX_DEPTH = 64
"""Maximum nesting of types; protects against stack overflow."""

MAX_DECIMAL_PRECISION = 38
DEFAULT_DECIMAL_PRECISION = 10
MAX_FRACTION_DIGITS = 9
DEFAULT_TIMESTAMP_DIGITS = 6
DEFAULT_CRS = "OGC:CRS84"
EDGE_ALGORITHMS = ("spherical", "vincenty", "thomas", "andoyer", "karney")

_SHOWN_CHARS = 80
_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[0-9]{1,10}(?![0-9])")
_SPACE = re.compile(r"\s*")
_QUOTED_NAME = re.compile(r"`((?:[^`]|``)+)`")
_QUOTED_TEXT = re.compile(r"'((?:[^']|'')*)'")
_BARE_PARAMETER = re.compile(r"[^\s<>(),.'`\d][^\s<>(),.'`]*")
_BARE_DEFAULT = re.compile(r"[^\s,<>()'`]+")


_ELSEWHERE = {
    **dict.fromkeys(("TEXT", "STR", "UTF8", "LARGE_STRING", "UUID", "ENUM"), "STRING"),
    **dict.fromkeys(("BOOL", "LOGICAL"), "BOOLEAN"),
    "BYTE": "TINYINT",
    **dict.fromkeys(("SHORT", "INT16", "UINT8"), "SMALLINT"),
    **dict.fromkeys(("INT32", "UINT16"), "INT"),
    **dict.fromkeys(("LONG", "INT64", "UINT32", "SERIAL"), "BIGINT"),
    "UINT64": "DECIMAL(20, 0)",
    "HUGEINT": "DECIMAL(38, 0)",
    **dict.fromkeys(("REAL", "FLOAT32"), "FLOAT"),
    "FLOAT64": "DOUBLE",
    **dict.fromkeys(("DATETIME", "TIMESTAMP_NTZ", "TIMESTAMPNTZ"), "TIMESTAMP"),
    **dict.fromkeys(("TIMESTAMPTZ", "TIMESTAMPLTZ"), "TIMESTAMP_LTZ"),
    "BYTEA": "BYTES",
    **dict.fromkeys(("JSON", "JSONB"), "VARIANT"),
    "STRUCT": "ROW<name TYPE, …>",
    "LIST": "ARRAY<TYPE>",
}
"""Names of types in other systems, with the type that stores their values here."""


class UnreadableTypeError(Exception):
    """The text of a type is invalid; callers convert it to an error of their own."""


class UnknownTypeError(UnreadableTypeError):
    """The text begins with a word that is no type: it may be one of a later version of Paimon."""


def parse_type_text(text: str) -> DataType:
    """Parse a type written by a user; nested rows get new field ids.

    Raises:
        InvalidInputError: the text is not a type.

    >>> parse_type_text("map<string, decimal(10,2)>").value.precision
    10
    """
    try:
        data_type = _TypeParser(text, rows=True).parse(0)
    except UnreadableTypeError as problem:
        raise InvalidInputError(_sentence(f"Invalid type {excerpt(text)}: {problem}")) from problem
    return assigned_ids((DataField(id=0, name="", type=data_type),), -2)[0].type


def _sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


@lru_cache(maxsize=256)  # wide tables have hundreds of columns of few types
def read_stored_text(text: str, depth: int) -> DataType:
    """Parse a type string of a schema file. ROW is rejected, as a string has no field ids.

    Raises:
        UnreadableTypeError: the text is not a type.
    """
    return _TypeParser(text, rows=False).parse(depth)


def checked_length(keyword: str, length: int) -> int:
    """Return the length if it is valid.

    Raises:
        UnreadableTypeError: it is below 1 or above 2^31 - 1.
    """
    if not 1 <= length <= MAX_LENGTH:
        raise UnreadableTypeError(
            f"the length of {keyword} must be 1 to {MAX_LENGTH}, not {length}"
        )
    return length


def excerpt(value: object) -> str:
    """Format a value for a message, truncated if long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


class _TypeParser:
    """Recursive-descent parser of one type."""

    def __init__(self, text: str, *, rows: bool) -> None:
        self._text = text
        self._at = 0
        self._rows = rows

    def parse(self, depth: int) -> DataType:
        data_type = self._type(depth)
        self._skip_space()
        if self._at < len(self._text):
            raise self._expected("the end of the type")
        return data_type

    def _type(self, depth: int) -> DataType:
        if depth > MAX_DEPTH:
            raise UnreadableTypeError(f"types are nested more than {MAX_DEPTH} levels deep")
        keyword = self._name("a type").upper()
        if keyword in _NESTED_KINDS:
            data_type = self._nested(keyword, depth)
        elif keyword in _ATOMIC_KINDS:
            data_type = _ATOMIC_KINDS[keyword](self, keyword)
        else:
            known = (*_ATOMIC_KINDS, *_NESTED_KINDS)
            here = _ELSEWHERE.get(keyword)
            near = suggestion(keyword, known).strip() or f"Types: {choices(known, limit=40)}"
            advice = f"Write {here}" if here else near
            raise UnknownTypeError(f"the type {keyword!r} is unknown. {advice}")
        return self._suffixed(with_nullable(data_type, nullable=self._nullable()))

    def _suffixed(self, data_type: DataType) -> DataType:
        if self._accept_words("ARRAY"):
            return ArrayType(element=data_type, nullable=self._nullable())
        if self._accept_words("MULTISET"):
            return MultisetType(element=data_type, nullable=self._nullable())
        return data_type

    def _nullable(self) -> bool:
        if self._accept_words("NOT", "NULL"):
            return False
        self._accept_words("NULL")
        return True

    def _nested(self, keyword: str, depth: int) -> DataType:
        if keyword == "ROW" and not self._rows:
            raise UnreadableTypeError("a schema file must store ROW as an object, not as a string")
        self._expect("<")
        if keyword == "ROW":
            fields = [] if self._peek(">") else [self._field(depth + 1)]
            while self._accept(","):
                fields.append(self._field(depth + 1))
            data_type: DataType = RowType(fields=tuple(fields))
        else:
            data_type = self._collection(keyword, self._type(depth + 1), depth)
        self._expect(">")
        return data_type

    def _collection(self, keyword: str, first: DataType, depth: int) -> DataType:
        if keyword == "ARRAY":
            return ArrayType(element=first)
        if keyword == "MULTISET":
            return MultisetType(element=first)
        self._expect(",")
        if keyword == "MAP":
            return MapType(key=first, value=self._type(depth + 1))
        return VectorType(element=first, length=checked_length(keyword, self._number()))

    def _field(self, depth: int) -> DataField:
        quoted = self._match(_QUOTED_NAME)
        name = quoted[1].replace("``", "`") if quoted else self._name()
        self._accept(":")
        data_type = self._type(depth)
        comment = self._match(_QUOTED_TEXT, first="COMMENT")
        default = self._match(_QUOTED_TEXT, _BARE_DEFAULT, first="DEFAULT")
        return DataField(
            id=0,
            name=name,
            type=data_type,
            description=None if comment is None else comment[1].replace("''", "'"),
            default_value=None if default is None else default[0],
        )

    def numbers(self, max_count: int) -> list[int]:
        """Parse numbers in parentheses; returns none without parentheses."""
        return self._in_parentheses(self._number, max_count)

    def parameters(self, max_count: int) -> list[str]:
        """Parse quoted or bare texts in parentheses; returns none without parentheses."""
        return self._in_parentheses(self._parameter, max_count)

    def _in_parentheses(self, parse: Callable[[], T], max_count: int) -> list[T]:
        if not self._accept("("):
            return []
        found = [parse()]
        while len(found) < max_count and self._accept(","):
            found.append(parse())
        self._expect(")")
        return found

    def accept_time_zone(self) -> bool:
        """Parse an optional time zone clause; returns whether it is WITH LOCAL TIME ZONE."""
        if self._accept_words("WITH", "LOCAL", "TIME", "ZONE"):
            return True
        self._accept_words("WITHOUT", "TIME", "ZONE")
        return False

    def accept_precision(self) -> None:
        """Parse the optional PRECISION of DOUBLE PRECISION."""
        self._accept_words("PRECISION")

    def _parameter(self) -> str:
        quoted = self._match(_QUOTED_TEXT)
        if quoted is not None:
            return quoted[1].replace("''", "'")
        bare = self._match(_BARE_PARAMETER)
        if bare is None:
            raise self._expected("a name or a quoted string")
        return bare[0]

    def _name(self, expected: str = "a name") -> str:
        found = self._match(_WORD)
        if found is None:
            raise self._expected(expected)
        return found[0]

    def _number(self) -> int:
        found = self._match(_NUMBER)
        if found is None:
            raise self._expected("a number below 2^31")
        return int(found[0])

    def _accept_words(self, *words: str) -> bool:
        start = self._at
        for word in words:
            found = self._match(_WORD)
            if found is None or found[0].upper() != word:
                self._at = start
                return False
        return True

    def _peek(self, mark: str) -> bool:
        self._skip_space()
        return self._text.startswith(mark, self._at)

    def _accept(self, mark: str) -> bool:
        found = self._peek(mark)
        self._at += found
        return found

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise self._expected(repr(mark))

    def _match(self, *patterns: re.Pattern[str], first: str = "") -> re.Match[str] | None:
        start = self._at
        if first and not self._accept_words(first):
            return None
        self._skip_space()
        for pattern in patterns:
            found = pattern.match(self._text, self._at)
            if found is not None:
                self._at = found.end()
                return found
        self._at = start
        return None

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self._at)
        self._at = self._at if found is None else found.end()

    def _expected(self, expected: str) -> UnreadableTypeError:
        rest = excerpt(self._text[self._at :]) if self._at < len(self._text) else "the end"
        return UnreadableTypeError(f"{expected} is expected at character {self._at}, not {rest}")


def _plain(reader: _TypeParser, keyword: str) -> AtomicType:
    if keyword == "DOUBLE":
        reader.accept_precision()
    return AtomicType(root=_ROOTS.get(keyword) or TypeRoot(keyword))


def _sized(reader: _TypeParser, keyword: str) -> AtomicType:
    numbers = reader.numbers(1) or [1]
    return AtomicType(root=TypeRoot(keyword), length=checked_length(keyword, numbers[0]))


def _unbounded(_: _TypeParser, keyword: str) -> AtomicType:
    return AtomicType(root=_ROOTS[keyword], length=MAX_LENGTH)


def _decimal(reader: _TypeParser, _: str) -> AtomicType:
    precision, scale = (*reader.numbers(2), None, None)[:2]
    precision = DEFAULT_DECIMAL_PRECISION if precision is None else precision
    scale = scale or 0
    if not 1 <= precision <= MAX_DECIMAL_PRECISION or scale > precision:
        raise UnreadableTypeError(
            f"DECIMAL requires a precision of 1 to {MAX_DECIMAL_PRECISION} and a scale from 0 to "
            f"the precision, not ({precision}, {scale})"
        )
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def _timed(reader: _TypeParser, keyword: str) -> AtomicType:
    default = 0 if keyword == "TIME" else DEFAULT_TIMESTAMP_DIGITS
    digits = (reader.numbers(1) or [default])[0]
    if digits > MAX_FRACTION_DIGITS:
        raise UnreadableTypeError(
            f"the precision of {keyword} must be 0 to {MAX_FRACTION_DIGITS}, not {digits}"
        )
    root = _ROOTS.get(keyword) or TypeRoot(keyword)
    if keyword != "TIMESTAMP_LTZ" and reader.accept_time_zone():
        if root is TypeRoot.TIME:
            raise UnreadableTypeError("TIME cannot have a time zone")
        root = TypeRoot.TIMESTAMP_LTZ
    return AtomicType(root=root, precision=digits)


def _spatial(reader: _TypeParser, keyword: str) -> AtomicType:
    root = TypeRoot(keyword)
    if root is TypeRoot.GEOMETRY:
        return AtomicType(root=root, parameters=tuple(reader.parameters(1) or [DEFAULT_CRS]))
    given = reader.parameters(2)
    crs, algorithm = (*given, *(DEFAULT_CRS, EDGE_ALGORITHMS[0])[len(given) :])
    if algorithm.lower() not in EDGE_ALGORITHMS:
        raise UnreadableTypeError(
            f"the edge algorithm must be one of {choices(EDGE_ALGORITHMS)}, not {algorithm!r}"
        )
    return AtomicType(root=root, parameters=(crs, algorithm.lower()))


_NESTED_KINDS = ("ARRAY", "MULTISET", "MAP", "VECTOR", "ROW")
_ROOTS: Mapping[str, TypeRoot] = {
    "INTEGER": TypeRoot.INT,
    "STRING": TypeRoot.VARCHAR,
    "BYTES": TypeRoot.VARBINARY,
    "TIMESTAMP_LTZ": TypeRoot.TIMESTAMP_LTZ,
}
_ATOMIC_KINDS: Mapping[str, Callable[[_TypeParser, str], AtomicType]] = {
    **dict.fromkeys(("BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT"), _plain),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DATE", "VARIANT", "BLOB"), _plain),
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), _decimal),
    **dict.fromkeys(("CHAR", "VARCHAR", "BINARY", "VARBINARY"), _sized),
    **dict.fromkeys(("STRING", "BYTES"), _unbounded),
    **dict.fromkeys(("TIME", "TIMESTAMP", "TIMESTAMP_LTZ"), _timed),
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), _spatial),
}
