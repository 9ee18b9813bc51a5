"""`Listing`: the snapshots, schemas, tags, branches or consumers of a table."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

from paimon_explore.fileio.concurrent_requests import each_at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized

Key = TypeVar("Key", int, str)
Value = TypeVar("Value")

_SHOWN = 4


_SINGULARS = {
    "snapshots": "snapshot",
    "schemas": "schema",
    "tags": "tag",
    "branches": "branch",
    "consumers": "consumer",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Listing(Generic[Key, Value]):
    """The snapshots, schemas, tags, branches or consumers of a table, in order of their keys.

    Iteration gives the values: `for s in t.snapshots`. Keys look one up: `t.snapshots[3]`. `in`
    takes both: `3 in t.snapshots`, `s in t.snapshots`. Every access reads the storage again.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.trips")
    >>> [s.id for s in t.snapshots], 2 in t.snapshots, t.snapshot in t.snapshots
    ([1, 2], True, True)
    >>> t.tags["before"].snapshot.id
    1

    Attributes:
        kind: the plural noun for the values, one of `_SINGULARS`.
        item_type: the class of the values.
        keys: lists the keys.
        load: loads the value of a key; raises `NotFoundError`.
        line: one value as a line of text.
        file_io: the storage; a remote one is asked for several values at the same time.
    """

    kind: str
    item_type: type[Value]
    keys: Callable[[], list[Key]]
    load: Callable[[Key], Value]
    line: Callable[[Key, Value], str]
    file_io: FileIO

    def __iter__(self) -> Iterator[Value]:
        """The values by ascending key."""
        return self._values(self.keys())

    def _values(self, keys: Sequence[Key]) -> Iterator[Value]:
        return each_at_once(self.file_io, [partial(self.load, key) for key in keys])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.keys())

    def __getitem__(self, key: Key) -> Value:
        """Return the value of a key.

        Raises:
            NotFoundError: there is no such key.
        """
        return self.load(key)

    def __contains__(self, item: object) -> bool:
        """Whether a key or a value is in the collection."""
        if item in self.keys():
            return True
        return isinstance(item, self.item_type) and any(item == value for value in self)

    def latest(self) -> Value | None:
        """Return the value of the greatest key; None if there is none.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").snapshots.latest().id
        5
        """
        keys = self.keys()
        return self.load(keys[-1]) if keys else None

    def __repr__(self) -> str:
        """One line each, the newest ones where there are many."""
        keys = self.keys()
        newest: list[Key] = keys[-_SHOWN:]
        noun = _SINGULARS[self.kind] if len(keys) == 1 else self.kind
        head = f"{len(keys)} {noun}" + (f", the last {_SHOWN}:" if newest != keys else "")
        found: list[Value] = [*self._values(newest)]
        lines: list[str] = [*map(self.line, newest, found)]
        return "\n".join([head, *(f"  {sanitized(line)}" for line in lines)])
