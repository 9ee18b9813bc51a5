"""Tokens of SQL text, from sqlglot's Spark dialect, and a reader for parsing statements.

Every token has its offset, so that parts of a statement can be passed to Spark as written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple, TypeVar

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError

_Item = TypeVar("_Item")
_OPENING = "( "  # After some first words sqlglot returns the rest as one token; not after this one.
_WORD = re.compile(r"[^\W\d]\w*")
_WORDS = re.compile(r"[^\W\d]\w*(?:\s+[^\W\d]\w*)*")
_HINT = "/*+"
_OPTIONS = re.compile(r"(/\*\+\s*)OPTIONS(\s*\(.*?\)\s*)\*/", re.IGNORECASE | re.DOTALL)
"""Flink's hint with options of a table."""
_QUOTES_HINT = "Write a quote within a text as \\' or ''."
_MOST_SHOWN = 40
_TEXTS = frozenset({TokenType.STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING})
OPENERS, CLOSERS = frozenset("([{"), frozenset(")]}")
_KEYWORDS = frozenset(
    [
        *("VALUES", "LIMIT", "OFFSET", "WINDOW", "CUBE", "ROLLUP", "LOCK", "ROLLBACK", "ANY"),
        *("INNER", "OUTER", "CROSS", "LATERAL", "USING", "INTO", "INSERT", "CREATE", "DROP"),
        *("ALTER", "FOR", "FETCH", "QUALIFY", "TABLESAMPLE", "XOR", "INTERVAL"),
    ]
)
"""Keywords of sqlglot that Spark accepts as names of columns."""
_COMPARISONS = frozenset({"=", "==", "<", ">", "<=", ">=", "<>", "!=", "<=>"})
_BEFORE_OPERAND = _COMPARISONS | {"(", ",", "+", "-", "*", "/", "%", "||"}
_WORDS_BEFORE_OPERAND = frozenset(
    [
        *("SELECT", "DISTINCT", "WHERE", "BY", "HAVING", "AND", "OR", "NOT", "BETWEEN", "LIKE"),
        *("WHEN", "THEN", "ELSE"),
    ]
)
_UNITS = frozenset(
    [
        *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"),
        *("MILLISECOND", "MICROSECOND", "NANOSECOND"),
    ]
)
_BEFORE_VALUES = frozenset({"FROM", "JOIN", "IN", "ALL", "UNION", "EXCEPT", "INTERSECT", "LATERAL"})
_AFTER_OPERAND = _COMPARISONS | {")", ",", "*", "/", "%", "||", "::", ".", "["}
_WORDS_AFTER_OPERAND = frozenset(
    [
        *("FROM", "AS", "IS", "IN", "NOT", "LIKE", "BETWEEN", "AND", "OR", "THEN", "ELSE", "END"),
        *("ASC", "DESC", "NULLS", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "DIV"),
    ]
)


class Kind(Enum):
    """The kind of a token."""

    WORD = auto()
    NAME = auto()
    NUMBER = auto()
    TEXT = auto()
    SIGN = auto()
    END = auto()


class Token(NamedTuple):
    """A token of a statement.

    Attributes:
        kind: its kind; NAME is a name in backticks.
        text: a word as written; names and strings without their quotes.
        start: offset of its first character.
        end: offset after its last character.
        word: a word in upper case; "" for other tokens.
        sign: a sign; "" for other tokens.
    """

    kind: Kind
    text: str
    start: int
    end: int
    word: str = ""
    sign: str = ""

    @property
    def is_name(self) -> bool:
        """Whether it can be a name: a word, or a name in backticks."""
        return self.kind is Kind.WORD or self.kind is Kind.NAME


@lru_cache(maxsize=8)
def tokens_of(source: str) -> tuple[Token, ...]:
    """Return the tokens of a text, followed by an END token.

    Raises:
        InvalidInputError: a quote or comment is not closed.
        UnsupportedFeatureError: a hint that is not directly after SELECT.
    """
    tokens = _tokens(source)
    if _HINT in source:
        _refuse_hints(source, tokens)
    return tokens


def _tokens(source: str) -> tuple[Token, ...]:
    try:
        found = sqlglot.tokenize(_OPENING + source, read="spark")
    except SqlglotError as error:
        msg = "The statement cannot be parsed: a quote or a comment is not closed."
        raise InvalidInputError(msg, hint=_QUOTES_HINT) from error
    tokens: list[Token] = []
    for one in found[1:]:
        start, end = one.start - len(_OPENING), one.end + 1 - len(_OPENING)
        if tokens and start < tokens[-1].end:
            continue  # sqlglot splits 1L into three tokens with the same offset
        tokens += _plain_tokens(source, one.token_type, one.text, start, end)
    tokens.append(Token(Kind.END, "", len(source), len(source)))
    return tuple(tokens)


def _with_clauses(source: str) -> str:
    """Return a text with hints of options, which are comments, as clauses WITH; offsets stay."""

    def clause(found: re.Match[str]) -> str:
        return re.sub(r"\S", " ", found[1]) + f"WITH   {found[2]}  "

    parts, end = [], 0
    for token in _tokens(source):
        parts += [_OPTIONS.sub(clause, source[end : token.start]), source[token.start : token.end]]
        end = token.end
    return "".join(parts)


def _refuse_hints(source: str, tokens: Sequence[Token]) -> None:
    """Refuse a hint that sqlglot reads as a comment."""
    end = 0
    for token in tokens:
        at = source.find(_HINT, end, token.start)
        if at >= 0:
            raise UnsupportedFeatureError(
                "a hint that does not follow SELECT",
                place(source, at),
                hint="Write options after the table: t WITH ('scan.snapshot-id' = '3'), "
                "or t VERSION AS OF 3.",
            )
        end = token.end


def _plain_tokens(source: str, kind: TokenType, text: str, start: int, end: int) -> list[Token]:
    if kind in _TEXTS:
        return [Token(Kind.TEXT, text, start, end)]
    written = source[start:end]
    first = written[0]
    if first == "`":
        return [Token(Kind.NAME, text, start, end)]
    if kind is TokenType.NUMBER and first.isdigit():
        return [Token(Kind.NUMBER, written, start, end)]
    may_be_word = first.isalnum() or first == "_"
    if may_be_word and _WORDS.fullmatch(written):  # sqlglot returns GROUP BY as one token
        return [
            Token(Kind.WORD, w.group(), start + w.start(), start + w.end(), word=w.group().upper())
            for w in _WORD.finditer(written)
        ]
    if may_be_word and re.fullmatch(r"\w+", written):
        return [Token(Kind.WORD, written, start, end, word=written.upper())]
    return [Token(Kind.SIGN, written, start, end, "", written)]


def quoted_keywords(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and the name in backticks of keywords that are names of columns."""
    for at, (before, one, after) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        if one.word not in _KEYWORDS:
            continue
        begins = before.sign in _BEFORE_OPERAND or before.word in _WORDS_BEFORE_OPERAND
        ends = after.sign in _AFTER_OPERAND or after.word in _WORDS_AFTER_OPERAND
        if after.sign in {"+", "-"}:  # but not FROM (VALUES -1, 2) and INTERVAL -1 DAY
            is_query = before.sign == "(" and tokens[max(at - 1, 0)].word in _BEFORE_VALUES
            unit = tokens[min(at + 4, len(tokens) - 1)].word.removesuffix("S")
            ends = not is_query and unit not in _UNITS
        if begins and (ends or after.kind is Kind.END):
            yield one.start, one.end, f"`{one.text}`"


def statements_of(source: str) -> list[str]:
    """Split a text into statements at semicolons; comments alone are no statement.

    Flink's hints with options become clauses, of the same length.

    >>> statements_of("USE db; SELECT ';' AS a;")
    ['USE db', "SELECT ';' AS a"]
    >>> statements_of("SELECT * FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */")
    ["SELECT * FROM t     WITH   ('scan.snapshot-id' = '1')"]
    """
    if _OPTIONS.search(source):
        source = _with_clauses(source)
    parts: list[str] = []
    start, is_code = 0, False
    for token in tokens_of(source):
        if token.sign == ";" or token.kind is Kind.END:
            part = source[start : token.start].strip()
            if is_code:
                parts.append(part)
            start, is_code = token.end, False
        else:
            is_code = True
    return parts


class Reader:
    """Reads the tokens of one statement from left to right."""

    def __init__(self, source: str, tokens: Sequence[Token] | None = None) -> None:
        self.source = source
        self._tokens = tokens_of(source) if tokens is None else tuple(tokens)
        self._at = 0

    @property
    def here(self) -> Token:
        """Return the current token."""
        return self._tokens[self._at]

    @property
    def is_done(self) -> bool:
        """Return whether the statement is at its end."""
        return self.here.kind is Kind.END

    def ahead(self, steps: int) -> Token:
        """Return a later token without moving."""
        return self._tokens[max(0, min(self._at + steps, len(self._tokens) - 1))]

    @property
    def previous_end(self) -> int:
        """Return the offset after the last token that was read."""
        return self._tokens[self._at - 1].end if self._at else 0

    def next(self) -> Token:
        """Read and return the current token."""
        token = self.here
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def takes(self, *words: str) -> bool:
        """Read these words or signs if all of them come next; return whether they did."""
        if not self.comes(*words):
            return False
        self._at += len(words)
        return True

    def comes(self, *words: str) -> bool:
        """Return whether these words or signs come next."""
        upcoming = [self.ahead(i) for i in range(len(words))]
        return [token.word or token.sign for token in upcoming] == list(words)

    def takes_one(self, *words: str) -> str:
        """Read one of these words if it comes next; return it, or "" if none does."""
        found = self.here.word or self.here.sign
        if found not in words:
            return ""
        self.next()
        return found

    def expect(self, *words: str, part: str = "") -> None:
        """Read these words.

        Raises:
            InvalidInputError: something else comes next.
        """
        if not self.takes(*words):
            raise self.problem(f"expected {' '.join(words)}", part=part)

    def expect_one(self, *words: str, part: str = "") -> str:
        """Read one of these words and return it.

        Raises:
            InvalidInputError: something else comes next.
        """
        found = self.takes_one(*words)
        if not found:
            msg = f"unexpected {self.here.text!r}" if not self.is_done else "unexpected end"
            raise self.problem(msg, part=part, hint=f"Expected {' or '.join(words)}.")
        return found

    def end(self) -> None:
        """Check that the statement ends here.

        Raises:
            InvalidInputError: it does not.
        """
        if not self.is_done:
            raise self.problem("expected the end of the statement")

    def identifier(self, what: str) -> str:
        """Read one name.

        Raises:
            InvalidInputError: the next token is not a name.
        """
        if not self.here.is_name:
            raise self.problem(f"expected the name of {what}")
        return self.next().text

    def path(self, what: str) -> tuple[str, ...]:
        """Read a dotted name, its last part with a `$` suffix such as `t$files`.

        Raises:
            InvalidInputError: the next token is not a name.
        """
        parts = [self.identifier(what)]
        while True:
            if self.here.sign == "$" and self.here.start == self.previous_end:
                self.next()
                parts[-1] += "$" + self.identifier(what)
            elif self.here.sign == "." and self.ahead(1).is_name:
                self.next()
                parts.append(self.identifier(what))
            else:
                return tuple(parts)

    def text(self, what: str) -> str:
        """Read a string literal.

        Raises:
            InvalidInputError: something else comes next.
        """
        if self.here.kind is not Kind.TEXT:
            raise self.problem(f"expected {what} as a string in quotes")
        found = self.here.text
        while self.ahead(1).kind is Kind.TEXT:  # Spark concatenates literals; '' is one quote
            last = self.next()
            is_doubled = self.source[last.end - 1] == self.source[self.here.start]
            quote = (
                self.source[self.here.start] if is_doubled and last.end == self.here.start else ""
            )
            found += quote + self.here.text
        self.next()
        return found

    def skip_texts(self) -> None:
        """Skip string literals: Spark concatenates those that follow each other."""
        while self.here.kind is Kind.TEXT:
            self.next()

    def integer(self, what: str) -> int:
        """Read an integer.

        Raises:
            InvalidInputError: something else comes next.
        """
        if self.here.kind is not Kind.NUMBER or not self.here.text.isdigit():
            raise self.problem(f"expected {what} as an integer")
        return int(self.next().text)

    def group(self, what: str) -> str:
        """Read a parenthesized text and return it without the parentheses.

        Raises:
            InvalidInputError: no parenthesis comes next, or it is not closed.
        """
        if self.here.sign != "(":
            raise self.problem(f"expected '(' before {what}")
        first = self.next()
        self._skip(set(), closing=True)
        text = self.source[first.end : self.here.start].strip()
        self.expect(")")
        return text

    def parts(self, what: str) -> list[str]:
        """Read a parenthesized list and return the texts of its comma-separated items."""
        inner = Reader(self.group(what))
        found: list[str] = []
        while not inner.is_done:
            found.append(inner.until(","))
            inner.takes(",")
        return found

    def names(self, what: str) -> tuple[str, ...]:
        """Read a parenthesized list of names."""
        return tuple(self._list(what, Reader.identifier))

    def paths(self, what: str) -> list[tuple[str, ...]]:
        """Read a parenthesized list of dotted names."""
        return self._list(what, Reader.path)

    def _list(self, what: str, read: "Callable[[Reader, str], _Item]") -> list[_Item]:
        inner = Reader(self.group(what))
        found = [read(inner, what)]
        while inner.takes(","):
            found.append(read(inner, what))
        inner.end()
        return found

    def until(self, *stops: str, angles: bool = False) -> str:
        """Read the text up to one of these words or signs outside parentheses and CASE, or the end.

        Args:
            stops: the words or signs before which the text ends.
            angles: treat `<` and `>` as parentheses, as in types.

        Raises:
            InvalidInputError: the text is empty.
        """
        start = self.here
        self._skip(set(stops), closing=False, angles=angles)
        if self.here is start:
            raise self.problem("expected an expression")
        return self.source[start.start : self.previous_end]

    def rest(self) -> str:
        """Read the text from here to the end."""
        start = self.here.start
        self._at = len(self._tokens) - 1
        return self.source[start:].strip()

    def _skip(self, stops: set[str], *, closing: bool, angles: bool = False) -> None:
        depth = cases = 0
        while not self.is_done:
            word, sign = self.here.word, self.here.sign
            if depth == 0 and cases == 0 and (word or sign) in stops:
                return
            if sign in CLOSERS:
                if depth == 0 and closing:
                    return
                depth -= 1
            depth += sign in OPENERS
            if angles:
                depth += sign.count("<") - sign.count(">")
            cases += (word == "CASE" and self._is_case()) - (word == "END" and cases > 0)
            self.next()
        if closing:
            raise self.problem("expected ')'")

    def _is_case(self) -> bool:
        """Return whether CASE starts an expression, which has WHEN, and is not a name."""
        depth = 0
        for token in self._tokens[self._at + 1 :]:
            depth += (token.sign in OPENERS) - (token.sign in CLOSERS)
            if depth < 0 or (depth == 0 and token.sign == ","):
                return False
            if depth == 0 and token.word == "WHEN":
                return True
        return False

    def problem(self, what: str, *, part: str = "", hint: str = "") -> InvalidInputError:
        """Return an error about a token, with its line and column."""
        subject = f"{part} cannot be read" if part else "The statement cannot be read"
        where = place(self.source, self.here.start)
        return InvalidInputError(f"{subject}: {what} ({where}).", hint=hint)


def place(source: str, at: int) -> str:
    """Return the line and column of an offset, and the text that begins there."""
    line = source.count("\n", 0, at) + 1
    column = at - (source.rfind("\n", 0, at) + 1) + 1
    rest = source[at:].strip()
    shown = rest[:_MOST_SHOWN] + ("…" if len(rest) > _MOST_SHOWN else "")
    return f"line {line}, column {column}" + (f", at {shown!r}" if rest else ", at the end")
