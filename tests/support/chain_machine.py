"""A state machine of chain tables: any acts on their two branches, and what a model says.

The model keeps the newest record of each key by partition: whole partitions have rows, changes also
have deletions.
"""

from collections import Counter
from typing import ClassVar
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.small_tables import new_catalog
from support.table_model import LATER

Partition = tuple[str, str]
"""Region and day."""
Records = dict[int, tuple[int, str]]
"""Sequence number and row kind by key; the value of a row is its sequence number."""
CHAIN_KINDS: dict[str, dict[str, str]] = {
    "chains": {},
    "changelog": {"changelog-producer": "input"},
    "deletion vectors": {"deletion-vectors.enabled": "true"},
    "many runs": {"num-sorted-run.compaction-trigger": "2"},
}
DAYS = ("20260101", "20260102", "20260103", "20260104")
PARTITION = st.tuples(st.sampled_from(["eu", "us"]), st.sampled_from(DAYS))
KEYS = st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True)
BRANCH = st.sampled_from(["snapshot", "delta"])


class ChainMachine(RuleBasedStateMachine):
    """A chain table and the records of its branches."""

    options: ClassVar[dict[str, str]] = {}
    steps: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        table = new_catalog(self.warehouse(str(uuid4()))).create_table(
            "db.t",
            {"region": "STRING", "dt": "STRING", "k": "INT", "n": "INT"},
            partition_by=["region", "dt"],
            primary_key=["region", "dt", "k"],
            options={
                "bucket": "2",
                "sequence.field": "n",
                "partition.timestamp-pattern": "$dt",
                "partition.timestamp-formatter": "yyyyMMdd",
                "chain-table.chain-partition-keys": "dt",
                "scan.fallback-snapshot-branch": "snapshot",
                "scan.fallback-delta-branch": "delta",
                **self.options,
            },
        )
        for branch in ("snapshot", "delta"):
            table.create_branch(branch)
        self.path, self.turn = table.path, 0
        for branch in ("main", "snapshot", "delta"):
            self.open(branch).set_options({"chain-table.enabled": "true"})
        self.records: dict[str, dict[Partition, Records]] = {"snapshot": {}, "delta": {}}

    def warehouse(self, space: str) -> str:
        """Where the table is."""
        return f"memory://{space}/wh"

    def open(self, branch: str) -> Table:
        return open_table(self.path, branch=branch)

    def rows(
        self, partition: Partition, keys: list[int], kind: str = "+I"
    ) -> list[dict[str, object]]:
        """New rows of a partition."""
        self.turn += 1
        return [{**_spec(partition), "k": k, "n": self.turn, "_ROW_KIND": kind} for k in keys]

    def merged(self, partition: Partition) -> Records:
        """The records of a partition in the chain table."""
        whole = self.records["snapshot"]
        return whole[partition] if partition in whole else self.changed(partition, {*whole})

    def changed(self, partition: Partition, bases: set[Partition]) -> Records:
        """The nearest earlier whole partition with the changes since."""
        region, day = partition
        base = max((one for one in bases if one[0] == region and one < partition), default=("", ""))
        layers = [self.records["snapshot"].get(base, {})]
        for one, records in self.records["delta"].items():
            if one[0] == region and base[1] < one[1] <= day:
                layers.append(records)
        found: Records = {}
        for layer in layers:
            for k, record in layer.items():
                found[k] = max(record, found.get(k, record))
        return {k: record for k, record in found.items() if record[1] == "+I"}

    def is_needed(self, partition: Partition, deltas: set[Partition]) -> bool:
        """Whether changes have no other whole partition than one that is dropped."""
        whole = self.records["snapshot"]
        chain = sorted(one for one in {*whole, *deltas} if one[0] == partition[0])
        first = next((one for one in chain if one in whole), None)
        after = chain[chain.index(partition) + 1 :] if first == partition else []
        return bool(after) and after[0] not in whole

    def count(self, name: str) -> None:
        self.steps[name] += 1

    @rule(branch=BRANCH, partition=PARTITION, keys=KEYS)
    def write(self, branch: str, partition: Partition, keys: list[int]) -> None:
        self.open(branch).upsert(self.rows(partition, keys))
        own = self.records[branch].setdefault(partition, {})
        own.update(dict.fromkeys(keys, (self.turn, "+I")))
        self.count("write")

    @rule(partition=PARTITION, keys=KEYS)
    def delete(self, partition: Partition, keys: list[int]) -> None:
        self.open("delta").upsert(self.rows(partition, keys, "-D"))
        own = self.records["delta"].setdefault(partition, {})
        own.update(dict.fromkeys(keys, (self.turn, "-D")))
        self.count("delete")

    @rule(branch=BRANCH, full=st.booleans())
    def compact(self, branch: str, *, full: bool) -> None:
        self.open(branch).compact(full=full)
        self.count("compact")

    @rule(partition=PARTITION, overwrite=st.booleans())
    def compact_chain(self, partition: Partition, *, overwrite: bool) -> None:
        whole, delta = self.records["snapshot"], self.records["delta"]
        upkeep = self.open("main").maintenance
        made = upkeep.compact_chain_table(_spec(partition), overwrite=overwrite)
        found = self.changed(partition, {*whole} - {partition})
        if partition not in delta or (partition in whole and not overwrite):
            assert made is None
        elif found or partition in whole:
            assert made is not None
            whole[partition] = found
            if not found:
                del whole[partition]
        self.count("compact a chain")

    @rule(partition=PARTITION, keys=KEYS)
    def overwrite_changes(self, partition: Partition, keys: list[int]) -> None:
        whole, delta = self.records["snapshot"], self.records["delta"]
        rows = self.rows(partition, keys)
        if partition in whole and self.is_needed(partition, {*delta, partition}):
            with pytest.raises(InvalidInputError, match="first whole partition of its chain"):
                self.open("delta").overwrite(rows, partition=_spec(partition))
            self.count("overwrite, refused")
            return
        self.open("delta").overwrite(rows, partition=_spec(partition))
        delta[partition] = dict.fromkeys(keys, (self.turn, "+I"))
        whole.pop(partition, None)
        self.count("overwrite")

    @rule(branch=BRANCH, partition=PARTITION)
    def drop_partition(self, branch: str, partition: Partition) -> None:
        whole, delta = self.records["snapshot"], self.records["delta"]
        deltas = {*delta} - ({partition} if branch == "delta" else set())
        if (
            partition in whole
            and partition in self.records[branch]
            and self.is_needed(partition, deltas)
        ):
            with pytest.raises(InvalidInputError, match="first whole partition of its chain"):
                self.open(branch).drop_partitions(_spec(partition))
            self.count("drop a partition, refused")
            return
        self.open(branch).drop_partitions(_spec(partition))
        if self.records[branch].pop(partition, None) is not None:
            whole.pop(partition, None)
        self.count("drop a partition")

    @rule(branch=BRANCH)
    def expire(self, branch: str) -> None:
        self.open(branch).maintenance.expire_snapshots(retain_max=1, older_than=LATER)
        self.count("expire")

    @rule(branch=BRANCH)
    def rescale(self, branch: str) -> None:
        with pytest.raises(UnsupportedFeatureError, match="chain table"):
            self.open(branch).maintenance.rescale(3)

    @invariant()
    def everything_reads_back(self) -> None:
        whole, delta = self.records["snapshot"], self.records["delta"]
        expected = Counter(
            (*partition, k, record[0])
            for partition in {*whole, *delta}
            for k, record in self.merged(partition).items()
        )
        main = self.open("main")
        assert _found(main) == expected
        assert main.count() == expected.total()
        for day in DAYS[:2]:
            own = Counter({row: n for row, n in expected.items() if row[1] == day})
            assert (
                Counter(
                    tuple(row.values())
                    for row in main.scan(where=f"dt = '{day}'").to_arrow().to_pylist()
                )
                == own
            )
        for branch, partitions in self.records.items():
            assert _found(self.open(branch)) == Counter(
                (*partition, k, n)
                for partition, records in partitions.items()
                for k, (n, kind) in records.items()
                if kind == "+I"
            ), branch

    def teardown(self) -> None:
        assert self.open("main").maintenance.fsck(read_rows=True) == []


def _spec(partition: Partition) -> dict[str, object]:
    return dict(zip(("region", "dt"), partition, strict=True))


def _found(table: Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in table.to_arrow().to_pylist())
