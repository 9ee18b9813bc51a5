"""Random commits of several users against a model that remembers every snapshot."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import NEW_PARTITIONS, WHOLE_TABLE, Overwrite
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.entry_cancellation import live_entries, merge_entries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.new_tables import file_rows, latest, live_files, new_table

Rows = Counter[tuple[str, int]]
QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)
PARTITIONS = st.sampled_from(["x", "y", "z"])
ROWS = st.lists(st.tuples(PARTITIONS, st.integers(0, 5)), min_size=1, max_size=6)
USERS = st.integers(0, 1)


def as_bytes(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def rows_of(store: TableStore, snapshot: Snapshot) -> Rows:
    found: Rows = Counter()
    for row in live_files(store, snapshot).rows():
        partition = as_bytes(row["partition"])[12:13].decode()
        table = file_rows(store, f"p={partition}/bucket-0", row)
        for stored in table.to_pylist():
            found[stored["p"], stored["a"]] += 1
    return found


class Commits(RuleBasedStateMachine):
    """Appends, overwrites and compactions of a table with partitions."""

    store: TableStore
    schema: TableSchema

    @initialize(min_count=st.integers(2, 4), full_bytes=st.sampled_from(["1 b", "16 mb"]))
    def create(self, min_count: int, full_bytes: str) -> None:
        self.store, self.schema = new_table(
            {"p": "STRING", "a": "INT"},
            partition_keys=["p"],
            options={
                "manifest.merge-min-count": str(min_count),
                "manifest.full-compaction-threshold-size": full_bytes,
            },
        )
        self.users = [Committer(self.store, self.schema, timing=QUIET) for _ in range(2)]
        self.model: list[Rows] = [Counter()]
        self.kinds: list[CommitKind] = []

    def write(self, rows: list[tuple[str, int]]) -> list[CommitMessage]:
        return write_append(self.store, self.schema, [{"p": p, "a": a} for p, a in rows])

    def expect(self, rows: Rows, kind: CommitKind) -> None:
        self.model.append(rows)
        self.kinds.append(kind)

    @rule(user=USERS, rows=ROWS)
    def append(self, user: int, rows: list[tuple[str, int]]) -> None:
        self.users[user].commit(self.write(rows))
        self.expect(self.model[-1] + Counter(rows), CommitKind.APPEND)

    @rule(user=USERS, rows=ROWS)
    def overwrite_all(self, user: int, rows: list[tuple[str, int]]) -> None:
        self.users[user].overwrite(self.write(rows), WHOLE_TABLE)
        self.expect(Counter(rows), CommitKind.OVERWRITE)

    @rule(user=USERS, rows=ROWS)
    def overwrite_partitions_of_rows(self, user: int, rows: list[tuple[str, int]]) -> None:
        self.users[user].overwrite(self.write(rows), NEW_PARTITIONS)
        replaced = {partition for partition, _ in rows}
        kept = Counter({k: n for k, n in self.model[-1].items() if k[0] not in replaced})
        self.expect(kept + Counter(rows), CommitKind.OVERWRITE)

    @rule(user=USERS, partition=PARTITIONS)
    def drop_partition(self, user: int, partition: str) -> None:
        self.users[user].overwrite([], Overwrite(specs=({"p": partition},)))
        kept = Counter({k: n for k, n in self.model[-1].items() if k[0] != partition})
        self.expect(kept, CommitKind.OVERWRITE)

    @rule(user=USERS, partition=PARTITIONS)
    def compact_partition(self, user: int, partition: str) -> None:
        rows = [key for key, n in self.model[-1].items() for _ in range(n) if key[0] == partition]
        if not rows:
            return
        (message,) = self.write(rows)
        live = live_files(self.store)
        own = [row["partition"] == message.partition for row in live.rows()]
        before = ManifestEntries.concat(
            [live.slice(i, 1) for i, is_own in enumerate(own) if is_own]
        )
        compaction = replace(
            message,
            new_files=ManifestEntries.empty(),
            compact_before=before,
            compact_after=message.new_files,
        )
        self.users[user].commit([compaction])
        self.expect(self.model[-1], CommitKind.COMPACT)

    @invariant()
    def every_snapshot_reads_back(self) -> None:
        snapshots = self.store.snapshots.list()
        assert [s.id for s in snapshots] == list(range(1, len(self.model)))
        assert [s.commit_kind for s in snapshots] == self.kinds
        for snapshot in snapshots[-2:]:
            assert rows_of(self.store, snapshot) == self.model[snapshot.id]

    @invariant()
    def counts_add_up(self) -> None:
        before = 0
        for snapshot in self.store.snapshots.list():
            assert snapshot.total_record_count == before + (snapshot.delta_record_count or 0)
            assert snapshot.total_record_count == self.model[snapshot.id].total()
            before = snapshot.total_record_count

    @invariant()
    def the_base_is_what_was_before(self) -> None:
        snapshots = self.store.snapshots.list()
        manifests = self.store.manifests
        for before, after in pairwise(snapshots[-3:]):
            old = live_entries(manifests.read_many(manifests.all(before).names))
            new = merge_entries(manifests.read_many(manifests.base(after).names))
            assert names_of(old) == names_of(new)
            assert len(new.of_kind(FileKind.DELETE)) == 0

    @invariant()
    def lists_tell_what_manifests_hold(self) -> None:
        if self.store.snapshots.latest() is None:
            return
        listed: ManifestFiles = self.store.manifests.all(latest(self.store))
        for row in listed.rows():
            data = self.store.file_io.read(self.store.paths.manifest(str(row["file_name"])))
            entries = self.store.manifests.read(str(row["file_name"]))
            assert row["file_size"] == len(data)
            assert row["num_added_files"] == len(entries.of_kind(FileKind.ADD))
            assert row["num_deleted_files"] == len(entries.of_kind(FileKind.DELETE))
            partitions = [as_bytes(found["partition"]) for found in entries.rows()]
            assert (row["partition_min"], row["partition_max"]) == (
                min(partitions),
                max(partitions),
            )


def names_of(entries: ManifestEntries) -> list[str]:
    return sorted(str(row["file_name"]) for row in entries.rows())


TestCommits = Commits.TestCase
TestCommits.settings = settings(max_examples=8, stateful_step_count=15)
