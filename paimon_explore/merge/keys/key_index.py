"""Which rows of sorted parts share a key: winners of keys, and numbers for keys.

Theory of operation. What a merge does per key becomes array work per part once the rows of each key
are known: parts are gone through in their order, and since a part has a key only once, plain
assignment at the numbers of keys does what would else take a sort of whole rows. By what the keys
are:

- Integers of a narrow range are their own numbers. Several integer columns are put into one.
- Other keys of one word (`merge.keys.normalized_keys`) take one stable sort, which makes use of the
  parts being sorted already.
- Texts make words of the bytes after the prefix that neighbours share
  (`merge.keys.normalized_text_keys`).
- Anything else is ranked by `merge.keys.key_groups`.

What is sorted is cut at common pivots before, into chunks small enough for the caches.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow.types as pat

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.key_groups import ranks, sorted_within
from paimon_explore.merge.keys.normalized_keys import words_of
from paimon_explore.merge.keys.normalized_text_keys import TextChunk, cut_at_pivots
from paimon_explore.merge.numpy_columns import Keys, ints_of, joined

_DENSE_PER_ROW = 16
_DENSE = 1 << 16
_MAX_RANGE = 1 << 62
_CHUNK_ROWS = 6_144
"""Rows of the largest part in a chunk: what the sort of all its rows takes fits the caches."""
_CHUNK_FLAGS = 1 << 18
"""Flags of a chunk of narrow keys: a byte or a number each, which the caches hold."""

PartKeys: TypeAlias = Sequence[Column]
"""The key columns of one part, n rows each."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The numbers of the keys of parts: equal for equal keys, greater for greater ones.

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
        found = np.flatnonzero(occurs)
        if len(found) == self.count:
            return self
        rank = np.empty(self.count, np.int64)
        rank[found] = np.arange(len(found))
        return Slots([rank.take(part) for part in self.parts], len(found))

    def winners(self, *, newest: bool) -> list[Bools]:
        """For each part which of its rows are their keys' last, or first, over all parts."""
        free = np.ones(self.count, np.bool_)
        masks = []
        for part in reversed(self.parts) if newest else self.parts:
            masks.append(free.take(part))
            free[part] = False
        return masks[::-1] if newest else masks


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The rows of parts, one part behind the other, in the order of keys, older ones first.

    Attributes:
        order: row numbers.
        fresh: where the key is another than the one before.
        sizes: rows of each part.
    """

    order: Ints
    fresh: Bools
    sizes: Sequence[int]

    @classmethod
    def of(cls, words: Sequence[Keys]) -> "_Sorted":
        every = words[0] if len(words) == 1 else np.concatenate(words)
        order = np.argsort(every, kind="stable")
        every = every.take(order)
        fresh = np.empty(len(every), np.bool_)
        fresh[:1] = True
        np.not_equal(every[1:], every[:-1], out=fresh[1:])
        return cls(order, fresh, [len(part) for part in words])

    def winners(self, *, newest: bool) -> list[Bools]:
        """As of `Slots`."""
        wins = np.empty(len(self.order), np.bool_)
        if newest:
            wins[self.order[:-1]] = self.fresh[1:]
            wins[self.order[-1]] = True
        else:
            wins[self.order] = self.fresh
        return np.split(wins, np.cumsum(self.sizes)[:-1])

    def numbered(self) -> Slots:
        """The numbers of the keys."""
        running = np.cumsum(self.fresh, dtype=np.int64)
        count = int(running[-1])
        running -= 1
        numbers = np.empty(len(self.order), np.int64)
        numbers[self.order] = running
        return Slots(_split(numbers, self.sizes), count)


def _split(values: Ints, sizes: Sequence[int]) -> list[Ints]:
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """All rows of a range of keys.

    Attributes:
        places: which parts have some; others have none.
        begins: where they begin in these parts.
        keys: which rows share one.
    """

    places: Sequence[int]
    begins: Sequence[int]
    keys: Slots | _Sorted


def winners(parts: Sequence[PartKeys], *, newest: bool) -> list[Bools]:
    """For each part which of its rows are their keys' last, or first, over all parts.

    Args:
        parts: the key columns of every part, in one order and of the same types; at least one
            part, none without rows. Each part ascends by key.
        newest: the last part that has a key wins; else the first.

    Raises:
        FormatError: a part does not ascend.
        UnsupportedFeatureError: a column of a type that has no order.
    """
    found = [np.empty(len(part[0]), np.bool_) for part in parts]
    for chunk in _chunks(parts):
        masks = chunk.keys.winners(newest=newest)
        for at, begin, mask in zip(chunk.places, chunk.begins, masks, strict=True):
            found[at][begin : begin + len(mask)] = mask
    return found


def key_slots(parts: Sequence[PartKeys]) -> Slots:
    """Number the keys of parts.

    Args:
        parts: as for `winners`.

    Raises:
        FormatError: a part does not ascend.
        UnsupportedFeatureError: a column of a type that has no order.
    """
    found = [np.empty(len(part[0]), np.int64) for part in parts]
    count = 0
    for chunk in _chunks(parts):
        slots = chunk.keys if isinstance(chunk.keys, Slots) else chunk.keys.numbered()
        for at, begin, numbers in zip(chunk.places, chunk.begins, slots.parts, strict=True):
            np.add(numbers, count, out=found[at][begin : begin + len(numbers)])
        count += slots.count
    return Slots(found, count)


def _chunks(parts: Sequence[PartKeys]) -> Iterator[_Chunk]:
    words = _single_words(parts)
    if words is not None:
        yield from _word_chunks(words)
        return
    first = parts[0]
    if len(first) == 1 and _is_text(first[0]) and not any(p[0].null_count for p in parts):
        for text in cut_at_pivots([part[0] for part in parts]):
            yield _Chunk(text.places, text.begins, _text_keys(text))
        return
    yield _Chunk(range(len(parts)), [0] * len(parts), _ranked(parts))


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


def _word_chunks(words: Sequence[Keys]) -> Iterator[_Chunk]:
    """Narrow ranges as they are, wide ones in chunks."""
    low, high = _ends(words)
    if high - low >= _most_flags(words):
        pivots = max(words, key=len)[_CHUNK_ROWS::_CHUNK_ROWS]
        for places, begins, some in _cut_at(words, pivots):
            yield _Chunk(places, begins, _Sorted.of(some))
        return
    pivots = np.arange(low + _CHUNK_FLAGS, high + 1, _CHUNK_FLAGS).astype(words[0].dtype)
    for places, begins, some in _cut_at(words, pivots):
        # a damaged part need not ascend, so its keys may go beyond the pivots
        yield _Chunk(places, begins, _dense(some) or _Sorted.of(some))


def _cut_at(
    words: Sequence[Keys], pivots: Keys
) -> Iterator[tuple[list[int], list[int], list[Keys]]]:
    """The words between pivots: the parts that have some, where these begin, and they."""
    cuts = [[0, *np.searchsorted(part, pivots).tolist(), len(part)] for part in words]
    for at in range(len(pivots) + 1):
        places = [place for place, cut in enumerate(cuts) if cut[at + 1] > cut[at]]
        if places:
            some = [words[place][cuts[place][at] : cuts[place][at + 1]] for place in places]
            yield places, [cuts[place][at] for place in places], some


def _ends(words: Sequence[Keys]) -> tuple[int, int]:
    """The least and the greatest word, by the ends of the parts."""
    return min(int(part[0]) for part in words), max(int(part[-1]) for part in words)


def _most_flags(words: Sequence[Keys]) -> int:
    return max(_DENSE_PER_ROW * sum(len(part) for part in words), _DENSE)


def _dense(words: Sequence[Keys]) -> Slots | None:
    """Words of a narrow range as numbers."""
    flags = _most_flags(words)
    low, high = _ends(words)
    if high - low >= flags:
        return None
    low, high = _range(words)
    if high - low >= flags:
        return None
    return Slots([_from_zero(part, low) for part in words], high - low + 1)


# ---------------------------------------------------------------- texts, and all the others


def _text_keys(chunk: TextChunk) -> Slots | _Sorted:
    words = chunk.words()
    if words.exact:
        return _dense(words.parts) or _Sorted.of(words.parts)
    keys = _Sorted.of(words.parts)
    column = joined(chunk.columns)
    deceived = words.deceiving(column, keys.order, keys.fresh)
    return _mended(keys, deceived, column) if len(deceived) else keys


def _mended(keys: _Sorted, deceived: Ints, column: Column) -> _Sorted:
    """Sort again, by whole keys, the rows of equal words among which some keys differ."""
    groups = np.cumsum(keys.fresh)
    hit = np.zeros(int(groups[-1]) + 1, np.bool_)
    hit[groups[deceived]] = True
    again = hit[groups]
    order, fresh = sorted_within(keys.order, keys.fresh | ~again, list(words_of(column)))
    return _Sorted(order, np.where(again, fresh, keys.fresh), keys.sizes)


def _ranked(parts: Sequence[PartKeys]) -> Slots:
    sizes = [len(part[0]) if part else 0 for part in parts]
    columns = [joined([part[at] for part in parts]) for at in range(len(parts[0]))]
    numbers = ranks(columns, count=sum(sizes))
    return Slots(_split(numbers, sizes), int(numbers.max(initial=-1)) + 1)
