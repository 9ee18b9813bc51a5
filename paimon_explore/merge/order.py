"""The order of keys, and the groups of rows that share one.

Theory of operation. A key is a list of columns, a column a list of *words*: arrays of fixed-width
numbers whose natural order, word after word, is the order of the column. Strings have one word of
eight bytes, high byte first, for every eight bytes after what all values have in common, and at
last their length. Rows are sorted by the first word of all; only rows that are equal so far are
looked at again with the next word, and sorted again only if they differ in it. So sorted runs cost
one pass of a sort that knows about runs, and long keys cost little more than seeing them equal.

Order: column by column, null first, booleans false first, numbers by value, floats -0.0 before 0.0
and NaN last, strings and bytes by unsigned bytes, shorter first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from paimon_explore.encoding import buffers as nb
from paimon_explore.encoding.buffers import Bools, Bytes, Column, Ints, Words
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.merge.columns import (
    NARROW_DIGITS,
    Keys,
    decimal_halves,
    ints_of,
    nulls_mask,
)

WordSource: TypeAlias = Callable[[Ints | None], Keys]
"""One word of the rows asked for; None: of all rows."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by key.

    Attributes:
        order: n row numbers, sorted by key and, within a key, by what was asked for.
        starts: for each of the g keys the place in `order` of its first row, ascending.
    """

    order: Ints
    starts: Ints

    @property
    def sizes(self) -> Ints:
        """Number of rows of each key, at least 1."""
        return np.diff(self.starts, append=len(self.order))

    @property
    def lasts(self) -> Ints:
        """For each key the place in `order` of its last row."""
        return np.append(self.starts[1:], len(self.order)) - 1


def group_rows(keys: Sequence[Column], within: Sequence[WordSource] = (), *, count: int) -> Groups:
    """Sort rows by key and find those with equal keys.

    Args:
        keys: the key columns, n rows each; none: all rows have the same key.
        within: words that order the rows of one key. Rows equal in these too stay as they came.
        count: n.

    Raises:
        UnsupportedFeatureError: a column of a type that has no order.
    """
    sources = [source for column in keys for source in words_of(column)]
    order, fresh = _sorted_by(sources, count)
    return Groups(_sorted_within(order, fresh, within)[0], np.flatnonzero(fresh))


def ranks(columns: Sequence[Column], *, count: int) -> Ints:
    """For every row the place of its values among all different ones, 0 for the smallest."""
    groups = group_rows(columns, count=count)
    found = np.empty(count, np.int64)
    found[groups.order] = np.repeat(np.arange(len(groups.starts)), groups.sizes)
    return found


def _sorted_by(sources: Sequence[WordSource], count: int) -> tuple[Ints, Bools]:
    """Rows in order, and for every place whether its row differs from the one before."""
    fresh = np.zeros(count, bool)
    fresh[:1] = True
    if not sources or not count:
        return np.arange(count), fresh
    words = sources[0](None)
    if (words[1:] >= words[:-1]).all():
        order = np.arange(count)
    else:
        order = np.argsort(words, kind="stable")
        words = words[order]
    np.not_equal(words[1:], words[:-1], out=fresh[1:])
    return _sorted_within(order, fresh, sources[1:])


def _sorted_within(order: Ints, fresh: Bools, sources: Sequence[WordSource]) -> tuple[Ints, Bools]:
    """Refine an order: rows equal so far are sorted by further words."""
    order, fresh = order.copy(), fresh.copy()
    for source in sources:
        tied = ~fresh
        tied[:-1] |= ~fresh[1:]
        places = np.flatnonzero(tied)
        if not len(places):
            break
        words = source(order[places])
        first = fresh[places]
        inside = ~first[1:]
        if (inside & (words[1:] < words[:-1])).any():
            sort = np.lexsort((words, np.cumsum(first)))
            order[places] = order[places][sort]
            words = words[sort]
        fresh[places[1:]] |= words[1:] != words[:-1]
    return order, fresh


def words_of(column: Column, *, descending: bool = False) -> Iterator[WordSource]:
    """The words of a column.

    Args:
        column: n values.
        descending: greatest first, but nulls first all the same, as Java does.

    Raises:
        UnsupportedFeatureError: a type that has no order here: nested ones, variants.
    """
    valid = nulls_mask(column)
    if valid is not None:
        yield picked(valid)
    for source in _value_words(column, valid):
        yield partial(_reversed, source) if descending else source


def picked(words: Keys) -> WordSource:
    """A word that is there already."""
    return partial(_picked, words)


def _picked(words: Keys, rows: Ints | None) -> Keys:
    return words if rows is None else words[rows]


def _reversed(source: WordSource, rows: Ints | None) -> Keys:
    words = source(rows)
    return np.logical_not(words) if words.dtype == bool else np.invert(words)


def _value_words(column: Column, valid: Bools | None) -> Iterator[WordSource]:
    kind = column.type
    if pat.is_string(kind) or pat.is_binary(kind) or pat.is_large_binary(kind):
        yield from _byte_words(column, valid)
        return
    for words in _fixed_words(column):
        yield picked(words if valid is None else np.where(valid, words, 0))


def _fixed_words(column: Column) -> tuple[Keys, ...]:
    kind = column.type
    if pat.is_boolean(kind):
        return (nb.bool_values(column),)
    if pat.is_floating(kind):
        return (float_words(column),)
    if pat.is_decimal128(kind):
        high, low = decimal_halves(column)
        return (low.view(np.int64),) if kind.precision <= NARROW_DIGITS else (high, low)
    if pat.is_integer(kind) or pat.is_temporal(kind):
        return (ints_of(column),)
    if pat.is_null(kind):
        return ()
    raise UnsupportedFeatureError(f"order of values of type {kind}")


def float_words(column: Column) -> Keys:
    """Floats as integers of the same order: all NaN alike and greatest, -0.0 before 0.0."""
    bits = ints_of(column)
    values = bits.view(f"f{bits.itemsize}")
    largest = np.iinfo(bits.dtype).max
    words = np.where(bits < 0, bits ^ largest, bits)
    found: Keys = np.where(np.isnan(values), largest, words)
    return found


# ---------------------------------------------------------------- strings and bytes


def _byte_words(column: Column, valid: Bools | None) -> Iterator[WordSource]:
    offsets, data = nb.var_values(column)
    begins, lengths = offsets[: len(column)], np.diff(offsets)[: len(column)]
    if valid is not None:
        lengths = np.where(valid, lengths, 0)
    text = _Bytes(begins, lengths, _readable(data, offsets))
    longest, shortest = int(lengths.max(initial=0)), int(lengths.min(initial=0))
    for at in range(_common_prefix(column), longest, nb.WORD):
        yield partial(_byte_word, text, at)
    if longest != shortest:
        yield picked(lengths)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Byte strings: where each begins, its length, and the word that starts at any byte."""

    begins: Ints
    lengths: Ints
    words: Words


def _readable(data: Bytes, offsets: Ints) -> Words:
    """Every word of the bytes, also those that begin at the last byte."""
    if len(data) < int(offsets[-1]) + nb.WORD:
        data = nb.padded(data[: int(offsets[-1])])
    return nb.unaligned_words(data)


def _byte_word(text: _Bytes, at: int, rows: Ints | None) -> Keys:
    """Eight bytes from `at` on, the first one highest, zero beyond the end of the value."""
    begins = text.begins if rows is None else text.begins[rows]
    left = (text.lengths if rows is None else text.lengths[rows]) - at
    found = text.words[begins + np.where(left > 0, at, 0)].byteswap()
    if int(left.min(initial=nb.WORD)) >= nb.WORD:
        return found
    drop = (8 * np.clip(nb.WORD - left, 0, nb.WORD - 1)).astype(np.uint64)
    return np.where(left > 0, (found >> drop) << drop, np.uint64(0))


def _common_prefix(column: Column) -> int:
    """How many leading bytes all values that are not null share."""
    if pat.is_string(column.type):
        column = column.view(pa.binary())
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None:
        return 0
    shorter = min(len(low), len(high))
    return next((at for at in range(shorter) if low[at] != high[at]), shorter)


# ---------------------------------------------------------------- single keys

KeyTuple: TypeAlias = tuple[object, ...]
"""One key, comparable with others of the same columns by Python's own order."""


def key_at(columns: Sequence[Column], row: int) -> KeyTuple:
    """The key of one row."""
    return tuple(part for column in columns for part in _key_parts(column, row))


def _key_parts(column: Column, row: int) -> tuple[object, ...]:
    scalar = column[row]
    if not scalar.is_valid:
        return (0, 0)
    kind = column.type
    if pat.is_floating(kind):
        return (1, int(float_words(column.slice(row, 1))[0]))
    if pat.is_temporal(kind):
        return (1, int(ints_of(column.slice(row, 1))[0]))
    value = scalar.as_py()
    return (1, value.encode() if isinstance(value, str) else value)


def rows_up_to(columns: Sequence[Column], key: KeyTuple, *, count: int) -> int:
    """How many of n ascending rows are not above a key."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if key_at(columns, middle) <= key:
            low = middle + 1
        else:
            high = middle
    return low
