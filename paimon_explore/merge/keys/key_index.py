"""Index of the keys of sorted parts: a number per key, and the winning row of each key.

With a number per key, a merge becomes array operations per part: since a part contains a key only
once, assigning at the key numbers, part by part, replaces sorting whole rows. The numbers are
determined by the type of the key:

- Integers in a narrow range are used directly. Several integer columns are combined into one; so
  are texts with few distinct values, by their ranks.
- Other keys with a single normalized key (`merge.keys.normalized_keys`) take one stable sort, which
  benefits from the parts being sorted.
- Texts use the bytes after the common prefix of a chunk (`merge.keys.normalized_keys`). Several
  columns with other texts are joined to byte strings that sort like them.
- Other keys (with nulls, decimals of more than 18 digits) are ranked by `merge.keys.key_groups`.

Before sorting, the parts are split at common pivots into chunks that fit into the CPU caches.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_binary,
    concat_arrays,
    used_bytes,
    var_values,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.key_groups import group_rows, ranks, sorted_within
from paimon_explore.merge.keys.normalized_keys import TextChunk, normalized_keys, split_at_pivots
from paimon_explore.merge.numpy_columns import Keys, ints_of

_DENSE_PER_ROW = 16
_DENSE = 1 << 16
_MAX_RANGE = 1 << 62
_CHUNK_ROWS = 6_144
"""Rows of the largest part in a chunk, chosen so that sorting a chunk fits into the CPU caches."""
_SIGN = np.uint64(1 << 63)
_MAX_BYTES = int(np.iinfo(np.int32).max)
"""Of the values of an array of byte strings."""
_NOTHING = build_binary(np.zeros(2, np.int64), np.empty(0, np.uint8))[0]
_SAMPLE_ROWS, _REPEATED = 4_096, 4
"""Texts are numbered if each distinct one occurs that often in the first rows."""
_CHUNK_FLAGS = 1 << 18
"""Key range of a chunk of narrow keys, chosen so that its flags fit into the CPU caches."""

PartKeys: TypeAlias = Sequence[Column]
"""The key columns of one part, n rows each."""


@dataclass(frozen=True, slots=True)
class KeyNumbers:
    """The number of each row's key: equal for equal keys, greater for greater keys.

    Attributes:
        parts: for each part the key numbers of its n rows.
        count: upper bound of the numbers, exclusive; there may be gaps.
    """

    parts: Sequence[Ints]
    count: int

    def without_gaps(self) -> "KeyNumbers":
        """Renumbers the keys without gaps."""
        occurs = np.zeros(self.count, np.bool_)
        for part in self.parts:
            occurs[part] = True
        found = np.flatnonzero(occurs)
        if len(found) == self.count:
            return self
        rank = np.empty(self.count, np.int64)
        rank[found] = np.arange(len(found))
        return KeyNumbers([rank.take(part) for part in self.parts], len(found))

    def winners(self, *, newest: bool) -> list[Bools]:
        """For each part, which of its rows are the last (or first) of their key over all parts."""
        free = np.ones(self.count, np.bool_)
        masks = []
        for part in reversed(self.parts) if newest else self.parts:
            masks.append(free.take(part))
            free[part] = False
        return masks[::-1] if newest else masks


@dataclass(frozen=True, slots=True)
class _Integers:
    """A column of the key as integers, per part."""

    parts: Sequence[Keys]


@dataclass(frozen=True, slots=True)
class _Texts:
    """A column of the key as texts, per part."""

    parts: Sequence[Column]


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The rows of all parts, sorted by key, older ones first.

    Attributes:
        order: row numbers, counted over all parts.
        fresh: whether the key differs from the one before.
        sizes: number of rows per part.
    """

    order: Ints
    fresh: Bools
    sizes: Sequence[int]

    @classmethod
    def of(cls, normalized: Sequence[Keys]) -> "_Sorted":
        every = normalized[0] if len(normalized) == 1 else np.concatenate(normalized)
        order = np.argsort(every, kind="stable")
        every = every.take(order)
        fresh = np.empty(len(every), np.bool_)
        fresh[:1] = True
        np.not_equal(every[1:], every[:-1], out=fresh[1:])
        return cls(order, fresh, [len(part) for part in normalized])

    def winners(self, *, newest: bool) -> list[Bools]:
        """See `KeyNumbers.winners`."""
        wins = np.empty(len(self.order), np.bool_)
        if newest:
            wins[self.order[:-1]] = self.fresh[1:]
            wins[self.order[-1]] = True
        else:
            wins[self.order] = self.fresh
        return np.split(wins, np.cumsum(self.sizes)[:-1])

    def numbered(self) -> KeyNumbers:
        """Numbers the keys."""
        running = np.cumsum(self.fresh, dtype=np.int64)
        count = int(running[-1])
        running -= 1
        numbers = np.empty(len(self.order), np.int64)
        numbers[self.order] = running
        return KeyNumbers(_split(numbers, self.sizes), count)


def _split(values: Ints, sizes: Sequence[int]) -> list[Ints]:
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """All rows of a range of keys.

    Attributes:
        part_ids: indices of the parts with rows in it.
        begins: the first row in each of these parts.
        keys: the key numbers, or the sorted rows.
    """

    part_ids: Sequence[int]
    begins: Sequence[int]
    keys: KeyNumbers | _Sorted


def winners(parts: Sequence[PartKeys], *, newest: bool) -> list[Bools]:
    """For each part, which of its rows are the last (or first) of their key over all parts.

    Args:
        parts: the key columns of every part, in the same order and of the same types; at least one
            part, none empty. Each part is sorted by key.
        newest: whether the last part with a key wins; else the first.

    Raises:
        FormatError: a part is not sorted.
        UnsupportedFeatureError: a column of a type without an order.
    """
    found = [np.empty(len(part[0]), np.bool_) for part in parts]
    for chunk in _chunks(parts):
        masks = chunk.keys.winners(newest=newest)
        for at, begin, mask in zip(chunk.part_ids, chunk.begins, masks, strict=True):
            found[at][begin : begin + len(mask)] = mask
    return found


def winning_rows(columns: PartKeys, *, newest: bool) -> Bools:
    """Which rows are the last (or first) of their key.

    Args:
        columns: the key columns of n rows, which need not be sorted by key.
        newest: whether the last row with a key wins; else the first.

    Raises:
        UnsupportedFeatureError: a column of a type without an order.
    """
    normalized = _single_integers(_key_columns([columns]))
    if normalized is None:
        groups = group_rows(columns, count=len(columns[0]))
        ends = groups.starts + groups.sizes - 1
        rows = groups.order[ends if newest else groups.starts]
    elif (numbered := _dense(normalized)) is not None:
        (keys,) = numbered.parts
        row_of = np.full(numbered.count, -1)
        row_numbers = np.arange(len(keys))
        if newest:
            row_of[keys] = row_numbers
        else:
            row_of[keys[::-1]] = row_numbers[::-1]
        rows = row_of[row_of >= 0]
    else:
        return _Sorted.of(normalized).winners(newest=newest)[0]
    wins = np.zeros(len(columns[0]), np.bool_)
    wins[rows] = True
    return wins


def number_keys(parts: Sequence[PartKeys]) -> KeyNumbers:
    """Numbers the keys of parts.

    Args:
        parts: as for `winners`.

    Raises:
        FormatError: a part is not sorted.
        UnsupportedFeatureError: a column of a type without an order.
    """
    found = [np.empty(len(part[0]), np.int64) for part in parts]
    count = 0
    for chunk in _chunks(parts):
        key_numbers = chunk.keys if isinstance(chunk.keys, KeyNumbers) else chunk.keys.numbered()
        for at, begin, numbers in zip(chunk.part_ids, chunk.begins, key_numbers.parts, strict=True):
            np.add(numbers, count, out=found[at][begin : begin + len(numbers)])
        count += key_numbers.count
    return KeyNumbers(found, count)


def _chunks(parts: Sequence[PartKeys]) -> Iterator[_Chunk]:
    columns = _key_columns(parts)
    if (normalized := _single_integers(columns)) is not None:
        yield from _integer_chunks(normalized)
        return
    texts = _joined(columns)
    if texts is not None:
        for text in split_at_pivots(texts):
            yield _Chunk(text.part_ids, text.begins, _text_keys(text))
        return
    yield _Chunk(range(len(parts)), [0] * len(parts), _ranked(parts))


# ---------------------------------------------------------------- single normalized keys


def _key_columns(parts: Sequence[PartKeys]) -> list[_Integers | _Texts]:
    """As few columns as possible that sort like the key; none if a column allows no other form.

    Texts with few distinct values become integers, and neighbouring integers one integer.
    """
    if any(column.null_count for part in parts for column in part):
        return []
    found: list[_Integers | _Texts] = []
    for columns in zip(*parts, strict=True):
        if not _is_text(columns[0]):
            keys = _integer_keys(columns)
        elif len(parts[0]) > 1 and _repeats(columns):
            keys = _coded(columns)
        else:
            found.append(_Texts(columns))
            continue
        if keys is None:
            return []
        before = found[-1] if found else None
        both = _combined(before.parts, keys) if isinstance(before, _Integers) else None
        if both is not None:
            found.pop()
        found.append(_Integers(keys if both is None else both))
    return found


def _single_integers(columns: Sequence[_Integers | _Texts]) -> Sequence[Keys] | None:
    (column,) = columns if len(columns) == 1 else (None,)
    return column.parts if isinstance(column, _Integers) else None


def _integer_keys(columns: Sequence[Column]) -> list[Keys] | None:
    kind = columns[0].type
    if pat.is_integer(kind) or (pat.is_temporal(kind)):
        return [ints_of(column) for column in columns]
    if _is_text(columns[0]) or pat.is_nested(kind):
        return None
    sources = [list(normalized_keys(column)) for column in columns]
    if any(len(found) != 1 for found in sources):
        return None
    return [found[0](None) for found in sources]


def _repeats(columns: Sequence[Column]) -> bool:
    """Whether few distinct texts are among the first rows of the largest part."""
    sample = max(columns, key=len)[:_SAMPLE_ROWS]
    return len(_encoded(sample).dictionary) * _REPEATED <= len(sample)


def _coded(columns: Sequence[Column]) -> list[Keys]:
    """The rank of each text among the distinct ones."""
    whole = _encoded(concat_arrays(columns))
    order = ints_of(pc.call_function("sort_indices", [whole.dictionary]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return list(_split(rank[ints_of(whole.indices)], [len(column) for column in columns]))


def _encoded(texts: Column) -> "pa.DictionaryArray[Any, Any]":
    encoded: pa.DictionaryArray[Any, Any] = pc.call_function("dictionary_encode", [texts])
    return encoded


def _is_text(column: Column) -> bool:
    return pat.is_string(column.type) or pat.is_binary(column.type)


def _combined(high: Sequence[Keys], low: Sequence[Keys]) -> list[Keys] | None:
    """Combines two normalized keys into one in the same order; None if the ranges do not fit."""
    above, above_end = _range(high)
    below, below_end = _range(low)
    width = below_end - below + 1
    if (above_end - above + 1) * width > _MAX_RANGE:
        return None
    return [
        _from_zero(left, above) * width + _from_zero(right, below)
        for left, right in zip(high, low, strict=True)
    ]


def _range(normalized: Sequence[Keys]) -> tuple[int, int]:
    # A damaged file may not be sorted, so the first and last keys are not sufficient.
    return min(int(part.min()) for part in normalized), max(int(part.max()) for part in normalized)


def _from_zero(normalized: Keys, low: int) -> Ints:
    """Differences to the smallest key."""
    if normalized.dtype == np.uint64:
        return (normalized - np.uint64(low)).view(np.int64)
    return np.subtract(normalized, low, dtype=np.int64, casting="unsafe")


def _integer_chunks(normalized: Sequence[Keys]) -> Iterator[_Chunk]:
    """Chunks of integer keys: numbered directly in a narrow range, else sorted."""
    low, high = _ends(normalized)
    if high - low >= _max_range(normalized):
        pivots = max(normalized, key=len)[_CHUNK_ROWS::_CHUNK_ROWS]
        for part_ids, begins, some in _split_at(normalized, pivots):
            yield _Chunk(part_ids, begins, _Sorted.of(some))
        return
    pivots = np.arange(low + _CHUNK_FLAGS, high + 1, _CHUNK_FLAGS).astype(normalized[0].dtype)
    for part_ids, begins, some in _split_at(normalized, pivots):
        # A damaged part may not be sorted, so its keys may exceed the pivots.
        yield _Chunk(part_ids, begins, _dense(some) or _Sorted.of(some))


def _split_at(
    normalized: Sequence[Keys], pivots: Keys
) -> Iterator[tuple[list[int], list[int], list[Keys]]]:
    """Splits keys at pivots: the parts with keys in a chunk, their first rows, and the keys."""
    bounds = [[0, *np.searchsorted(part, pivots).tolist(), len(part)] for part in normalized]
    for at in range(len(pivots) + 1):
        part_ids = [part_id for part_id, bound in enumerate(bounds) if bound[at + 1] > bound[at]]
        if part_ids:
            some = [
                normalized[part_id][bounds[part_id][at] : bounds[part_id][at + 1]]
                for part_id in part_ids
            ]
            yield part_ids, [bounds[part_id][at] for part_id in part_ids], some


def _ends(normalized: Sequence[Keys]) -> tuple[int, int]:
    """The smallest and the greatest key, by the first and last rows of the parts."""
    return min(int(part[0]) for part in normalized), max(int(part[-1]) for part in normalized)


def _max_range(normalized: Sequence[Keys]) -> int:
    return max(_DENSE_PER_ROW * sum(len(part) for part in normalized), _DENSE)


def _dense(normalized: Sequence[Keys]) -> KeyNumbers | None:
    """Key numbers for integers in a narrow range; else None."""
    flags = _max_range(normalized)
    low, high = _ends(normalized)
    if high - low >= flags:
        return None
    low, high = _range(normalized)
    if high - low >= flags:
        return None
    return KeyNumbers([_from_zero(part, low) for part in normalized], high - low + 1)


# ---------------------------------------------------------------- texts, and all the others


def _joined(columns: Sequence[_Integers | _Texts]) -> Sequence[Column] | None:
    """Byte strings that sort like several columns, per part; None if there are none.

    Integers take eight bytes. Texts end with a zero byte, except the last column.
    """
    if len(columns) == 1 and isinstance(columns[0], _Texts):
        return columns[0].parts
    pieces: list[list[Column]] = []
    for column in columns:
        if isinstance(column, _Integers):
            pieces.append([_big_endian(keys) for keys in column.parts])
            continue
        pieces.append([texts.view(pa.binary()) for texts in column.parts])
        if column is not columns[-1]:
            if any((var_values(texts)[1] == 0).any() for texts in column.parts):
                return None
            pieces.append([_zeros(len(texts)) for texts in column.parts])
    parts = list(zip(*pieces, strict=True))
    if any(sum(len(used_bytes(piece)) for piece in part) > _MAX_BYTES for part in parts):
        return None
    return [_concatenated(part) for part in parts] or None


def _concatenated(pieces: Sequence[Column]) -> Column:
    """Concatenates the byte strings of each row."""
    count, values = len(pieces[0]), [var_values(piece) for piece in pieces]
    sizes = [np.diff(offsets[: count + 1]) for offsets, _ in values]
    widths = [int(size[0]) for size in sizes]
    if 0 in widths or any((size != width).any() for size, width in zip(sizes, widths, strict=True)):
        joined: Column = pc.call_function("binary_join_element_wise", [*pieces, _NOTHING])
        return joined
    kinds = [(f"f{at}", f"V{width}") for at, width in enumerate(widths)]
    rows = np.empty(count, kinds)
    for (name, kind), (offsets, data) in zip(kinds, values, strict=True):
        rows[name] = np.frombuffer(data, kind, count, int(offsets[0]))
    return build_binary(np.arange(count + 1) * rows.itemsize, rows.view(np.uint8))


def _big_endian(normalized: Keys) -> Column:
    """Integers as bytes that sort like them."""
    words = normalized.astype(np.int64, copy=False).view(np.uint64) ^ _SIGN
    return build_binary(np.arange(len(words) + 1) * words.itemsize, words.byteswap().view(np.uint8))


def _zeros(count: int) -> Column:
    return build_binary(np.arange(count + 1), np.zeros(count, np.uint8))


def _text_keys(chunk: TextChunk) -> KeyNumbers | _Sorted:
    normalized = chunk.normalized()
    if normalized.exact:
        return _dense(normalized.parts) or _Sorted.of(normalized.parts)
    keys = _Sorted.of(normalized.parts)
    column = partial(concat_arrays, chunk.columns)
    ties = normalized.differing_ties(column, keys.order, keys.fresh)
    return _resorted(keys, ties, column()) if len(ties) else keys


def _resorted(keys: _Sorted, ties: Ints, column: Column) -> _Sorted:
    """Sorts rows again by whole keys where equal normalized keys belong to different keys."""
    groups = np.cumsum(keys.fresh)
    hit = np.zeros(int(groups[-1]) + 1, np.bool_)
    hit[groups[ties]] = True
    again = hit[groups]
    order, fresh = sorted_within(keys.order, keys.fresh | ~again, list(normalized_keys(column)))
    return _Sorted(order, np.where(again, fresh, keys.fresh), keys.sizes)


def _ranked(parts: Sequence[PartKeys]) -> KeyNumbers:
    sizes = [len(part[0]) for part in parts]
    columns = [concat_arrays([part[at] for part in parts]) for at in range(len(parts[0]))]
    numbers = ranks(columns, count=sum(sizes))
    return KeyNumbers(_split(numbers, sizes), int(numbers.max()) + 1)
