"""Conditions on one column, and how an index that can look up keys answers them."""

import math
from enum import Enum
from typing import Protocol

from pyroaring import BitMap

from paimon_explore.encoding.file_index.index_keys import IndexValue, Key, KeyCodec
from paimon_explore.frozen_dataclass import dataclass


class Relation(Enum):
    """What is asked of a column, by its SQL text."""

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
    """A relation of a column to values that are not null; no value for the null tests.

    With several values only IN and NOT IN make sense. A row that is null satisfies IS NULL only.
    """

    relation: Relation
    values: tuple[IndexValue, ...] = ()


class FileIndex(Protocol):
    """An index of one column of a data file."""

    def rows(self, condition: Condition) -> BitMap | None:
        """The rows that satisfy a condition, by position from 0; never one too few.

        None when the index cannot tell. It is exact unless the column has timestamps of more than
        6 digits, which indexes know to the microsecond, or is compared with NaN.
        """

    def may_match(self, condition: Condition) -> bool:
        """Whether any row may satisfy the condition."""


class Lookup(Protocol):
    """An index that finds the rows of a key."""

    @property
    def codec(self) -> KeyCodec:
        """The keys of its column."""

    @property
    def row_count(self) -> int:
        """All rows of the data file, null ones too."""

    def present(self) -> BitMap:
        """The rows that are not null."""

    def equal(self, key: Key) -> BitMap:
        """The rows of a key."""

    def compared(self, relation: Relation, key: Key) -> BitMap | None:
        """The rows whose keys are below or above one; None when the index keeps no order."""


def rows_of(index: Lookup, condition: Condition) -> BitMap | None:
    """The rows that satisfy a condition, see `FileIndex.rows`."""
    codec = index.codec
    match condition.relation:
        case Relation.IS_NULL:
            return BitMap(range(index.row_count)) - index.present()
        case Relation.IS_NOT_NULL:
            return index.present()
        case Relation.EQ | Relation.IN:
            return _equal(index, condition)
        case Relation.NE | Relation.NOT_IN:
            if codec.coarse or any(_is_nan(value) for value in condition.values):
                return index.present()
            return index.present() - _equal(index, condition)
        case relation:
            [value] = condition.values
            return None if _is_nan(value) else index.compared(*_bound(codec, relation, value))


def _is_nan(value: IndexValue) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _equal(index: Lookup, condition: Condition) -> BitMap:
    found = BitMap()
    for value in condition.values:
        for key in equal_keys(index.codec, value):
            found |= index.equal(key)
    return found


def equal_keys(codec: KeyCodec, value: IndexValue) -> list[Key]:
    """The keys of the values that equal a literal: both zeros equal each other."""
    if codec.floating and value == 0:
        return [codec.of_value(0.0), codec.of_value(-0.0)]
    return [codec.of_value(value)]


def _bound(codec: KeyCodec, relation: Relation, value: IndexValue) -> tuple[Relation, Key]:
    """The comparison of keys that a comparison of values amounts to."""
    if codec.floating and value == 0:
        value = -0.0 if relation in {Relation.GE, Relation.LT} else 0.0
    if codec.coarse:
        relation = {Relation.LT: Relation.LE, Relation.GT: Relation.GE}.get(relation, relation)
    return relation, codec.of_value(value)
