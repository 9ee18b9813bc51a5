"""Sets of keys that a condition allows, as ranges."""

from bisect import bisect_right

from paimon_explore.encoding.global_index.index_keys import Key
from paimon_explore.frozen_dataclass import cached_property, dataclass


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The keys from `low` on and below `high`; None for no bound."""

    low: Key | None = None
    high: Key | None = None

    def contains(self, key: Key) -> bool:
        """Return whether a key is in the range."""
        return self.overlaps(key, key)

    def overlaps(self, first: Key, last: Key) -> bool:
        """Return whether keys from `first` to `last` may be in the range."""
        return (self.low is None or is_ordered(self.low, last)) and (
            self.high is None or not is_ordered(self.high, first)
        )

    @property
    def is_empty(self) -> bool:
        """Whether no key is in the range."""
        return self.low is not None and self.high is not None and is_ordered(self.high, self.low)


EVERY_KEY = KeyRange()


@dataclass(frozen=True, kw_only=True)
class KeySet:
    """The keys in some ranges.

    Attributes:
        ranges: disjoint and ascending.
    """

    ranges: tuple[KeyRange, ...]

    @classmethod
    def of(cls, *ranges: KeyRange) -> "KeySet":
        """Sort ranges and join those that overlap."""
        unbounded = [part for part in ranges if part.low is None]
        bounded = [part for part in ranges if part.low is not None and not part.is_empty]
        bounded.sort(key=lambda part: part.low)  # type: ignore[arg-type,return-value]  # keys of one type
        found: list[KeyRange] = []
        for part in (*unbounded, *bounded):
            if found and _overlap(found[-1], part):
                found[-1] = KeyRange(found[-1].low, _greatest(found[-1].high, part.high))
            else:
                found.append(part)
        return cls(ranges=tuple(found))

    @property
    def is_every(self) -> bool:
        """Whether all keys are in the set."""
        return self.ranges == (EVERY_KEY,)

    @cached_property
    def _lows(self) -> list[Key]:
        return [part.low for part in self.ranges if part.low is not None]

    def contains(self, key: Key) -> bool:
        """Return whether a key is in the set."""
        unbounded = len(self.ranges) - len(self._lows)
        at = bisect_right(self._lows, key) + unbounded
        return at > 0 and self.ranges[at - 1].contains(key)

    def overlaps(self, first: Key, last: Key) -> bool:
        """Return whether keys from `first` to `last` may be in the set."""
        return any(part.overlaps(first, last) for part in self.ranges)

    def intersection(self, other: "KeySet") -> "KeySet":
        """Return the keys in both sets."""
        if other.is_every or not self.ranges:
            return self
        return KeySet.of(
            *(
                KeyRange(_greatest_low(a.low, b.low), _least(a.high, b.high))
                for a in self.ranges
                for b in other.ranges
            )
        )


NO_KEY = KeySet(ranges=())
EVERY_KEYS = KeySet(ranges=(EVERY_KEY,))


def is_ordered(first: Key, second: Key) -> bool:
    """Return whether the first of two keys of one type is not above the second."""
    return first <= second  # type: ignore[operator]  # keys of one type


def _overlap(before: KeyRange, part: KeyRange) -> bool:
    return before.high is None or part.low is None or is_ordered(part.low, before.high)


def _greatest(first: Key | None, second: Key | None) -> Key | None:
    """Return the greater upper bound; None is above all."""
    if first is None or second is None:
        return None
    return second if is_ordered(first, second) else first


def _greatest_low(first: Key | None, second: Key | None) -> Key | None:
    """Return the greater lower bound; None is below all."""
    if first is None or second is None:
        return second if first is None else first
    return second if is_ordered(first, second) else first


def _least(first: Key | None, second: Key | None) -> Key | None:
    """Return the lesser upper bound; None is above all."""
    if first is None or second is None:
        return second if first is None else first
    return first if is_ordered(first, second) else second
