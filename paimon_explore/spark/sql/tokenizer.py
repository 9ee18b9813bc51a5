"""SQL text cut into tokens by sqlglot's Spark dialect, and a reader that goes over them.

Every token knows its place, so that parts of a statement can be handed to Spark as written.
"""

import re
from collections.abc import Iterable, Sequence
from enum import Enum, auto

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass

_OPENING = "( "  # sqlglot takes the rest behind some first words as one text; not behind this
_WORD = re.compile(r"[^\W\d]\w*")
_WORDS = re.compile(r"[^\W\d]\w*(?:\s+[^\W\d]\w*)*")
_MOST_SHOWN = 40
_TEXTS = frozenset({TokenType.STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING})
_OPENERS, _CLOSERS = frozenset("([{"), frozenset(")]}")


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    NAME = auto()
    NUMBER = auto()
    TEXT = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of a statement.

    Attributes:
        kind: what it is; a name is in backticks.
        text: a word as written, a name or text without its quotes.
        start: offset of its first character.
        end: offset behind its last one.
    """

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """In upper case, if it is a word; else nothing."""
        return self.text.upper() if self.kind is Kind.WORD else ""

    @property
    def sign(self) -> str:
        """The sign, if it is one; else nothing."""
        return self.text if self.kind is Kind.SIGN else ""


def tokens_of(source: str) -> list[Token]:
    """The tokens of a text, with an END token last.

    Raises:
        InvalidInputError: a quote or comment without its end.
    """
    try:
        found = sqlglot.tokenize(_OPENING + source, read="spark")
    except SqlglotError as error:
        msg = f"The statement cannot be parsed: {error}."
        raise InvalidInputError(msg, hint="A quote or comment may not be closed.") from error
    tokens: list[Token] = []
    for one in found[1:]:
        start, end = one.start - len(_OPENING), one.end + 1 - len(_OPENING)
        if tokens and start < tokens[-1].end:
            continue  # sqlglot takes 1L apart into three tokens of one place
        tokens += _pieces(source, one.token_type, one.text, start, end)
    tokens.append(Token(kind=Kind.END, text="", start=len(source), end=len(source)))
    return tokens


def _pieces(source: str, kind: TokenType, text: str, start: int, end: int) -> list[Token]:
    if kind in _TEXTS:
        return [Token(kind=Kind.TEXT, text=text, start=start, end=end)]
    if source[start] == "`":
        return [Token(kind=Kind.NAME, text=text, start=start, end=end)]
    if source[start].isdigit() and kind is TokenType.NUMBER:
        return [Token(kind=Kind.NUMBER, text=source[start:end], start=start, end=end)]
    written = source[start:end]
    if _WORDS.fullmatch(written):  # sqlglot takes GROUP BY as one
        return [
            Token(kind=Kind.WORD, text=w.group(), start=start + w.start(), end=start + w.end())
            for w in _WORD.finditer(written)
        ]
    plain = Kind.WORD if re.fullmatch(r"\w+", written) else Kind.SIGN
    return [Token(kind=plain, text=written, start=start, end=end)]


def statements_of(source: str) -> list[str]:
    """The statements of a text with semicolons between them.

    >>> statements_of("USE db; SELECT ';' AS a;")
    ['USE db', "SELECT ';' AS a"]
    """
    parts: list[str] = []
    start = 0
    for token in tokens_of(source):
        if token.sign == ";" or token.kind is Kind.END:
            part = source[start : token.start].strip()
            if part:
                parts.append(part)
            start = token.end
    return parts


class Reader:
    """Goes over the tokens of one statement from left to right."""

    def __init__(self, source: str, tokens: Sequence[Token] | None = None) -> None:
        self.source = source
        self._tokens = tokens_of(source) if tokens is None else list(tokens)
        self._at = 0

    @property
    def here(self) -> Token:
        """The token in view."""
        return self._tokens[self._at]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left."""
        return self.here.kind is Kind.END

    def ahead(self, steps: int) -> Token:
        """A token further on."""
        return self._tokens[max(0, min(self._at + steps, len(self._tokens) - 1))]

    @property
    def behind(self) -> int:
        """The offset behind the token that was stepped over last."""
        return self._tokens[self._at - 1].end if self._at else 0

    def next(self) -> Token:
        """Step over a token."""
        token = self.here
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def takes(self, *words: str) -> bool:
        """Step over these words or signs if they come next, all of them or none."""
        if not self.comes(*words):
            return False
        self._at += len(words)
        return True

    def comes(self, *words: str) -> bool:
        """Whether these words or signs come next."""
        upcoming = [self.ahead(i) for i in range(len(words))]
        return [token.word or token.sign for token in upcoming] == list(words)

    def takes_one(self, *words: str) -> str:
        """Step over one of these words; the word, or nothing."""
        found = self.here.word or self.here.sign
        if found not in words:
            return ""
        self.next()
        return found

    def expect(self, *words: str, part: str = "") -> None:
        """Step over these words.

        Raises:
            InvalidInputError: something else comes.
        """
        if not self.takes(*words):
            raise self.problem(f"expected {' '.join(words)}", part=part)

    def expect_one(self, *words: str, part: str = "") -> str:
        """Step over one of these words.

        Raises:
            InvalidInputError: something else comes.
        """
        found = self.takes_one(*words)
        if not found:
            msg = f"unexpected {self.here.text!r}" if not self.is_done else "unexpected end"
            raise self.problem(msg, part=part, hint=f"Expected {' or '.join(words)}.")
        return found

    def end(self) -> None:
        """The statement ends here.

        Raises:
            InvalidInputError: it does not.
        """
        if not self.is_done:
            raise self.problem("expected the end of the statement")

    def identifier(self, what: str) -> str:
        """One name.

        Raises:
            InvalidInputError: no name comes.
        """
        if self.here.kind not in {Kind.WORD, Kind.NAME}:
            raise self.problem(f"expected the name of {what}")
        return self.next().text

    def path(self, what: str) -> tuple[str, ...]:
        """A name with dots, the last part with what `$` adds to it.

        Raises:
            InvalidInputError: no name comes.
        """
        parts = [self.identifier(what)]
        while True:
            if self.here.sign == "$" and self.here.start == self.behind:
                self.next()
                parts[-1] += "$" + self.identifier(what)
            elif self.here.sign == "." and self.ahead(1).kind in {Kind.WORD, Kind.NAME}:
                self.next()
                parts.append(self.identifier(what))
            else:
                return tuple(parts)

    def text(self, what: str) -> str:
        """A text in quotes.

        Raises:
            InvalidInputError: something else comes.
        """
        if self.here.kind is not Kind.TEXT:
            raise self.problem(f"expected {what} as a string in quotes")
        found = [self.next().text]
        found += [self.next().text for _ in range(self._texts())]
        return "".join(found)

    def _texts(self) -> int:
        """How many texts come next; Spark puts neighbours together."""
        count = 0
        while self.ahead(count).kind is Kind.TEXT:
            count += 1
        return count

    def integer(self, what: str) -> int:
        """A whole number.

        Raises:
            InvalidInputError: something else comes.
        """
        if self.here.kind is not Kind.NUMBER or not self.here.text.isdigit():
            raise self.problem(f"expected {what} as an integer")
        return int(self.next().text)

    def group(self, what: str) -> str:
        """The text between parentheses, which comes next.

        Raises:
            InvalidInputError: no parenthesis, or one without its end.
        """
        if self.here.sign != "(":
            raise self.problem(f"expected '(' before {what}")
        first = self.next()
        self._skip(set(), closing=True)
        text = self.source[first.end : self.here.start].strip()
        self.expect(")")
        return text

    def parts(self, what: str) -> list[str]:
        """The texts between commas between parentheses."""
        inner = Reader(self.group(what))
        found: list[str] = []
        while not inner.is_done:
            found.append(inner.until(","))
            inner.takes(",")
        return found

    def names(self, what: str) -> tuple[str, ...]:
        """Names between parentheses."""
        inner = Reader(self.group(what))
        found = [inner.identifier(what)]
        while inner.takes(","):
            found.append(inner.identifier(what))
        inner.end()
        return tuple(found)

    def until(self, *stops: str, angles: bool = False) -> str:
        """The text up to one of these words or signs outside of parentheses and CASE, or the end.

        Args:
            stops: where it ends.
            angles: `<` and `>` are parentheses, as in types.

        Raises:
            InvalidInputError: there is none.
        """
        start = self.here
        self._skip(set(stops), closing=False, angles=angles)
        if self.here is start:
            raise self.problem("expected an expression")
        return self.source[start.start : self.behind]

    def rest(self) -> str:
        """The text from here to the end."""
        start = self.here.start
        self._at = len(self._tokens) - 1
        return self.source[start:].strip()

    def _skip(self, stops: set[str], *, closing: bool, angles: bool = False) -> None:
        depth = cases = 0
        while not self.is_done:
            word, sign = self.here.word, self.here.sign
            if depth == 0 and cases == 0 and (word or sign) in stops:
                return
            if sign in _CLOSERS:
                if depth == 0 and closing:
                    return
                depth -= 1
            depth += sign in _OPENERS
            if angles:
                depth += sign.count("<") - sign.count(">")
            cases += (word == "CASE") - (word == "END" and cases > 0)
            self.next()
        if closing:
            raise self.problem("expected ')'")

    def problem(
        self, what: str, *, part: str = "", hint: str = "", token: Token | None = None
    ) -> InvalidInputError:
        """The error that tells what is wrong at a token."""
        at = (token or self.here).start
        line = self.source.count("\n", 0, at) + 1
        column = at - (self.source.rfind("\n", 0, at) + 1) + 1
        rest = self.source[at:].strip()
        shown = rest[:_MOST_SHOWN] + ("…" if len(rest) > _MOST_SHOWN else "")
        place = f"line {line}, column {column}" + (f", at {shown!r}" if rest else ", at its end")
        subject = f"{part} cannot be read" if part else "The statement cannot be read"
        return InvalidInputError(f"{subject}: {what} ({place}).", hint=hint)


def unknown(kind: str, name: str, known: Iterable[str]) -> InvalidInputError:
    """The error for a name that is not among the known ones."""
    return InvalidInputError(f"Unknown {kind} {name!r}.", hint=f"Known: {choices(known)}.")
