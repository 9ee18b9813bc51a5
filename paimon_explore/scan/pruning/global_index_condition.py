"""The keys that a condition allows, for lookups in global indexes.

Every result is a superset: a condition that cannot be expressed by keys allows all rows. For NOT,
the child is evaluated for the rows where it may be false, so that rows for which a condition is
unknown are in neither result. Conditions on one column are combined before the lookup, so that a
range is looked up as a whole.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce

from pyroaring import BitMap64

from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.encoding.file_index.index_keys import IndexValue
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key
from paimon_explore.encoding.global_index.key_ranges import (
    EVERY_KEYS,
    NO_KEY,
    KeyRange,
    KeySet,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.column_condition import column_condition
from paimon_explore.scan.predicate.expression import (
    And,
    Column,
    Expression,
    IsTrue,
    Like,
    Literal,
    Not,
    Or,
)
from paimon_explore.scan.predicate.like_pattern import prefix_of
from paimon_explore.scan.pruning.file_index_filter import in_any


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """The rows of a column that a condition allows.

    Attributes:
        column: its name.
        keys: the keys.
        nulls: whether rows with a null are allowed.
    """

    column: str
    keys: KeySet
    nulls: bool

    def narrowed(self, other: "Lookup") -> "Lookup":
        """The rows that both allow."""
        return Lookup(
            column=self.column,
            keys=self.keys.intersection(other.keys),
            nulls=self.nulls and other.nulls,
        )


LookUp = Callable[[Lookup], BitMap64 | None]
"""Returns a superset of the rows of a lookup; None for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalIndexCondition:
    """Evaluates a bound predicate with lookups.

    Attributes:
        keys: the keys of each column that has an index, by name.
        look_up: looks up rows of these columns.
    """

    keys: Mapping[str, GlobalIndexKeys]
    look_up: LookUp

    def rows(self, expr: Expression, *, wanted: bool = True) -> BitMap64 | None:
        """Rows for which `expr` may be `wanted` (true or false); None for all."""
        match expr:
            case And(children=children) | Or(children=children):
                if isinstance(expr, And) is wanted:  # NOT (a OR b) wants both to be false
                    return self._in_all(children, wanted=wanted)
                return in_any((self.rows(child, wanted=wanted) for child in children), BitMap64())
            case Not(child=child):
                return self.rows(child, wanted=not wanted)
            case IsTrue(child=child):
                return self.rows(child, wanted=True) if wanted else None
            case Literal(value=value):
                return None if value is wanted else BitMap64()
            case _:
                return self._in_all((expr,), wanted=wanted)

    def _in_all(self, children: Iterable[Expression], *, wanted: bool) -> BitMap64 | None:
        lookups: dict[str, Lookup] = {}
        parts: list[BitMap64 | None] = []
        for child in children:
            if isinstance(child, And | Or | Not | IsTrue | Literal):
                found = self._negated_leaf(child, wanted=wanted)
                if found is None:
                    parts.append(self.rows(child, wanted=wanted))
                    continue
            else:
                found = self._leaf(child, wanted=wanted)
            if found is not None:
                before = lookups.get(found.column)
                lookups[found.column] = found if before is None else before.narrowed(found)
        parts.extend(map(self.look_up, lookups.values()))
        known = [part for part in parts if part is not None]
        return reduce(BitMap64.__and__, known) if known else None

    def _negated_leaf(self, expr: Expression, *, wanted: bool) -> Lookup | None:
        """The lookup of NOT and one condition."""
        if isinstance(expr, Not) and not isinstance(expr.child, And | Or | Not | IsTrue | Literal):
            return self._leaf(expr.child, wanted=not wanted)
        return None

    def _leaf(self, expr: Expression, *, wanted: bool) -> Lookup | None:
        if wanted and isinstance(expr, Like):
            return self._prefixed(expr)
        name, condition = column_condition(expr, wanted=wanted) or ("", None)
        keys = self.keys.get(name)
        if keys is None or condition is None:
            return None
        nulls = condition.relation is Relation.IS_NULL
        return Lookup(column=name, keys=_key_set(keys, condition), nulls=nulls)

    def _prefixed(self, test: Like) -> Lookup | None:
        prefix = prefix_of(test).encode()
        match test.operand:
            case Column(path=(name,)) if prefix and name in self.keys and self.keys[name].is_text:
                found = KeySet.of(KeyRange(prefix, _after_prefix(prefix)))
                return Lookup(column=name, keys=found, nulls=False)
            case _:
                return None


def _key_set(keys: GlobalIndexKeys, condition: Condition) -> KeySet:
    values = condition.values
    match condition.relation:
        case Relation.IS_NULL:
            return NO_KEY
        case Relation.IS_NOT_NULL:
            return EVERY_KEYS
        case Relation.IN:
            parts = (part for v in values for part in _ranges(keys, Relation.EQ, v).ranges)
            return KeySet.of(*parts)
        case Relation.NOT_IN:
            others = (_ranges(keys, Relation.NE, value) for value in values)
            return reduce(KeySet.intersection, others, EVERY_KEYS)
        case relation:
            return _ranges(keys, relation, values[0])


def _ranges(keys: GlobalIndexKeys, relation: Relation, value: IndexValue) -> KeySet:
    """The keys of the values that compare to a constant; 0.0 and -0.0 are equal.

    NaN is in every range of floating-point numbers that is not bounded by values on both sides.
    """
    is_zero = bool(keys.float_bytes) and value == 0
    least: Key = keys.of_value(-0.0 if is_zero else value)
    above = keys.after(keys.of_value(0.0 if is_zero else value))
    nan = (KeyRange(keys.nan, None),) if keys.float_bytes else ()
    match relation:
        case Relation.EQ:
            return KeySet.of(KeyRange(least, above))
        case Relation.LT:
            return KeySet.of(KeyRange(None, least), *nan)
        case Relation.LE:
            return KeySet.of(KeyRange(None, above), *nan)
        case Relation.GE:
            return KeySet.of(KeyRange(least, None), *nan)
        case Relation.GT:
            return KeySet.of(KeyRange(above, None), *nan)
        case _:
            return KeySet.of(KeyRange(None, least), KeyRange(above, None), *nan)


def _after_prefix(prefix: bytes) -> bytes:
    """The least bytes above all texts with a prefix; a byte of UTF-8 is below 255."""
    return prefix[:-1] + bytes([prefix[-1] + 1])
