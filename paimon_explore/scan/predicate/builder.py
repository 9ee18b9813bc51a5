"""Predicates written in Python: `(col("a") > 3) & col("b").isin(["x", "y"])`."""

from collections.abc import Iterable
from typing import NoReturn

from paimon_explore.arguments import string
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import (
    FALSE,
    Call,
    Cast,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Operand,
    conjunction,
    disjunction,
    is_operand,
    literal,
)

_TYPE_HINT = "Write a type such as 'DECIMAL(10, 2)'."
_ALIASES = {
    "TEXT": "STRING",
    "VARCHAR": "STRING",
    "LONG": "BIGINT",
    "SHORT": "SMALLINT",
    "BYTE": "TINYINT",
    "TIMESTAMP_NTZ": "TIMESTAMP",
}
"""Other engines' words for a type."""


class Term:
    """An expression under construction: operators and methods make larger terms of it.

    `&`, `|` and `~` are SQL's AND, OR and NOT; Python's own `and`, `or` and `not` cannot be used,
    and comparisons beside `&` or `|` need parentheses.

    Attributes:
        expression: the tree made so far.
    """

    __slots__ = ("expression",)

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __eq__(self, other: object) -> "Term":  # type: ignore[override]  # a condition, not a bool
        return self._compare(CompareOp.EQ, other)

    def __ne__(self, other: object) -> "Term":  # type: ignore[override]  # a condition, not a bool
        return self._compare(CompareOp.NE, other)

    def __lt__(self, other: object) -> "Term":
        return self._compare(CompareOp.LT, other)

    def __le__(self, other: object) -> "Term":
        return self._compare(CompareOp.LE, other)

    def __gt__(self, other: object) -> "Term":
        return self._compare(CompareOp.GT, other)

    def __ge__(self, other: object) -> "Term":
        return self._compare(CompareOp.GE, other)

    def __hash__(self) -> int:
        return hash(self.expression)

    def __and__(self, other: object) -> "Term":
        return Term(conjunction((self.expression, expression_of(other))))

    def __rand__(self, other: object) -> "Term":
        return Term(conjunction((expression_of(other), self.expression)))

    def __or__(self, other: object) -> "Term":
        return Term(disjunction((self.expression, expression_of(other))))

    def __ror__(self, other: object) -> "Term":
        return Term(disjunction((expression_of(other), self.expression)))

    def __invert__(self) -> "Term":
        return Term(Not(child=self.expression))

    def __add__(self, other: object) -> "Term":
        return self._call("+", other)

    def __radd__(self, other: object) -> "Term":
        return Term(expression_of(other))._call("+", self)

    def __sub__(self, other: object) -> "Term":
        return self._call("-", other)

    def __rsub__(self, other: object) -> "Term":
        return Term(expression_of(other))._call("-", self)

    def __mul__(self, other: object) -> "Term":
        return self._call("*", other)

    def __rmul__(self, other: object) -> "Term":
        return Term(expression_of(other))._call("*", self)

    def __truediv__(self, other: object) -> "Term":
        return self._call("/", other)

    def __rtruediv__(self, other: object) -> "Term":
        return Term(expression_of(other))._call("/", self)

    def __mod__(self, other: object) -> "Term":
        return self._call("%", other)

    def __neg__(self) -> "Term":
        return Term(Call(function="negative", arguments=(self._operand(),)))

    def __bool__(self) -> NoReturn:
        raise InvalidInputError(
            "A condition on rows has no truth value in Python.",
            hint="Combine conditions with & | ~ and put each comparison in parentheses: "
            '(col("a") > 1) & (col("b") < 2); a range is col("a").between(1, 2).',
        )

    def __repr__(self) -> str:
        return f"Term({self.expression!r})"

    def same_as(self, other: object) -> "Term":
        """Equal, or both null: SQL's `<=>`, never unknown."""
        return Term(
            Compare(op=CompareOp.SAME, left=self._operand(), right=_operand_of(other, null=True))
        )

    def isin(self, values: Iterable[object]) -> "Term":
        """Equal to one of the values; false for no values."""
        if isinstance(values, str | bytes | Term) or not isinstance(values, Iterable):
            raise InvalidInputError(
                "isin() expects a list of values.", hint='Write isin(["a", "b"]).'
            )
        found = tuple(map(literal, values))
        return Term(In(operand=self._operand(), values=found) if found else FALSE)

    def between(self, low: object, high: object) -> "Term":
        """At least `low` and at most `high`."""
        return (self >= low) & (self <= high)

    def like(self, pattern: str, *, escape: str = "\\") -> "Term":
        """SQL's LIKE: `%` stands for any run of characters, `_` for one."""
        return Term(like(self._operand(), string("pattern", pattern), string("escape", escape)))

    def startswith(self, text: str) -> "Term":
        """A text that begins with `text`, taken as it is."""
        return Term(text_match(self._operand(), "", string("text", text), "%"))

    def endswith(self, text: str) -> "Term":
        """A text that ends with `text`, taken as it is."""
        return Term(text_match(self._operand(), "%", string("text", text), ""))

    def contains(self, text: str) -> "Term":
        """A text that holds `text`, taken as it is."""
        return Term(text_match(self._operand(), "%", string("text", text), "%"))

    def is_null(self) -> "Term":
        """No value."""
        return Term(IsNull(operand=self._operand()))

    def is_not_null(self) -> "Term":
        """Any value."""
        return ~self.is_null()

    def is_true(self) -> "Term":
        """True, where false and unknown both count as false."""
        return Term(IsTrue(child=self.expression))

    def cast(self, target: str | DataType) -> "Term":
        """The value as another type, named as in SQL: `"INT"`, `"DECIMAL(10, 2)"`."""
        kind = (
            target
            if isinstance(target, DataType)
            else cast_target(string("target", target, hint=_TYPE_HINT))
        )
        return Term(Cast(operand=self._operand(), type=kind))

    def field(self, *names: str) -> "Term":
        """A member of a ROW column, and so on inwards."""
        if not isinstance(self.expression, Column):
            raise InvalidInputError("Only a column has fields.", hint='Write col("a", "b").')
        return col(*self.expression.path, *names)

    def _call(self, function: str, other: object) -> "Term":
        right = _operand_of(other, null=True)
        return Term(Call(function=function, arguments=(self._operand(), right)))

    def _operand(self) -> Operand:
        return _operand_of(self, null=True)

    def _compare(self, op: CompareOp, other: object) -> "Term":
        return Term(Compare(op=op, left=self._operand(), right=_operand_of(other, null=False)))


def col(*path: str) -> Term:
    """A column, or a member of a ROW column by the names that lead to it.

    >>> col("a").between(1, 3).expression == ((col("a") >= 1) & (col("a") <= 3)).expression
    True
    """
    for name in path:
        string("The name of a column", name, hint='Write col("name").')
    if not path or not all(path):
        raise InvalidInputError(
            "The name of a column must not be empty.", hint='Write col("name").'
        )
    return Term(Column(path=path))


def lit(value: object) -> Term:
    """A constant; seldom needed, for values beside a term become constants by themselves."""
    return Term(literal(value))


def expression_of(value: object) -> Expression:
    """The tree of a term, a tree or a constant."""
    if isinstance(value, Term):
        return value.expression
    return value if isinstance(value, Expression) else literal(value)


def like(operand: Operand, pattern: str, escape: str = "\\") -> Like:
    """A LIKE of a checked pattern.

    Raises:
        InvalidInputError: `escape` is longer than a character, or ends the pattern.
    """
    if len(escape) > 1:
        raise InvalidInputError(f"The LIKE escape {escape!r} is not a single character.")
    position = 0
    while escape and 0 <= position < len(pattern):
        at = pattern.find(escape, position)
        if at == len(pattern) - 1 and at >= 0:
            raise InvalidInputError(
                f"The LIKE pattern {pattern!r} ends with its escape character {escape!r}.",
                hint=f"To match the character itself, write it twice: {pattern + escape!r}.",
            )
        position = at + 2 if at >= 0 else -1
    return Like(operand=operand, pattern=pattern, escape=escape)


def text_match(operand: Operand, before: str, text: str, behind: str) -> Like:
    """A LIKE of wildcards around a text that is taken as it is."""
    plain = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return Like(operand=operand, pattern=before + plain + behind)


def cast_target(text: str) -> DataType:
    """The type that a cast names.

    Raises:
        InvalidInputError: the text names no type.

    >>> cast_target("varchar") == cast_target("STRING")
    True
    """
    word = text.strip()
    return parse_type_text(_ALIASES.get(word.upper(), word))


def _operand_of(value: object, *, null: bool) -> Operand:
    expression = expression_of(value)
    if not is_operand(expression):
        raise InvalidInputError(
            "A condition cannot be compared with a value.",
            hint="Put each comparison in parentheses: & and | bind more tightly than < and ==.",
        )
    if not null and isinstance(expression, Literal) and expression.value is None:
        raise InvalidInputError(
            "A comparison with None is never true.", hint="Use is_null() or is_not_null()."
        )
    return expression
