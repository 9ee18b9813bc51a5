"""The order of keys, and the groups of rows that share one.

Theory of operation. A key is a list of columns, a column a list of *words*: arrays of fixed-width
numbers whose natural order, word after word, is the order of the column. Strings have one word of
eight bytes, high byte first, for every eight bytes after what all values have in common, and at last
their length. Rows are sorted by the first word of all; only rows that are equal so far are looked at
again with the next word, and sorted again only if they differ in it. So sorted runs cost one pass of
a sort that knows about runs, and long keys cost little more than what is needed to see they are equal.

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

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.merge.columns import (
    NARROW_DIGITS,
    Bools,
    Int64s,
    UInt64s,
    Words,
    bits_of,
    decimal_halves,
    ints_of,
    offsets_of,
    valid_mask,
)

WordSource: TypeAlias = Callable[[Int64s | None], Words]
"""One word of the rows asked for; None: of all rows."""

_WORD = 8


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by key.

    Attributes:
        order: n row numbers, sorted by key and, within a key, by what was asked for.
        starts: for each of the g keys the place in `order` of its first row, ascending.
    """

    order: Int64s
    starts: Int64s

    @property
    def sizes(self) -> Int64s:
        """Number of rows of each key, at least 1."""
        return np.diff(self.starts, append=len(self.order))

    @property
    def lasts(self) -> Int64s:
        """For each key the place in `order` of its last row."""
        return np.append(self.starts[1:], len(self.order)) - 1


def group_rows(
    keys: Sequence[pa.Array], within: Sequence[WordSource] = (), *, count: int
) -> Groups:
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


def ranks(columns: Sequence[pa.Array], *, count: int) -> Int64s:
    """For every row the place of its values among all different ones, 0 for the smallest."""
    groups = group_rows(columns, count=count)
    found = np.empty(count, np.int64)
    found[groups.order] = np.repeat(np.arange(len(groups.starts)), groups.sizes)
    return found


def _sorted_by(sources: Sequence[WordSource], count: int) -> tuple[Int64s, Bools]:
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


def _sorted_within(
    order: Int64s, fresh: Bools, sources: Sequence[WordSource]
) -> tuple[Int64s, Bools]:
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


def words_of(column: pa.Array, *, descending: bool = False) -> Iterator[WordSource]:
    """The words of a column.

    Args:
        column: n values.
        descending: greatest first, but nulls first all the same, as Java does.

    Raises:
        UnsupportedFeatureError: a type that has no order here: nested ones, variants.
    """
    valid = valid_mask(column)
    if valid is not None:
        yield partial(_picked, valid)
    for source in _value_words(column, valid):
        yield partial(_reversed, source) if descending else source


def _picked(words: Words, rows: Int64s | None) -> Words:
    return words if rows is None else words[rows]


def _reversed(source: WordSource, rows: Int64s | None) -> Words:
    words = source(rows)
    return np.logical_not(words) if words.dtype == bool else np.invert(words)


def _value_words(column: pa.Array, valid: Bools | None) -> Iterator[WordSource]:
    kind = column.type
    if pat.is_string(kind) or pat.is_binary(kind) or pat.is_large_binary(kind):
        yield from _byte_words(column, valid)
        return
    for words in _fixed_words(column):
        yield partial(_picked, words if valid is None else np.where(valid, words, 0))


def _fixed_words(column: pa.Array) -> tuple[Words, ...]:
    kind = column.type
    if pat.is_boolean(kind):
        return (bits_of(column),)
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


def float_words(column: pa.Array) -> Words:
    """Floats as integers of the same order: all NaN alike and greatest, -0.0 before 0.0."""
    bits = ints_of(column)
    values = bits.view(f"f{bits.itemsize}")
    largest = np.iinfo(bits.dtype).max
    words = np.where(bits < 0, bits ^ largest, bits)
    found: Words = np.where(np.isnan(values), largest, words)
    return found


# ---------------------------------------------------------------- strings and bytes


def _byte_words(column: pa.Array, valid: Bools | None) -> Iterator[WordSource]:
    offsets = offsets_of(column)
    lengths = np.diff(offsets) if valid is None else np.where(valid, np.diff(offsets), 0)
    data = column.buffers()[2]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    if len(raw) < offsets[-1] + _WORD:
        begin = int(offsets[0])
        raw = np.concatenate([raw[begin : offsets[-1]], np.zeros(_WORD, np.uint8)])
        offsets = offsets - begin
    longest = int(lengths.max(initial=0))
    words = np.ndarray((len(raw) - _WORD + 1,), ">u8", raw, 0, (1,))
    for at in range(_common_prefix(column), longest, _WORD):
        yield partial(_byte_word, words, offsets, lengths, at)
    if not len(lengths) or int(lengths.min()) != longest:
        yield partial(_picked, lengths)


def _byte_word(
    words: Words, offsets: Int64s, lengths: Int64s, at: int, rows: Int64s | None
) -> UInt64s:
    """Eight bytes from `at` on, zero beyond the end of the value."""
    begins = offsets[:-1] if rows is None else offsets[rows]
    left = (lengths if rows is None else lengths[rows]) - at
    found: UInt64s = words[begins + np.where(left > 0, at, 0)].astype(np.uint64)
    if int(left.min(initial=_WORD)) < _WORD:
        drop = (8 * np.clip(_WORD - left, 0, _WORD - 1)).astype(np.uint64)
        found = np.where(left > 0, (found >> drop) << drop, np.uint64(0))
    return found


def _common_prefix(column: pa.Array) -> int:
    """How many leading bytes all values that are not null share."""
    if pat.is_string(column.type):
        column = column.view(pa.binary())
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None:
        return 0
    shorter = min(len(low), len(high))
    return next((at for at in range(shorter) if low[at] != high[at]), shorter)
