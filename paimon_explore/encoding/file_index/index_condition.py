"""Conditions on one column, and their evaluation with indexes that look up keys."""

import math
from enum import Enum
from typing import Protocol

from pyroaring import BitMap

from paimon_explore.encoding.file_index.index_keys import IndexValue, Key, KeyCodec
from paimon_explore.frozen_dataclass import dataclass


class Relation(Enum):
    """Operators of conditions, with their SQL text."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    IN = "IN"
    NOT_IN = "NOT IN"
    IS_NULL = "IS NULL"
    IS_NOT_NULL = "IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of a column with non-null values; without values for the null tests.

    Several values are allowed for IN and NOT IN only. A null row satisfies IS NULL only.
    """

    relation: Relation
    values: tuple[IndexValue, ...] = ()


class FileIndex(Protocol):
    """An index of one column of a data file."""

    def rows(self, condition: Condition) -> BitMap | None:
        """Return a superset of the rows that satisfy a condition; None if the index cannot tell.

        The result is exact except for timestamps of more than 6 digits, which indexes store in
        microseconds, and for comparisons with NaN.
        """

    def may_match(self, condition: Condition) -> bool:
        """Return whether any row may satisfy the condition."""


class LookupIndex:
    """Base of indexes that look up the rows of keys.

    Attributes:
        codec: converts values to keys.
        row_count: number of rows of the data file, with nulls.
    """

    __slots__ = ()
    codec: KeyCodec
    row_count: int

    def present(self) -> BitMap:
        """Return the rows that are not null."""
        raise NotImplementedError

    def equal(self, key: Key) -> BitMap:
        """Return the rows with a key."""
        raise NotImplementedError

    def compared(self, relation: Relation, key: Key) -> BitMap | None:
        """Return the rows whose keys are below or above a key; None if keys are not ordered."""
        raise NotImplementedError

    def may_match(self, condition: Condition) -> bool:
        """Return whether any row may satisfy the condition."""
        found = self.rows(condition)
        return found is None or bool(found)

    def rows(self, condition: Condition) -> BitMap | None:
        """Return the rows that satisfy a condition, see `FileIndex.rows`."""
        match condition.relation:
            case Relation.IS_NULL:
                return BitMap(range(self.row_count)) - self.present()
            case Relation.IS_NOT_NULL:
                return self.present()
            case Relation.EQ | Relation.IN:
                return self._equal(condition)
            case Relation.NE | Relation.NOT_IN:
                if self.codec.coarse or any(_is_nan(value) for value in condition.values):
                    return self.present()
                return self.present() - self._equal(condition)
            case relation:
                [value] = condition.values
                bound = _bound(self.codec, relation, value)
                return None if _is_nan(value) else self.compared(*bound)

    def _equal(self, condition: Condition) -> BitMap:
        found = BitMap()
        for value in condition.values:
            for key in equal_keys(self.codec, value):
                found |= self.equal(key)
        return found


def _is_nan(value: IndexValue) -> bool:
    return isinstance(value, float) and math.isnan(value)


def equal_keys(codec: KeyCodec, value: IndexValue) -> list[Key]:
    """Return the keys of values equal to a literal: 0.0 and -0.0 are equal."""
    if codec.floating and value == 0:
        return [codec.of_value(0.0), codec.of_value(-0.0)]
    return [codec.of_value(value)]


def _bound(codec: KeyCodec, relation: Relation, value: IndexValue) -> tuple[Relation, Key]:
    """Convert a comparison of values to a comparison of keys."""
    if codec.floating and value == 0:
        value = -0.0 if relation in {Relation.GE, Relation.LT} else 0.0
    if codec.coarse:
        relation = {Relation.LT: Relation.LE, Relation.GT: Relation.GE}.get(relation, relation)
    return relation, codec.of_value(value)
