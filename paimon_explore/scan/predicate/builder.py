"""Expression builder of the Python API: `(col("a") > 3) & col("b").isin(["x", "y"])`."""

from collections.abc import Iterable
from typing import NoReturn

from paimon_explore.arguments import string
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.sanitize import sanitized
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
from paimon_explore.scan.predicate.sql_formatter import to_sql

_TYPE_HINT = "Write a type such as 'DECIMAL(10, 2)'."
_ALIASES = {
    "TEXT": "STRING",
    "VARCHAR": "STRING",
    "LONG": "BIGINT",
    "SHORT": "SMALLINT",
    "BYTE": "TINYINT",
    "TIMESTAMP_NTZ": "TIMESTAMP",
}
"""Type names of other engines."""


class Term:
    """An expression that operators and methods combine into larger ones.

    `&`, `|` and `~` are SQL's AND, OR and NOT; Python's `and`, `or` and `not` cannot be used, and
    comparisons next to `&` or `|` need parentheses.

    Attributes:
        expression: the expression tree.
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

    def __getitem__(self, key: object) -> "Term":
        return self._call("[]", key)

    __iter__: None = None  # otherwise Python would iterate by `__getitem__`, without end

    def __bool__(self) -> NoReturn:
        raise InvalidInputError(
            "A condition cannot be used as a Python bool (and, or, not, if).",
            hint="Combine conditions with & | ~ and put each comparison in parentheses: "
            '(col("a") > 1) & (col("b") < 2); a range is col("a").between(1, 2).',
        )

    def __repr__(self) -> str:
        return f"Term({sanitized(to_sql(self.expression))})"

    def same_as(self, other: object) -> "Term":
        """True if equal or both null; SQL's `<=>`, which is never unknown."""
        return Term(
            Compare(op=CompareOp.SAME, left=self._operand(), right=_operand_of(other, null=True))
        )

    def isin(self, values: Iterable[object]) -> "Term":
        """True if equal to one of the values; false for an empty list."""
        if isinstance(values, str | bytes | Term) or not isinstance(values, Iterable):
            raise InvalidInputError(
                "isin() expects a list of values.", hint='Write isin(["a", "b"]).'
            )
        found = tuple(map(literal, values))
        return Term(In(operand=self._operand(), values=found) if found else FALSE)

    def between(self, low: object, high: object) -> "Term":
        """True if at least `low` and at most `high`."""
        return (self >= low) & (self <= high)

    def like(self, pattern: str, *, escape: str = "\\") -> "Term":
        """SQL's LIKE: `%` matches any number of characters, `_` exactly one."""
        return Term(like(self._operand(), string("pattern", pattern), string("escape", escape)))

    def startswith(self, text: str) -> "Term":
        """True for strings that start with `text`; `%` and `_` are not wildcards."""
        return Term(text_match(self._operand(), "", string("text", text), "%"))

    def endswith(self, text: str) -> "Term":
        """True for strings that end with `text`; `%` and `_` are not wildcards."""
        return Term(text_match(self._operand(), "%", string("text", text), ""))

    def contains(self, text: str) -> "Term":
        """True for strings that contain `text`; `%` and `_` are not wildcards."""
        return Term(text_match(self._operand(), "%", string("text", text), "%"))

    def is_null(self) -> "Term":
        """True for nulls."""
        return Term(IsNull(operand=self._operand()))

    def is_not_null(self) -> "Term":
        """True for values that are not null."""
        return ~self.is_null()

    def is_true(self) -> "Term":
        """True where the condition is true; false where it is false or unknown."""
        return Term(IsTrue(child=self.expression))

    def cast(self, target: str | DataType) -> "Term":
        """Casts the value to a type, named as in SQL: `"INT"`, `"DECIMAL(10, 2)"`."""
        kind = (
            target
            if isinstance(target, DataType)
            else cast_target(string("target", target, hint=_TYPE_HINT))
        )
        return Term(Cast(operand=self._operand(), type=kind))

    def field(self, *names: str) -> "Term":
        """A field of a ROW column; further names select nested fields."""
        if not isinstance(self.expression, Column):
            raise InvalidInputError(
                "Only a column can have nested fields.", hint='Write col("a", "b").'
            )
        return col(*self.expression.path, *names)

    def _call(self, function: str, other: object) -> "Term":
        right = _operand_of(other, null=True)
        return Term(Call(function=function, arguments=(self._operand(), right)))

    def _operand(self) -> Operand:
        return _operand_of(self, null=True)

    def _compare(self, op: CompareOp, other: object) -> "Term":
        return Term(Compare(op=op, left=self._operand(), right=_operand_of(other, null=False)))


def col(*path: str) -> Term:
    """A column, or a nested field of a ROW column by its path of names.

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
    """Return a constant as a term; most values beside a term become constants without it.

    >>> lit("text").expression.value
    'text'
    """
    return Term(literal(value))


def expression_of(value: object) -> Expression:
    """Converts a term, an expression or a constant to an expression."""
    if isinstance(value, Term):
        return value.expression
    return value if isinstance(value, Expression) else literal(value)


def like(operand: Operand, pattern: str, escape: str = "\\") -> Like:
    """Builds a LIKE after checking its pattern.

    Raises:
        InvalidInputError: `escape` has more than one character, or ends the pattern.
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


def text_match(operand: Operand, prefix: str, text: str, suffix: str) -> Like:
    """Builds a LIKE with the given wildcards around an escaped text."""
    plain = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return Like(operand=operand, pattern=prefix + plain + suffix)


def cast_target(text: str) -> DataType:
    """Parses the target type of a cast.

    Raises:
        InvalidInputError: the text is not a type.

    >>> cast_target("varchar") == cast_target("STRING")
    True
    """
    name = text.strip()
    return parse_type_text(_ALIASES.get(name.upper(), name))


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
