"""The collections of a table: snapshots, schemas, tags, branches and consumers.

`Listing`: the snapshots, schemas, tags, branches or consumers of a table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic, Never, TypeVar

from paimon_explore.arguments import integer, string
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.local_time import local_moment
from paimon_explore.errors import NotFoundError, choices
from paimon_explore.fileio.concurrent_requests import each_at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.sanitize import sanitized
from paimon_explore.store.table_store import TableStore

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

    if not TYPE_CHECKING:

        def __call__(self) -> Never:
            """Raise an error: other libraries have methods of these names."""
            raise TypeError(
                f"{self.kind!r} is a collection, not a method. Write .{self.kind} without "
                f"parentheses; .{self.kind}[key] looks up one of them."
            )

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


def snapshots(store: TableStore) -> Listing[int, Snapshot]:
    """The snapshots by id."""
    found = store.snapshots
    return _listing(store, "snapshots", Snapshot, found.ids, found.load, _snapshot)


def schemas(store: TableStore) -> Listing[int, TableSchema]:
    """The schemas by id."""
    found = store.schemas
    return _listing(store, "schemas", TableSchema, found.ids, found.load, _schema)


def tags(store: TableStore) -> Listing[str, Tag]:
    """The tags by name."""
    found = store.tags
    return _listing(store, "tags", Tag, found.names, found.load, _tag)


def branches(store: TableStore) -> Listing[str, str]:
    """The names of the branches other than main."""
    found = store.branches
    return _listing(store, "branches", str, found.names, partial(_branch, store), _name)


def _listing(
    store: TableStore,
    kind: str,
    item_type: type[Value],
    keys: Callable[[], list[Key]],
    load: Callable[[Key], Value],
    line: Callable[[Key, Value], str],
) -> Listing[Key, Value]:
    return Listing(
        kind=kind, item_type=item_type, keys=keys, load=load, line=line, file_io=store.file_io
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConsumerListing(Listing[str, Consumer]):
    """The consumers of a table: the positions of streams, stored with the table.

    >>> import paimon_explore as pe
    >>> upkeep = pe.demo().table("demo.parcels").maintenance
    >>> [(one.name, one.next_snapshot) for one in upkeep.consumers]
    [('labels', 4)]

    """

    _changeable: Callable[[], TableStore]

    def reset(self, consumer_id: str, next_snapshot: int) -> None:
        """Set the position of a consumer, which is created if it does not exist.

        A stream that is using the consumer fails at its next commit.

        Args:
            consumer_id: the name of the consumer.
            next_snapshot: the first snapshot that it has not read.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.events")
        >>> t.maintenance.consumers.reset("job", 2)
        >>> [batch.snapshot_id for batch in t.follow(consumer="job", until="now")]
        [2, 3]
        """
        number = integer("next_snapshot", next_snapshot, minimum=1)
        name = string("consumer_id", consumer_id)
        self._changeable().consumers.save(name, Consumer(next_snapshot=number))

    def delete(self, consumer_id: str) -> None:
        """Delete a consumer; its snapshots may expire.

        Raises:
            NotFoundError: there is no such consumer.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.events")
        >>> t.maintenance.consumers.reset("job", 2)
        >>> t.maintenance.consumers.delete("job")
        >>> len(t.maintenance.consumers)
        0
        """
        store = self._changeable()
        if string("consumer_id", consumer_id) not in store.consumers.ids():
            raise _unknown_consumer(store, consumer_id)
        store.consumers.delete(consumer_id)


def consumers(store: TableStore, changeable: Callable[[], TableStore]) -> ConsumerListing:
    """The consumers by id."""
    return ConsumerListing(
        _changeable=changeable,
        kind="consumers",
        item_type=Consumer,
        keys=store.consumers.ids,
        load=partial(_stored_consumer, store),
        line=_consumer,
        file_io=store.file_io,
    )


def _branch(store: TableStore, name: str) -> str:
    if name not in store.branches.names():
        hint = f"Branches: {choices(store.branches.names())}."
        raise NotFoundError("branch", name, store.paths.root, hint=hint)
    return name


def _name(name: str, _: str) -> str:
    return name


def _stored_consumer(store: TableStore, name: str) -> Consumer:
    found = store.consumers.find(name)
    if found is None:
        raise _unknown_consumer(store, name)
    return replace(found, name=name)


def _unknown_consumer(store: TableStore, name: str) -> NotFoundError:
    hint = f"Consumers: {choices(store.consumers.ids())}."
    return NotFoundError("consumer", name, store.paths.root, hint=hint)


def local_time(millis: int) -> str:
    """Epoch milliseconds as local time, to the second."""
    return local_moment(millis).strftime("%Y-%m-%d %H:%M:%S")


def _snapshot(_: int, snapshot: Snapshot) -> str:
    delta = snapshot.delta_record_count
    rows = "" if delta is None else f"  {delta:+,} rows, {snapshot.total_record_count or 0:,} total"
    head = f"{snapshot.id}  {snapshot.commit_kind.value:9}  {local_time(snapshot.time_millis)}"
    return f"{head}  schema {snapshot.schema_id}{rows}"


def _schema(_: int, schema: TableSchema) -> str:
    fields = ", ".join(f"{f.name} {type_text(f.type)}" for f in schema.fields)
    return f"{schema.id}  {fields}"


def _tag(name: str, tag: Tag) -> str:
    return f"{name}  snapshot {tag.snapshot.id}"


def _consumer(name: str, consumer: Consumer) -> str:
    return f"{name}  next snapshot {consumer.next_snapshot}"
