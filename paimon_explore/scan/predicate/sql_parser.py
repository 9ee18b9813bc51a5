"""SQL parser for conditions and value expressions.

A recursive descent parser with one token of lookahead. Its errors show the position and what was
expected, and it is imported faster than a full SQL parser.

    or        = and { OR and }
    and       = not { AND not }
    not       = NOT not | predicate
    predicate = operand { sign operand | IS ... | [NOT] IN ... | [NOT] BETWEEN ... | [NOT] LIKE ...}
    operand   = product { + product | - product | || product }
    product   = part { * part | / part | % part }
    part      = [-] ( ( or ) | constant | name { . name } | CAST ( operand AS type ) | function
                | CASE ... END ) { :: type | [ operand ] }
"""

import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from itertools import zip_longest
from typing import TypeAlias

from paimon_explore.arguments import string
from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot
from paimon_explore.errors import InvalidInputError, suggestion
from paimon_explore.scan.predicate.builder import Term, cast_target, like, text_match
from paimon_explore.scan.predicate.dnf_filter_parser import FilterList, filters
from paimon_explore.scan.predicate.expression import (
    FALSE,
    NULL,
    TRUE,
    Call,
    Cast,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    IsTrue,
    Literal,
    Not,
    Operand,
    checked_depth,
    conjunction,
    date_text_literal,
    datetime_text_literal,
    disjunction,
    is_operand,
    literal,
    number_literal,
    time_text_literal,
)
from paimon_explore.scan.predicate.functions import ALIASES, FUNCTIONS
from paimon_explore.scan.predicate.interval import (
    PARTS,
    interval,
    interval_of_text,
    shifted,
    unit_of,
)
from paimon_explore.scan.predicate.sql_tokenizer import (
    EXAMPLE,
    RESERVED,
    Token,
    TokenKind,
    problem_at,
    tokens_of,
)

Where: TypeAlias = str | Term | Expression | FilterList
"""Forms of a `where` argument: SQL text, `pe.col("a") > 3`, `[("a", ">", 3)]`, or an expression."""

_SUBQUERY = "Run the query first, and write its values: id IN (1, 2)."
_READ_ROWS = "Read the rows and filter them afterwards."
_MAX_DEPTH = _MAX_SIGNS = 100
_SIGNS = {op.value: op for op in CompareOp} | {"!=": CompareOp.NE, "==": CompareOp.EQ}
_TYPED_TEXTS: dict[str, Callable[[str], Literal]] = {
    "DATE": date_text_literal,
    "TIME": time_text_literal,
    "TIMESTAMP": datetime_text_literal,
    "TIMESTAMP_NTZ": datetime_text_literal,
    "TIMESTAMP_LTZ": datetime_text_literal,
}
_SPECIAL_FLOATS = {"NAN": math.nan, "INFINITY": math.inf, "-INFINITY": -math.inf}
_DOUBLE = AtomicType(root=TypeRoot.DOUBLE)
_CONSTANTS = {"TRUE": TRUE, "FALSE": FALSE, "NULL": NULL}
_CLOCKS: dict[str, Callable[[], date]] = {
    "CURRENT_DATE": lambda: datetime.now().astimezone().date(),
    "CURRENT_TIMESTAMP": lambda: datetime.now(UTC).replace(microsecond=0),
    "NOW": lambda: datetime.now(UTC).replace(microsecond=0),
}
_TEXT_FUNCTIONS = {"STARTSWITH": ("", "%"), "ENDSWITH": ("%", ""), "CONTAINS": ("%", "%")}


def parse_where(text: str) -> Expression:
    """Parses the condition of a WHERE clause, without the keyword WHERE.

    Raises:
        InvalidInputError: the text is not a condition, or uses an unsupported feature; the message
            shows the position and what was expected.

    >>> parse_where("a > 3 AND b IS NOT NULL").children[0].op
    <CompareOp.GT: '>'>
    """
    return _Parser(text).whole()


def parse_value(text: str) -> Expression:
    """Parses a value expression, as on the right of `=` in SQL's UPDATE.

    Raises:
        InvalidInputError: see `parse_where`.

    >>> parse_value("coalesce(a, 0) + 1").function
    '+'
    """
    try:
        return _Parser(text).whole()
    except InvalidInputError as error:
        message = (
            error.message.replace("a condition", "an expression")
            .replace("A condition", "An expression")
            .replace("condition", "expression")
        )
        hint = error.hint.replace(EXAMPLE, "Write an expression such as: qty + 1.")
        raise InvalidInputError(message, hint=hint) from None


def expr(text: str) -> Term:
    """Parse SQL text into a term, for `update` and `merge`, or to combine with other terms.

    >>> import paimon_explore as pe
    >>> (pe.expr("a + 1") > 3).expression == (pe.col("a") + 1 > 3).expression
    True
    """
    return Term(parse_value(string("text", text)))


def predicate(where: Where) -> Expression:
    """Converts any form of a `where` argument to an expression.

    Raises:
        InvalidInputError: see `parse_where` and `filters`; or `where` has another type.
    """
    if isinstance(where, str):
        return parse_where(where)
    if isinstance(where, Term):
        return checked_depth(where.expression)
    if isinstance(where, Expression):
        return checked_depth(where)
    if isinstance(where, list | tuple):
        return filters(where)
    raise InvalidInputError(
        f"A condition cannot be of type {_kind(where)}.",
        hint='Write SQL (where="price > 3 AND dt = \'d1\'"), pe.col("price") > 3, or '
        'triples [("price", ">", 3)].',
    )


def _kind(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


class _Parser:
    """Recursive descent parser of a condition."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = tokens_of(source)
        self._at = 0
        self._depth = 0
        self._signs = 0

    def whole(self) -> Expression:
        try:
            condition = checked_depth(self._or())
        except RecursionError:
            raise self._problem("the condition is nested too deeply") from None
        if self._here.kind is not TokenKind.END:
            raise self._problem("AND, OR or the end of the condition is expected here")
        return condition

    @property
    def _here(self) -> Token:
        return self._tokens[self._at]

    def _problem(self, what: str, token: Token | None = None, hint: str = "") -> InvalidInputError:
        return problem_at(self._source, (token or self._here).start, what, hint)

    def _next(self) -> Token:
        token = self._here
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _takes(self, *words: str) -> bool:
        """Consumes these keywords or operators if they come next, all of them or none."""
        upcoming = self._tokens[self._at : self._at + len(words)]
        for token, word in zip_longest(upcoming, words):
            if token is None or token.text.upper() != word:
                return False
            if token.kind is not TokenKind.WORD and token.kind is not TokenKind.SIGN:
                return False
        self._at += len(words)
        return True

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            raise self._problem(f"{word if word.isalpha() else repr(word)} is expected here")

    def _or(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._problem(
                f"a condition may have at most {_MAX_DEPTH} levels of parentheses and NOT"
            )
        parts = [self._and()]
        while self._takes("OR"):
            parts.append(self._and())
        self._depth -= 1
        return disjunction(parts)

    def _and(self) -> Expression:
        parts = [self._not()]
        while self._takes("AND"):
            parts.append(self._not())
        return conjunction(parts)

    def _not(self) -> Expression:
        negations = 0
        while self._takes("NOT"):
            negations += 1
        if negations > _MAX_DEPTH:
            raise self._problem(
                f"a condition may have at most {_MAX_DEPTH} consecutive NOT operators"
            )
        condition = self._predicate()
        for _ in range(negations):
            condition = Not(child=condition)
        return condition

    def _predicate(self) -> Expression:
        start = self._here
        subject = self._operand_or_condition()
        while True:
            token = self._here
            following = self._comparison(subject, start)
            if following is None:
                return subject
            if self._here is token:
                raise self._problem("an operator is expected here")
            subject = following

    def _comparison(self, subject: Expression, start: Token) -> Expression | None:
        token = self._here
        if token.kind is TokenKind.SIGN and token.text in _SIGNS:
            self._next()
            left = self._as_operand(subject, start)
            return Compare(op=_SIGNS[token.text], left=left, right=self._operand())
        if self._takes("IS"):
            return self._is(subject, start)
        negated = self._takes("NOT")
        found = self._set_or_text(subject, start)
        if found is None:
            if negated:
                raise self._problem("IN, BETWEEN or LIKE is expected after NOT")
            return None
        return Not(child=found) if negated else found

    def _is(self, subject: Expression, start: Token) -> Expression:
        negated = self._takes("NOT")
        if self._takes("TRUE"):
            found: Expression = IsTrue(child=subject)
        elif self._takes("FALSE"):
            found = IsTrue(child=Not(child=subject))
        elif self._takes("NULL") or self._takes("UNKNOWN"):
            found = IsNull(operand=self._as_operand(subject, start))
        elif self._takes("NAN"):
            found = Call(function="isnan", arguments=(self._as_operand(subject, start),))
        elif self._takes("DISTINCT", "FROM"):
            left = self._as_operand(subject, start)
            found = Not(child=Compare(op=CompareOp.SAME, left=left, right=self._operand()))
        else:
            raise self._problem("NULL, NAN, TRUE, FALSE or DISTINCT FROM is expected after IS")
        return Not(child=found) if negated else found

    def _set_or_text(self, subject: Expression, start: Token) -> Expression | None:
        if self._takes("IN"):
            return In(operand=self._as_operand(subject, start), values=self._values())
        if self._takes("BETWEEN"):
            operand = self._as_operand(subject, start)
            low = self._operand()
            self._expect("AND")
            return conjunction(
                (
                    Compare(op=CompareOp.GE, left=operand, right=low),
                    Compare(op=CompareOp.LE, left=operand, right=self._operand()),
                )
            )
        if self._takes("LIKE"):
            return self._like(self._as_operand(subject, start))
        if self._takes("ILIKE"):
            lower = Call(function="lower", arguments=(self._as_operand(subject, start),))
            return self._like(lower, str.lower)
        if self._takes("RLIKE") or self._takes("REGEXP"):
            pattern = literal(self._text("RLIKE expects a string constant"))
            operand = self._as_operand(subject, start)
            return Call(function="regexp_like", arguments=(operand, pattern))
        return None

    def _values(self) -> tuple[Literal, ...]:
        self._expect("(")
        values: list[Literal] = []
        while True:
            token = self._here
            value = self._operand()
            if not isinstance(value, Literal):
                raise self._problem("IN expects a list of constants", token)
            values.append(value)
            if not self._takes(","):
                break
        self._expect(")")
        return tuple(values)

    def _like(self, operand: Operand, change: Callable[[str], str] = str) -> Expression:
        token = self._here
        pattern = change(self._text("LIKE expects a string constant"))
        escape = self._text("ESCAPE expects a string constant") if self._takes("ESCAPE") else "\\"
        try:
            return like(operand, pattern, escape)
        except InvalidInputError as error:
            raise self._problem(error.message.rstrip("."), token, error.hint) from None

    def _text(self, rule: str) -> str:
        if self._here.kind is not TokenKind.TEXT:
            raise self._problem(rule)
        return self._next().text

    def _operand(self, parse: Callable[[], Expression] | None = None) -> Operand:
        start = self._here
        return self._as_operand((parse or self._operand_or_condition)(), start)

    def _as_operand(self, found: Expression, start: Token) -> Operand:
        if not is_operand(found):
            raise self._problem("a condition cannot be compared with a value", start)
        return found

    def _operand_or_condition(self) -> Expression:
        """Parses a sum, or a single product or condition."""
        start = self._here
        found = self._product()
        while True:
            if self._takes("|", "|"):
                function = "concat"
            elif self._here.kind is TokenKind.SIGN and self._here.text in {"+", "-"}:
                function = self._next().text
            else:
                return found
            left = self._as_operand(found, start)
            found = self._joined(function, left, self._operand(self._product))

    def _product(self) -> Expression:
        start = self._here
        found = self._part()
        while self._here.kind is TokenKind.SIGN and self._here.text in {"*", "/", "%"}:
            function = self._next().text
            left = self._as_operand(found, start)
            found = self._joined(function, left, self._operand(self._part))
        return found

    def _joined(self, function: str, left: Operand, right: Operand) -> Call:
        """Builds a binary operation; their number is limited, because each one nests deeper."""
        moved = shifted(function, left, right)
        if isinstance(moved, Call):
            return moved
        self._signs += 1
        if self._signs > _MAX_SIGNS:
            raise self._problem(f"a condition may have at most {_MAX_SIGNS} arithmetic operators")
        return Call(function=function, arguments=(left, right))

    def _part(self) -> Expression:
        start = self._here
        found = self._primary()
        while True:
            if self._takes("::"):
                found = _cast(self._as_operand(found, start), self._type_after_colons())
            elif self._takes("["):
                values = self._as_operand(found, start)
                found = Call(function="[]", arguments=(values, self._operand(self._or)))
                self._expect("]")
                if self._here.text == "." and self._here.kind is TokenKind.SIGN:
                    rule = "fields of elements are not supported in a condition"
                    raise self._problem(rule, hint=_READ_ROWS)
            else:
                return found

    def _primary(self) -> Expression:
        token = self._here
        if self._takes("("):
            if self._here.text.upper() == "SELECT":
                raise self._problem("a condition cannot contain a subquery", hint=_SUBQUERY)
            inner = self._or()
            self._expect(")")
            return inner
        match token.kind:
            case TokenKind.TEXT:
                found: Expression = literal(self._next().text)
            case TokenKind.BYTES:
                found = literal(bytes.fromhex(self._next().text))
            case TokenKind.NAME:
                found = self._column()
            case TokenKind.WORD:
                found = self._word()
            case _:
                found = self._signed()
        return found

    def _signed(self) -> Expression:
        sign = ""
        start = self._here
        while self._here.text in {"-", "+"} and self._here.kind is TokenKind.SIGN:
            minus = self._next().text == "-"
            sign = ("" if sign else "-") if minus else sign
        if self._here.kind is TokenKind.NUMBER:
            return self._number(sign)
        if self._here is start or self._here.kind is TokenKind.END:
            raise self._problem("a column, a constant or a condition is expected here")
        operand = self._operand(self._part)
        return Call(function="negative", arguments=(operand,)) if sign else operand

    def _number(self, sign: str) -> Literal:
        token = self._next()
        text = token.text.upper()
        try:
            return number_literal(sign, text)
        except InvalidInputError as error:
            raise self._problem(error.message.rstrip("."), token, error.hint) from None
        except (ValueError, ArithmeticError):
            raise self._problem(f"{token.text!r} is not a number", token) from None

    def _word(self) -> Expression:
        word, following = self._here, self._tokens[self._at + 1]
        upper = word.text.upper()
        if following.kind is TokenKind.SIGN and following.text == "(":
            return self._call(upper)
        if following.kind is TokenKind.TEXT and upper in _TYPED_TEXTS:
            self._next()
            return self._typed_text(upper)
        if upper in _CONSTANTS:
            self._next()
            return _CONSTANTS[upper]
        if upper in _CLOCKS:
            self._next()
            return literal(_CLOCKS[upper]())
        if upper == "CASE" or (upper == "INTERVAL" and following.kind is not TokenKind.WORD):
            return self._case() if upper == "CASE" else self._interval()
        if word.text.lower() in RESERVED:
            rule = f"the keyword {upper} is unexpected here"
            raise self._problem(rule, hint=_quote_hint(word.text))
        return self._column()

    def _interval(self) -> Expression:
        """Parses INTERVAL, numbers and units."""
        start = self._next()
        parts: list[tuple[int, str]] = []
        while self._here.kind in {TokenKind.NUMBER, TokenKind.TEXT} or (
            self._here.text == "-" and not parts
        ):
            sign = -1 if self._takes("-") else 1
            number = self._next()
            unit = unit_of(self._here.text) if self._here.kind is TokenKind.WORD else None
            if unit is None and number.kind is TokenKind.TEXT and not parts:
                return interval_of_text(number.text)
            if unit is None or not number.text.strip().lstrip("+-").isdigit():
                raise self._problem("a number and a unit such as DAY are expected", number)
            self._next()
            parts.append((sign * int(number.text), unit))
        if not parts:
            raise self._problem("a number and a unit such as DAY are expected", start)
        return interval(parts)

    def _typed_text(self, kind: str) -> Literal:
        token = self._next()
        try:
            return _TYPED_TEXTS[kind](token.text)
        except InvalidInputError as error:
            raise self._problem(error.message.rstrip("."), token, error.hint) from None

    def _column(self) -> Column:
        path = [self._next().text]
        while self._takes("."):
            if self._here.kind not in {TokenKind.WORD, TokenKind.NAME}:
                raise self._problem("a name is expected after the dot")
            path.append(self._next().text)
        return Column(path=tuple(path))

    def _call(self, function: str) -> Expression:
        token = self._next()
        self._expect("(")
        if function in {"CAST", "TRY_CAST"}:
            operand = self._operand()
            self._expect("AS")
            return _cast(operand, self._type_until_closed(), tries=function == "TRY_CAST")
        if function == "EXTRACT":
            part = PARTS.get(self._next().text.upper())
            if part is None:
                raise self._problem("EXTRACT expects YEAR, MONTH, DAY, HOUR and the like", token)
            self._expect("FROM")
            operand = self._operand()
            self._expect(")")
            return Call(function=part, arguments=(operand,))
        if function in _TEXT_FUNCTIONS:
            operand = self._operand()
            self._expect(",")
            prefix, suffix = _TEXT_FUNCTIONS[function]
            text = self._text(f"{function} expects a string constant")
            self._expect(")")
            return text_match(operand, prefix, text, suffix)
        if function in _CLOCKS:
            self._expect(")")
            return literal(_CLOCKS[function]())
        name = function.lower()
        if name not in FUNCTIONS and name not in ALIASES:
            raise self._problem(f"there is no function {token.text}", token, _function_hint(name))
        arguments = [self._or()]
        while self._takes(","):
            arguments.append(self._or())
        self._expect(")")
        if ALIASES.get(name) == "case" and len(arguments) % 2 == 0:
            arguments.append(NULL)
        return Call(function=ALIASES.get(name, name), arguments=tuple(arguments))

    def _case(self) -> Expression:
        """Parses CASE [value] WHEN ... THEN ... ELSE ... END."""
        self._next()
        subject = None if self._is_word("WHEN") else self._operand(self._or)
        parts: list[Expression] = []
        while self._takes("WHEN"):
            if subject is None:
                test = self._or()
            else:
                test = Compare(op=CompareOp.EQ, left=subject, right=self._operand(self._or))
            self._expect("THEN")
            parts += [test, self._or()]
        if not parts:
            raise self._problem("WHEN is expected after CASE")
        parts.append(self._or() if self._takes("ELSE") else NULL)
        self._expect("END")
        return Call(function="case", arguments=tuple(parts))

    def _is_word(self, word: str) -> bool:
        return self._here.kind is TokenKind.WORD and self._here.text.upper() == word

    def _type_until_closed(self) -> DataType:
        start, depth = self._here, 0
        while depth or self._here.text != ")" or self._here.kind is not TokenKind.SIGN:
            if self._here.kind is TokenKind.END:
                raise self._problem("')' is expected after the type")
            if self._here.kind is TokenKind.SIGN:
                depth += {"(": 1, ")": -1}.get(self._here.text, 0)
            self._next()
        return self._type_between(start, self._next().start)

    def _type_after_colons(self) -> DataType:
        start = self._here
        end = self._next().end
        if self._takes("("):
            while self._here.kind is TokenKind.NUMBER or self._here.text == ",":
                self._next()
            end = self._here.end
            self._expect(")")
        return self._type_between(start, end)

    def _type_between(self, start: Token, end: int) -> DataType:
        try:
            return cast_target(self._source[start.start : end])
        except InvalidInputError as error:
            raise self._problem(error.message.rstrip("."), start, error.hint) from None


def _cast(operand: Operand, target: DataType, *, tries: bool = False) -> Operand:
    """Builds a cast; 'NaN', 'Infinity' and '-Infinity' to DOUBLE become constants."""
    if target == _DOUBLE and isinstance(operand, Literal) and isinstance(operand.value, str):
        special = _SPECIAL_FLOATS.get(operand.value.strip().upper())
        if special is not None:
            return literal(special)
    return Cast(operand=operand, type=target, tries=tries)


def _function_hint(name: str) -> str:
    if name == "exists":
        return "Subqueries are not supported."
    known = sorted({*FUNCTIONS, *ALIASES, *map(str.lower, _TEXT_FUNCTIONS)})
    names = [word for word in known if word.isidentifier()]
    hint = f"catalog.sql has more functions; those of conditions are {', '.join(names)}."
    return suggestion(name, names).strip() or hint


def _quote_hint(word: str) -> str:
    return f"To use a column named {word}, write `{word}`."
