"""Parses conditions and values in the JSON form of Java's `Predicate` and `Transform`.

Catalog servers state row filters and column masks in this form. Only what is understood completely
is accepted: an unknown function, type or member raises `UnsupportedFeatureError`, so that a rule is
never weakened.

| kind | members |
| --- | --- |
| condition | `{"kind": "LEAF", "transform": …, "function": "EQUAL", "literals": […]}` |
| | `{"kind": "COMPOUND", "function": "AND", "children": […]}` |
| value | `{"name": "FIELD_REF", "fieldRef": {"index": 0, "name": "a", "type": "INT"}}` |
| | `{"name": "CONCAT", "inputs": [{"name": "a", …}, "text"]}`, also `UPPER`, `LOWER`, … |
"""

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from paimon_explore.data_types.definitions import (
    FLOATS,
    INTEGERS,
    TEXTS,
    AtomicType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import (
    FormatError,
    InvalidInputError,
    UnsupportedFeatureError,
    safe_cause,
)
from paimon_explore.scan.predicate.builder import Term, col, lit
from paimon_explore.scan.predicate.expression import Call, Expression, Literal

_LITERALS: Mapping[TypeRoot, tuple[type, ...]] = MappingProxyType(
    {
        **dict.fromkeys(INTEGERS, (int,)),
        **dict.fromkeys(FLOATS, (int, float)),
        **dict.fromkeys(TEXTS, (str,)),
        TypeRoot.BOOLEAN: (bool,),
    }
)
_MAX_DEPTH = 100


def parse_condition(text: str, row_type: RowType) -> Expression:
    """Parse a condition; returns an expression that is not bound yet.

    Args:
        text: the JSON.
        row_type: the columns of the table.

    Raises:
        UnsupportedFeatureError: a condition that is not understood.

    >>> int_type = AtomicType(root=TypeRoot.INT)
    >>> from paimon_explore.data_types.definitions import DataField
    >>> columns = RowType(fields=(DataField(id=0, name="a", type=int_type),))
    >>> rule = '{"kind": "LEAF", "transform": {"name": "FIELD_REF", "fieldRef": {"name": "a"}},'
    >>> rule += '"function": "GREATER_THAN", "literals": [3]}'
    >>> parse_condition(rule, columns) == (col("a") > 3).expression
    True
    """
    return _Rules(row_type).condition(_parsed(text), 0).expression


def parse_value(text: str, row_type: RowType) -> Expression:
    """Parse a value computed from the columns of a row; returns an expression, not bound yet.

    Raises:
        UnsupportedFeatureError: a value that is not understood.
    """
    return _Rules(row_type).value(_parsed(text)).expression


def _parsed(text: str) -> Mapping[str, object]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refusal("it is not valid JSON") from safe_cause(error)
    if not isinstance(found, dict):
        raise _refusal("it is not a JSON object")
    return found


def _refusal(reason: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        "applying the row filter or column mask that the catalog requires",
        reason,
        hint="The table is not read without it. Ask the administrator of the catalog.",
    )


class _Rules:
    """Parses the rules of one table."""

    def __init__(self, row_type: RowType) -> None:
        self._row_type = row_type

    def condition(self, members: object, depth: int) -> Term:
        if not isinstance(members, dict) or depth > _MAX_DEPTH:
            raise _refusal("a condition is not a JSON object, or nested too deeply")
        kind = members.get("kind")
        if kind == "LEAF":
            return self._leaf(members)
        if kind != "COMPOUND":
            raise _refusal(f"the kind of condition {kind!r} is unknown")
        children = members.get("children")
        if not isinstance(children, list) or not children:
            raise _refusal("a condition has no parts")
        parts = [self.condition(child, depth + 1) for child in children]
        function = members.get("function")
        if function not in ("AND", "OR"):
            raise _refusal(f"the function {function!r} of conditions is unknown")
        joined = parts[0]
        for part in parts[1:]:
            joined = joined & part if function == "AND" else joined | part
        return joined

    def _leaf(self, members: Mapping[str, object]) -> Term:
        function, given = members.get("function"), members.get("literals")
        if not isinstance(given, list | None):
            raise _refusal("the literals of a condition are not a list")
        if function in ("TRUE", "FALSE"):
            return lit(value=True) == lit(value=function == "TRUE")
        transform = members.get("transform")
        value = self.value(transform)
        literals = [self._literal(transform, literal) for literal in given or []]
        make = _FUNCTIONS.get(str(function))
        if make is None:
            raise _refusal(f"the function {function!r} is unknown")
        try:
            return make(value, literals)
        except (IndexError, TypeError, InvalidInputError) as error:
            raise _refusal(f"the literals do not fit the function {function!r}") from error

    def _literal(self, transform: object, literal: object) -> object:
        """Return a literal of the type of the value that it is compared with."""
        root = self._root(transform)
        wanted = _LITERALS.get(root)
        is_bool = isinstance(literal, bool)
        if wanted is None or not isinstance(literal, wanted) or is_bool != (bool in wanted):
            raise _refusal(f"a literal for a value of type {root.value} cannot be read")
        return literal

    def _root(self, transform: object) -> TypeRoot:
        if isinstance(transform, dict) and transform.get("name") == "FIELD_REF":
            return self._column_type(transform.get("fieldRef"))
        if isinstance(transform, dict) and transform.get("name") == "CAST":
            return _cast_type(transform).root
        return TypeRoot.VARCHAR

    def value(self, members: object) -> Term:
        if not isinstance(members, dict):
            raise _refusal("a value is not a JSON object")
        name = members.get("name")
        if name == "FIELD_REF":
            return self._column(members.get("fieldRef"))
        if name == "CAST":
            return self._column(members.get("fieldRef")).cast(_cast_type(members))
        if name == "NULL":
            return Term(Literal(value=None, type=None))
        inputs = members.get("inputs")
        if name not in ("UPPER", "LOWER", "CONCAT", "CONCAT_WS") or not isinstance(inputs, list):
            raise _refusal(f"the value {name!r} is unknown")
        return self._text_function(str(name), [self._input(given) for given in inputs])

    def _text_function(self, name: str, inputs: Sequence[Term]) -> Term:
        if name in ("UPPER", "LOWER") and len(inputs) == 1:
            return _call(name.lower(), inputs)
        if name == "CONCAT" and inputs:
            return _call("concat", inputs)
        raise _refusal(f"the function {name} with {len(inputs)} inputs is not supported")

    def _input(self, given: object) -> Term:
        if isinstance(given, str):
            return lit(given)
        if self._column_type(given) not in TEXTS:
            raise _refusal("a text function has an input that is not a text")
        return self._column(given)

    def _column(self, reference: object) -> Term:
        self._column_type(reference)
        assert isinstance(reference, dict)  # noqa: S101 - as checked
        return col(str(reference["name"]))

    def _column_type(self, reference: object) -> TypeRoot:
        name = reference.get("name") if isinstance(reference, dict) else None
        field = self._row_type.field(name) if isinstance(name, str) else None
        if field is None:
            raise _refusal(f"the table has no column {name!r}")
        kind = field.type
        if not isinstance(kind, AtomicType):
            raise _refusal(f"the column {name!r} has a nested type")
        return kind.root


def _cast_type(transform: Mapping[str, object]) -> AtomicType:
    try:
        found = parse_type(transform.get("type"), "type")
    except FormatError as error:
        raise _refusal("the type of a cast cannot be read") from error
    if not isinstance(found, AtomicType):
        raise _refusal("a cast has a nested type")
    return found


def _call(function: str, arguments: Sequence[Term]) -> Term:
    return Term(Call(function=function, arguments=tuple(part.expression for part in arguments)))


_Make = Callable[[Term, Sequence[object]], Term]


def _one(make: Callable[[Term, object], Term]) -> _Make:
    """A function with exactly one literal."""

    def checked(value: Term, literals: Sequence[object]) -> Term:
        (literal,) = literals
        return make(value, literal)

    return _with_count(checked, 1)


def _with_count(make: _Make, count: int) -> _Make:
    def checked(value: Term, literals: Sequence[object]) -> Term:
        if len(literals) != count:
            raise IndexError(count)
        return make(value, literals)

    return checked


_FUNCTIONS: Mapping[str, _Make] = MappingProxyType(
    {
        "EQUAL": _one(lambda value, one: value == one),
        "NOT_EQUAL": _one(lambda value, one: value != one),
        "LESS_THAN": _one(lambda value, one: value < one),
        "LESS_OR_EQUAL": _one(lambda value, one: value <= one),
        "GREATER_THAN": _one(lambda value, one: value > one),
        "GREATER_OR_EQUAL": _one(lambda value, one: value >= one),
        "STARTS_WITH": _one(lambda value, one: value.startswith(str(one))),
        "ENDS_WITH": _one(lambda value, one: value.endswith(str(one))),
        "CONTAINS": _one(lambda value, one: value.contains(str(one))),
        "LIKE": _one(lambda value, one: value.like(str(one))),
        "IS_NULL": _with_count(lambda value, _: value.is_null(), 0),
        "IS_NOT_NULL": _with_count(lambda value, _: value.is_not_null(), 0),
        "IN": lambda value, all_: value.isin(list(all_)),
        "NOT_IN": lambda value, all_: ~value.isin(list(all_)),
        "BETWEEN": _with_count(lambda value, two: value.between(two[0], two[1]), 2),
        "NOT_BETWEEN": _with_count(lambda value, two: ~value.between(two[0], two[1]), 2),
    }
)
"""Conditions by Java's names; a null makes each of them unknown, except IS_NULL."""
