"""Kinds of tables for acts that run at once: each with runs on several levels, vectors, a tag and a
branch of its own ways."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from types import MappingProxyType

import pyarrow as pa

from paimon_explore import Table, open_table
from support.small_tables import new_catalog

ONE, TWO, THREE = "2024-01-01", "2024-01-02", "2024-01-03"
KEYS, NEWER, SIDE = range(60), range(12), (1, 50)
"""Keys of the oldest run, of the newer one above it, and those that the branch has changed."""
_FIELDS: list[tuple[str, pa.DataType]] = [
    ("p", pa.string()),
    ("k", pa.int32()),
    ("v", pa.int32()),
    ("w", pa.binary()),
]
Rows = list[dict[str, object]]
Keys = Counter[tuple[str, int]]
"""How often each key is there, by partition and key."""

_WAITLESS = {"commit.min-retry-wait": "0 ms", "commit.max-retry-wait": "0 ms"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of table.

    Attributes:
        options: of the table.
        keyed: whether it has a primary key.
        crosses: whether the key does not hold the partition.
        engine: the merge engine.
    """

    options: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = True
    crosses: bool = False
    engine: str = "deduplicate"

    def create(self, warehouse: str) -> Table:
        """A table of this kind with its history."""
        key = (["k"] if self.crosses else ["p", "k"]) if self.keyed else []
        table = new_catalog(warehouse).create_table(
            "db.t",
            pa.schema(_FIELDS),
            partition_by=["p"],
            primary_key=key,
            options={"manifest.merge-min-count": "4", **_WAITLESS, **self.options},
        )
        table.append([row(ONE, k, k) for k in KEYS] + [row(TWO, 101, 1), row(TWO, 102, 2)])
        if self.keyed:
            table.compact()
        table.create_tag("one")
        table.create_branch("side", "one")
        side = open_table(table.path, branch="side")
        side.append([row(ONE, k, 1000 + k) for k in SIDE])
        table.append([row(ONE, k, 100 + k) for k in NEWER])
        if self.options.get("bucket") == "-2":
            table.compact()
        return table

    @property
    def refuses_sort(self) -> bool:
        """Whether its rows are in an order of their own."""
        given = self.options
        ordered = ("bucket", "clustering.incremental", "data-evolution.enabled")
        return any(name in given for name in ordered)

    @property
    def before(self) -> Keys:
        """The keys of the table."""
        return self.grown(self.tagged, Counter((ONE, k) for k in NEWER))

    @property
    def tagged(self) -> Keys:
        """The keys of the tag."""
        return Counter([*((ONE, k) for k in KEYS), (TWO, 101), (TWO, 102)])

    @property
    def branched(self) -> Keys:
        """The keys of the branch."""
        return self.grown(self.tagged, Counter((ONE, k) for k in SIDE))

    def grown(self, before: Keys, more: Keys) -> Keys:
        """The keys after rows are written."""
        if not self.keyed:
            return before + more
        if not self.crosses:
            return Counter(dict.fromkeys((*before, *more), 1))
        found = {k: p for p, k in before}
        for p, k in more:
            if self.engine == "deduplicate" or k not in found:
                found[k] = p
        return Counter({(p, k): 1 for k, p in found.items()})


def row(partition: str, key: int, value: int) -> dict[str, object]:
    """A row; its bytes make files so large that runs of fewer rows are smaller."""
    return {
        "p": partition,
        "k": key,
        "v": value,
        "w": sha256(f"{key} {value}".encode()).hexdigest().encode(),
    }


_EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
_VECTORS = {"deletion-vectors.enabled": "true"}
_FLAVOURS: Mapping[str, Mapping[str, str]] = {
    "plain": {},
    "vectors": _VECTORS,
    "lookup": {"changelog-producer": "lookup"},
    "full-compaction": {"changelog-producer": "full-compaction"},
    "first-row": {"merge-engine": "first-row"},
    "partial-update": {"merge-engine": "partial-update"},
    "aggregation": {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
    "lookup, vectors": {**_VECTORS, "changelog-producer": "lookup"},
    "clustered": {
        **_VECTORS,
        "pk-clustering-override": "true",
        "clustering.columns": "v",
    },
    "blobs": {"blob-field": "w"},
}
_BUCKETS: Mapping[str, Mapping[str, str]] = {
    "fixed": {"bucket": "1"},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "61"},
    "crossing": {"bucket": "-1", "dynamic-bucket.target-row-num": "61"},
    "postponed": {"bucket": "-2"},
}
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "append": Kind(keyed=False),
        "append, buckets": Kind(keyed=False, options={"bucket": "2", "bucket-key": "k"}),
        "append, vectors": Kind(keyed=False, options=_VECTORS),
        "append, row ids": Kind(keyed=False, options={"row-tracking.enabled": "true"}),
        "append, clustered": Kind(
            keyed=False, options={"clustering.incremental": "true", "clustering.columns": "v"}
        ),
        "append, evolving": Kind(
            keyed=False,
            options=_EVOLVING,
        ),
        "append, evolving blobs": Kind(keyed=False, options={**_EVOLVING, "blob-field": "w"}),
        **{
            f"{flavour}, {buckets}": Kind(
                options={**_FLAVOURS[flavour], **_BUCKETS[buckets]},
                crosses=buckets == "crossing",
                engine=_FLAVOURS[flavour].get("merge-engine", "deduplicate"),
            )
            for flavour, buckets in product(_FLAVOURS, _BUCKETS)
        },
    }
)
"""The kinds by name."""
