"""Numbers for the keys of sorted parts: equal keys have equal numbers, greater keys greater ones.

Theory of operation. What a merge does per key becomes array work per part once every row knows the
number of its key: parts are gone through in their order, and since a part has a key only once,
plain assignment at these numbers does what would else take a sort of whole rows. Three ways lead to
the numbers, by what the keys are:

- Integers of a narrow range are their own numbers. Several integer columns are put into one.
- Other keys of one word (`merge.words`) take one stable sort, which makes use of the parts being
  sorted already.
- Texts are cut at common pivots into chunks small enough for the caches, whose keys have long
  prefixes in common; the bytes after the prefix make the word (`merge.text_words`).

Anything else is ranked by `merge.order`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow.types as pat

from paimon_explore.encoding.buffers import Bools, Column, Ints
from paimon_explore.merge.columns import Keys, ints_of, joined
from paimon_explore.merge.order import ranks, sorted_within
from paimon_explore.merge.text_words import TextChunk, cut_at_pivots
from paimon_explore.merge.words import words_of

_DENSE_PER_ROW = 16
_DENSE = 1 << 16
_MAX_RANGE = 1 << 62

PartKeys: TypeAlias = Sequence[Column]
"""The key columns of one part, n rows each."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The numbers of the keys of parts.

    Attributes:
        parts: for each part the numbers of its n rows.
        count: all numbers are below; not every one need occur.
    """

    parts: Sequence[Ints]
    count: int

    def without_gaps(self) -> "Slots":
        """The same order with numbers of which every one occurs."""
        occurs = np.zeros(self.count, np.bool_)
        for part in self.parts:
            occurs[part] = True
        rank = np.cumsum(occurs, dtype=np.int64)
        if self.count == (0 if not self.count else int(rank[-1])):
            return self
        rank -= 1
        return Slots([rank.take(part) for part in self.parts], int(rank[-1]) + 1)


def key_slots(parts: Sequence[PartKeys]) -> Slots:
    """Number the keys of parts.

    Args:
        parts: the key columns of every part, in one order and of the same types; at least one
            part, none without rows. Each part ascends by key.

    Raises:
        FormatError: a part does not ascend.
        UnsupportedFeatureError: a column of a type that has no order.
    """
    words = _single_words(parts)
    if words is not None:
        return _of_words(words)
    first = parts[0]
    if len(first) == 1 and _is_text(first[0]) and not any(p[0].null_count for p in parts):
        return _of_texts([part[0] for part in parts])
    return _ranked(parts)


def first_come(slots: Slots, order: Sequence[int]) -> dict[int, Bools]:
    """For each part which of its keys are in no part before it.

    Args:
        slots: the numbers of the keys, unique in a part.
        order: the parts in the order in which they come.
    """
    free = np.ones(slots.count, np.bool_)
    masks = {}
    for at in order:
        part = slots.parts[at]
        masks[at] = free.take(part)
        free[part] = False
    return masks


# ---------------------------------------------------------------- keys of one word


def _single_words(parts: Sequence[PartKeys]) -> Sequence[Keys] | None:
    """One word per key, if the columns can be put into one; None if not."""
    if any(column.null_count for part in parts for column in part):
        return None
    columns = [_column_words([part[at] for part in parts]) for at in range(len(parts[0]))]
    known = [column for column in columns if column is not None]
    if len(known) < len(columns) or not known:
        return None
    found = known[0]
    for column in known[1:]:
        both = _combined(found, column)
        if both is None:
            return None
        found = both
    return found


def _column_words(columns: Sequence[Column]) -> list[Keys] | None:
    kind = columns[0].type
    if pat.is_integer(kind) or (pat.is_temporal(kind)):
        return [ints_of(column) for column in columns]
    if _is_text(columns[0]) or pat.is_nested(kind):
        return None
    sources = [list(words_of(column)) for column in columns]
    if any(len(found) != 1 for found in sources):
        return None
    return [found[0](None) for found in sources]


def _is_text(column: Column) -> bool:
    return pat.is_string(column.type) or pat.is_binary(column.type)


def _combined(high: Sequence[Keys], low: Sequence[Keys]) -> list[Keys] | None:
    """Two words as one of the same order, if their ranges fit."""
    above, above_end = _range(high)
    below, below_end = _range(low)
    width = below_end - below + 1
    if (above_end - above + 1) * width > _MAX_RANGE:
        return None
    return [
        _from_zero(left, above) * width + _from_zero(right, below)
        for left, right in zip(high, low, strict=True)
    ]


def _range(words: Sequence[Keys]) -> tuple[int, int]:
    # a damaged file need not ascend: so not by the first and last one
    return min(int(part.min()) for part in words), max(int(part.max()) for part in words)


def _from_zero(words: Keys, low: int) -> Ints:
    """Differences to the least word, all of which fit."""
    if words.dtype == np.uint64:
        return (words - np.uint64(low)).view(np.int64)
    return np.subtract(words, low, dtype=np.int64, casting="unsafe")


def _of_words(words: Sequence[Keys]) -> Slots:
    low, high = _range(words)
    rows = sum(len(part) for part in words)
    if high - low < max(_DENSE_PER_ROW * rows, _DENSE):
        return Slots([_from_zero(part, low) for part in words], high - low + 1)
    order, fresh = sort_words(words)
    return Slots(*numbers_of(order, fresh, [len(part) for part in words]))


def sort_words(words: Sequence[Keys]) -> tuple[Ints, Bools]:
    """All rows in the order of their words, and where the word is another than the one before."""
    every = words[0] if len(words) == 1 else np.concatenate(words)
    order = np.argsort(every, kind="stable")
    every = every.take(order)
    fresh = np.empty(len(every), np.bool_)
    fresh[:1] = True
    np.not_equal(every[1:], every[:-1], out=fresh[1:])
    return order, fresh


def numbers_of(order: Ints, fresh: Bools, sizes: Sequence[int]) -> tuple[list[Ints], int]:
    """The numbers of rows in the parts they came from, and how many numbers there are."""
    running = np.cumsum(fresh, dtype=np.int64)
    count = int(running[-1]) if len(running) else 0
    running -= 1
    numbers = np.empty(len(order), np.int64)
    numbers[order] = running
    return np.split(numbers, np.cumsum(sizes)[:-1]), count


# ---------------------------------------------------------------- texts, and all the others


def _of_texts(columns: Sequence[Column]) -> Slots:
    found: list[list[Ints]] = [[] for _ in columns]
    count = 0
    for chunk in cut_at_pivots(columns):
        numbers, more = _of_chunk(chunk)
        for at, part in zip(chunk.places, numbers, strict=True):
            found[at].append(part + count)
        count += more
    return Slots([parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in found], count)


def _of_chunk(chunk: TextChunk) -> tuple[Sequence[Ints], int]:
    if len(chunk.columns) == 1:
        return [np.arange(len(chunk.columns[0]))], len(chunk.columns[0])
    words = chunk.words()
    if words.exact:
        slots = _of_words(words.parts)
        return slots.parts, slots.count
    order, fresh = sort_words(words.parts)
    column = joined(chunk.columns)
    deceived = words.deceiving(column, order, fresh)
    if len(deceived):
        order, fresh = _mended(order, fresh, deceived, column)
    return numbers_of(order, fresh, [len(part) for part in words.parts])


def _mended(order: Ints, fresh: Bools, deceived: Ints, column: Column) -> tuple[Ints, Bools]:
    """Sort again, by whole keys, the rows of equal words among which some keys differ."""
    groups = np.cumsum(fresh)
    hit = np.zeros(int(groups[-1]) + 1, np.bool_)
    hit[groups[deceived]] = True
    again = hit[groups]
    order, mended = sorted_within(order, fresh | ~again, list(words_of(column)))
    return order, np.where(again, mended, fresh)


def _ranked(parts: Sequence[PartKeys]) -> Slots:
    sizes = [len(part[0]) if part else 0 for part in parts]
    columns = [joined([part[at] for part in parts]) for at in range(len(parts[0]))]
    numbers = ranks(columns, count=sum(sizes))
    return Slots(np.split(numbers, np.cumsum(sizes)[:-1]), int(numbers.max(initial=-1)) + 1)
