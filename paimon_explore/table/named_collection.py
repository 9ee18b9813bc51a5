"""What a table has several of: snapshots, schemas, tags, branches, consumers."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized

Key = TypeVar("Key", int, str)
Value = TypeVar("Value")

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Listing(Generic[Key, Value]):
    """Values of one kind in order of their keys, always as they are on storage now.

    Iterate over the values, look one up by its key, or print it.

    Attributes:
        kind: what it lists, in the plural.
        keys: lists the keys.
        load: loads the value of a key; raises `NotFoundError`.
        line: one value as a line of text.
    """

    kind: str
    keys: Callable[[], list[Key]]
    load: Callable[[Key], Value]
    line: Callable[[Key, Value], str]

    def __iter__(self) -> Iterator[Value]:
        """The values by ascending key."""
        return (self.load(key) for key in self.keys())

    def __len__(self) -> int:
        """How many there are."""
        return len(self.keys())

    def __getitem__(self, key: Key) -> Value:
        """The value of a key.

        Raises:
            NotFoundError: there is none.
        """
        return self.load(key)

    def __contains__(self, key: object) -> bool:
        """Whether there is a value of that key."""
        return key in self.keys()

    def latest(self) -> Value | None:
        """The value of the greatest key, if there is any."""
        keys = self.keys()
        return self.load(keys[-1]) if keys else None

    def __repr__(self) -> str:
        """One line each, the newest ones where there are many."""
        keys = self.keys()
        newest: list[Key] = keys[-_SHOWN:]
        head = f"{len(keys)} {self.kind}" + (f", the last {_SHOWN}:" if newest != keys else "")
        return "\n".join(
            [head, *(f"  {sanitized(self.line(key, self.load(key)))}" for key in newest)]
        )
