"""Kinds of tables, and what writing to each means, told by plain dictionaries."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pyarrow as pa

from paimon_explore import Catalog, Table

_FIELDS: list[tuple[str, pa.DataType]] = [
    ("p", pa.string()),
    ("k", pa.int32()),
    ("v", pa.int32()),
    ("w", pa.string()),
]
SCHEMA = pa.schema(_FIELDS)
MORE: Mapping[str, tuple[str, pa.DataType]] = MappingProxyType(
    {
        "b": ("BLOB", pa.binary()),
        "c": ("BLOB", pa.large_binary()),
        "d": ("BLOB", pa.binary()),
        "e": ("VECTOR<FLOAT, 2>", pa.list_(pa.float32())),
        "f": ("VECTOR<FLOAT, 2>", pa.list_(pa.float32(), 2)),
        "g": ("VECTOR<FLOAT, 2>", pa.list_(pa.float32(), 2)),
        "x": ("INT", pa.int32()),
        "y": ("INT", pa.int32()),
    }
)
"""Other columns that tables may have, and their types: of the table, and when it is created."""
CONTENTS = b"".join(b"%02d" % number for number in range(100))
"""The file that descriptors of column `d` refer to."""
PARTITIONS = ("2024-01-01", "2024-01-02", "2999-01-01")
EXPIRED = frozenset(PARTITIONS[:2])
"""Those that an expiry of partitions takes."""

P, K, V, W = range(4)
WAREHOUSE = "{warehouse}"
"""In the value of an option: the place of the table's warehouse."""
Row = Mapping[int, object]
"""Values by field id."""
Key = tuple[object, object]
Rows = tuple[Row, ...]
Merge = Callable[[Row | None, Row], Row]


def replaced(_: Row | None, new: Row) -> Row:
    """The newest row of a key."""
    return new


def first(old: Row | None, new: Row) -> Row:
    """The oldest row of a key."""
    return new if old is None else old


def filled(old: Row | None, new: Row) -> Row:
    """The newest value of each column that is not null."""
    known = {name: value for name, value in new.items() if value is not None}
    return {**(old or {}), **known}


def summed(old: Row | None, new: Row) -> Row:
    """As `filled`, but the values of `v` are added up."""
    merged = dict(filled(old, new))
    numbers = [row[V] for row in (old or {}, new) if row.get(V) is not None]
    merged[V] = sum(int(str(number)) for number in numbers) if numbers else None
    return merged


@dataclass(frozen=True, slots=True, kw_only=True)
class TableKind:
    """A kind of table.

    Attributes:
        options: of the table.
        merge: what a row does to that of the same key; None for tables without a key.
        deletes: whether rows can be deleted.
        waits: whether batch readers see new rows only after a compaction.
        has_changelog: whether commits or compactions write one.
        crosses: whether the key does not hold the partition.
        more: its other columns.
        extra: columns that are added and dropped.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    merge: Merge | None = None
    deletes: bool = False
    waits: bool = False
    has_changelog: bool = False
    crosses: bool = False
    more: tuple[str, ...] = ()
    extra: tuple[str, ...] = ("x", "y")

    @property
    def columns(self) -> tuple[tuple[str, int], ...]:
        """Name and field id of each column of a new table."""
        names = [*SCHEMA.names, *self.more]
        return tuple(zip(names, range(len(names)), strict=True))

    def create(self, warehouse: str, storage: Mapping[str, str] | None = None) -> Table:
        """An empty table `db.t` of this kind."""
        catalog = Catalog(warehouse, dict(storage or {}))
        catalog.create_database("db")
        return catalog.create_table(
            "db.t",
            pa.schema([*_FIELDS, *((name, MORE[name][1]) for name in self.more)]),
            partition_by=["p"],
            primary_key=[] if self.merge is None else ["k"] if self.crosses else ["p", "k"],
            options={
                "manifest.merge-min-count": "4",
                **{key: value.replace(WAREHOUSE, warehouse) for key, value in self.options.items()},
            },
        )

    def written(self, before: Rows, added: Iterable[Row], gone: Iterable[Key] = ()) -> Rows:
        """All rows after some are added, then some keys deleted."""
        if self.merge is None:
            return (*before, *added)
        found: dict[Key, Row] = {self.key(row): row for row in before}
        for row in added:
            found[self.key(row)] = self.merge(found.get(self.key(row)), row)
        for key in gone:
            found.pop(key, None)
        return tuple(found.values())

    def key(self, row: Row) -> Key:
        """The key of a row."""
        return (None, row[K]) if self.crosses else key_of(row)


def value_of(name: str, number: int | None) -> object:
    """A value of one of the other columns."""
    kind = MORE[name][0]
    if number is None or kind == "INT":
        return number
    return b"%02d" % number if kind == "BLOB" else (float(number), 0.5)


def key_of(row: Row) -> Key:
    """Partition and key."""
    return row[P], row[K]


_LOGS = {
    "changelog.num-retained.min": "1",
    "changelog.num-retained.max": "1000",
    "changelog.time-retained": "9999 d",
}
"""Changelogs outlive their snapshots."""


_VECTORS = {"deletion-vectors.enabled": "true"}


_EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


def _keyed(options: Mapping[str, str] | None = None, *, waits: bool = False) -> TableKind:
    given = dict(options or {})
    logs = "changelog-producer" in given
    return TableKind(
        options={"bucket": "1", **given, **(_LOGS if logs else {})},
        merge=replaced,
        deletes=True,
        waits=waits,
        has_changelog=logs,
    )


TABLE_KINDS: Mapping[str, TableKind] = MappingProxyType(
    {
        "append": TableKind(),
        "append, bucketed": TableKind(options={"bucket": "2", "bucket-key": "k"}),
        "append, vectors": TableKind(options=_VECTORS),
        "append, row ids": TableKind(options={"row-tracking.enabled": "true"}),
        "append, evolving": TableKind(options=_EVOLVING),
        "keyed": _keyed({"bucket": "2"}),
        "keyed, long-lived changes": _keyed(_LOGS),
        "vectors": _keyed(_VECTORS, waits=True),
        "indexed": _keyed(
            {**_VECTORS, "pk-btree.index.columns": "v", "pk-bitmap.index.columns": "w"},
            waits=True,
        ),
        "dynamic buckets": _keyed({"bucket": "-1", "dynamic-bucket.target-row-num": "2"}),
        "postponed buckets": _keyed({"bucket": "-2"}, waits=True),
        "partial update": TableKind(
            options={"bucket": "1", "merge-engine": "partial-update"}, merge=filled
        ),
        "aggregation": TableKind(
            options={
                "bucket": "1",
                "merge-engine": "aggregation",
                "fields.v.aggregate-function": "sum",
            },
            merge=summed,
        ),
        "first row": TableKind(
            options={
                "bucket": "1",
                "merge-engine": "first-row",
                "changelog-producer": "lookup",
                **_LOGS,
            },
            merge=first,
            waits=True,
            has_changelog=True,
        ),
        "input": _keyed({"changelog-producer": "input"}),
        "lookup": _keyed({"changelog-producer": "lookup"}),
        "full-compaction": _keyed({"changelog-producer": "full-compaction"}),
        "lookup, vectors": _keyed({"changelog-producer": "lookup", **_VECTORS}, waits=True),
    }
)
"""The kinds by name."""

MACHINE_KINDS: Mapping[str, TableKind] = MappingProxyType(
    {
        **TABLE_KINDS,
        "crossing": replace(
            _keyed({"bucket": "-1", "dynamic-bucket.target-row-num": "2"}), crosses=True
        ),
        "keyed, ORC": _keyed({"file.format": "orc", "changelog-producer": "lookup"}),
        "keyed, Avro": _keyed({"file.format": "avro", "changelog-producer": "input"}),
        "keyed, Iceberg": _keyed({"metadata.iceberg.storage": "table-location"}),
        "append, Iceberg": TableKind(options={"metadata.iceberg.storage": "table-location"}),
        "append, wide vectors": TableKind(
            options={
                **_VECTORS,
                "bucket": "2",
                "bucket-key": "k",
                "deletion-vectors.bitmap64": "true",
                "deletion-vector.index-file.target-size": "1 b",
            }
        ),
        "append, row ids and vectors": TableKind(
            options={"row-tracking.enabled": "true", **_VECTORS}
        ),
        "append, elsewhere": TableKind(
            options={
                "data-file.external-paths": f"{WAREHOUSE}-elsewhere",
                "data-file.external-paths.strategy": "round-robin",
            }
        ),
        "evolving, descriptors": TableKind(
            options={
                **_EVOLVING,
                **_VECTORS,
                "blob-descriptor-field": "d",
                "vector-field": "e",
                "field.e.vector-dim": "2",
                "vector.file.format": "parquet",
                "blob.target-file-size": "1 b",
                "source.split.open-file-cost": "1 b",
                "target-file-size": "4 kb",
            },
            more=("d", "e"),
            extra=("c", "x"),
        ),
        "evolving, blobs": TableKind(
            options={
                **_EVOLVING,
                **_VECTORS,
                "blob-field": "b",
                "index-file-in-data-file-dir": "true",
                "global-index.column-update-action": "drop-partition-index",
            },
            more=("b",),
            extra=("c", "f", "g"),
        ),
        "keyed, blobs": replace(_keyed({"blob-field": "b"}), more=("b",), extra=("c", "f", "g")),
    }
)
"""Those of the state machine: also other formats and places of files, and BLOBs."""
