"""Acts of a state machine that leave the rows of a table as they are, or remove all of them."""

from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import precondition, rule

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError, InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from support.table_kinds import PARTITIONS, K, P, value_of
from support.table_lines import WHO, LinesMachine
from support.table_model import LATER, Line, after, shown

_MARKED_ROWS = {"data-evolution.enabled", "deletion-vectors.enabled"}
_MOST_ROWS = 20
"""Of a table whose rows are appended to it again."""


class UpkeepActs(LinesMachine):
    """Compactions, rescales, indexes, statistics, orphan files, purges."""

    @rule(who=WHO, full=st.booleans())
    def compact(self, who: int, *, full: bool) -> None:
        table, line = self.pick(who)
        self.compacted(table, line, table.compact(full=full), full=full)

    def compacted(
        self,
        table: Table,
        line: Line,
        made: Snapshot | None,
        *,
        full: bool = False,
        partition: str | None = None,
    ) -> None:
        """Expect the snapshots of a compaction, of all partitions or of one."""
        written = line.latest.written
        kept = [row for row in line.latest.visible if partition not in (None, row[P])]
        visible = (*kept, *(row for row in written if partition in (None, row[P])))
        if made is None:
            seen = shown(visible, line.columns) == shown(line.latest.visible, line.columns)
            assert not full or seen or not self.kind.waits
            return
        numbers = range(line.latest_id + 1, made.id + 1)
        assert 1 <= len(numbers) <= 2
        for number in numbers:
            line.states[number] = after(line, written, visible)
        for number in numbers:
            self.noted(table, line, number)
        what = "compact" if partition is None else "compact a partition"
        self.count(f"{what}, full" if full else what)

    @rule(who=WHO)
    def compact_manifests(self, who: int) -> None:
        table, line = self.pick(who)
        schema = table._store.schemas.latest()
        assert schema is not None
        made = Committer(table._store, schema).compact_manifests()
        if made is not None:
            self.same_rows(table, line, made)
        self.count("compact manifests")

    @rule(who=WHO)
    def analyze(self, who: int) -> None:
        table, line = self.pick(who)
        if line.states:
            made = table.maintenance.analyze()
            self.same_rows(table, line, made)
            self.count("analyze")

    @rule()
    def remove_orphans(self) -> None:
        young = self.table.maintenance.remove_orphan_files(dry_run=False)
        assert young.files == ()
        maintenance = self.table.maintenance
        told = maintenance.remove_orphan_files(older_than=LATER)
        gone = maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
        assert gone.files == told.files
        assert self.leaves_orphans or gone.files == ()
        assert maintenance.remove_orphan_files(older_than=LATER).files == ()
        self.leaves_orphans = False
        self.count("remove orphans")

    @precondition(lambda self: self.kind.merge is None)
    @rule(who=WHO)
    def sort(self, who: int) -> None:
        table, line = self.pick(who)
        try:
            made = table.compact(strategy="order", columns=["v"])
        except UnsupportedFeatureError:
            assert self.kind.options.keys() & {"bucket", "row-tracking.enabled"}
            return
        if made is not None:
            self.same_rows(table, line, made)
            self.count("sort")

    @precondition(lambda self: "bucket" in self.kind.options)
    @rule(who=WHO, buckets=st.integers(1, 3), partition=st.sampled_from([None, *PARTITIONS]))
    def rescale(self, who: int, buckets: int, partition: str | None) -> None:
        table, line = self.pick(who)
        count = None if self.kind.options["bucket"] == "-1" else buckets
        if self.kind.crosses and partition is not None:
            with pytest.raises(InvalidInputError, match="cannot be rescaled alone"):
                table.maintenance.rescale(partitions=[{"p": partition}])
            return
        self.rescaled(table, line, count, partition)
        self.rebucket(table, line)

    def rebucket(self, table: Table, line: Line) -> None:
        """Rescale a table whose files have other buckets than its schema asks for.

        Rows that an earlier state did not show may be in other buckets than the next ones, whose
        compaction would not show them; a full one does.
        """
        if int(self.kind.options.get("bucket", "0")) > 0:
            self.rescaled(table, line, None)
            if self.kind.waits and line.states:
                self.compacted(table, line, table.compact(full=True), full=True)

    def rescaled(
        self, table: Table, line: Line, buckets: int | None, partition: str | None = None
    ) -> None:
        """Expect the same rows in other buckets."""
        if not line.states:
            return
        chosen = None if partition is None else [{"p": partition}]
        report = table.maintenance.rescale(buckets, partitions=chosen)
        if report.snapshot_id is not None:
            assert report.snapshot_id == line.latest_id + 1
            touched = {one.partition["p"] for one in report.partitions}
            assert partition is None or touched == {partition}
            written, seen = line.latest.written, line.latest.visible
            if self.kind_name != "postponed buckets":
                seen = (
                    *(row for row in seen if row[P] not in touched),
                    *(row for row in written if row[P] in touched),
                )
            line.states[report.snapshot_id] = after(line, written, seen)
            self.noted(table, line, report.snapshot_id)
            self.count("rescale" if partition is None else "rescale a partition")

    @precondition(lambda self: "data-evolution.enabled" not in self.kind.options)
    @rule(who=WHO, column=st.sampled_from(["v", "w"]))
    def index_files(self, who: int, column: str) -> None:
        table, line = self.pick(who)
        table.set_options({"file-index.bloom-filter.columns": column})
        report = self.open(table._store.paths.branch).maintenance.rewrite_file_index()
        if report.snapshot_id is not None:
            self.same_rows(table, line, table._store.snapshots.latest())
            self.count("rewrite file index")

    @precondition(lambda self: "data-evolution.enabled" in self.kind.options)
    @rule(who=WHO, kind=st.sampled_from(["btree", "bitmap"]), drops=st.booleans())
    def index_rows(self, who: int, kind: str, *, drops: bool) -> None:
        table, line = self.pick(who)
        act = (
            table.maintenance.drop_global_index if drops else table.maintenance.create_global_index
        )
        if act("v", kind).snapshot_id is not None:
            self.same_rows(table, line, table._store.snapshots.latest())
            self.count("drop global index" if drops else "create global index")

    def refuses_updates(self, table: Table) -> bool:
        """Whether column `v` has a global index and cannot be updated for that."""
        drops = "global-index.column-update-action" in self.kind.options
        return self.kind.merge is None and not drops and has_global_index(table)

    @precondition(lambda self: "data-evolution.enabled" in self.kind.options)
    @rule(who=WHO)
    def reassign_row_ids(self, who: int) -> None:
        table, line = self.pick(who)
        if table.maintenance.reassign_row_ids().snapshot_id is not None:
            self.same_rows(table, line, table._store.snapshots.latest())
            self.count("reassign row ids")

    @precondition(lambda self: self.kind.options.keys() >= _MARKED_ROWS)
    @rule(who=WHO)
    def materialize_deletion_vectors(self, who: int) -> None:
        table, line = self.pick(who)
        if table.maintenance.materialize_deletion_vectors().snapshot_id is not None:
            self.same_rows(table, line, table._store.snapshots.latest())
            self.count("materialize deletion vectors")

    @precondition(lambda self: self.kind.merge is None and self.kind.more)
    @rule(who=WHO)
    def append_own_rows(self, who: int) -> None:
        """Rows of the table, read and written with descriptors of their BLOBs."""
        table, line = self.pick(who)
        described = self.open(table._store.paths.branch, {"blob-as-descriptor": "true"})
        rows = line.latest.visible
        if 0 < len(rows) <= _MOST_ROWS:
            made = described.append(described.to_arrow())
            self.wrote(table, line, (*line.latest.written, *rows), rows, made)
            self.count("append by descriptors")

    @precondition(lambda self: "data-evolution.enabled" in self.kind.options)
    @rule(who=WHO, name=st.sampled_from("wbcef"), least=st.integers(0, 4), first=st.booleans())
    def update_beside_a_compaction(self, who: int, name: str, least: int, *, first: bool) -> None:
        """A compaction and an update that were planned on the same snapshot."""
        table, line = self.pick(who)
        numbers = dict(line.columns)
        hit = [row for row in line.latest.visible if int(str(row[K])) >= least]
        if name not in numbers or not hit:
            return
        value = "u" if name == "w" else value_of(name, least)
        change = {name: "'u'" if name == "w" else self.value(name, value)}
        changed = [{**row, numbers[name]: value} for row in hit]
        kept = [row for row in line.latest.written if int(str(row[K])) < least]
        schema = table._store.schemas.latest()
        assert schema is not None
        messages = compact_table(table._store, schema, TableOptions(schema.options))
        transaction = table.transaction()
        transaction.update(change, where=f"k >= {least}")
        acts: list[Callable[[], object]] = [
            lambda: self.wrote(table, line, (*kept, *changed), hit, transaction.commit()),
            lambda: self.compacted(
                table, line, next(iter(Committer(table._store, schema).commit(messages)), None)
            ),
        ]
        acts[first]()
        try:
            acts[not first]()
        except CommitConflictError:
            self.leaves_orphans = True
            self.count("update beside a compaction, refused")
        self.count("update beside a compaction")

    @rule()
    def purge(self) -> None:
        line = self.lines["main"]
        report = self.table.maintenance.purge_files(dry_run=False)
        assert set(report.branches) == self.lines.keys() - {"main"}
        assert set(report.tags) <= line.tags.keys()
        new = Line(columns=line.columns, highest=line.highest)
        if line.states:
            hint = self.table._store.snapshots.latest_hint() or line.latest_id + 1
            new.states = {number: state for number, state in line.states.items() if number >= hint}
            new.states[line.latest_id + 1] = after(line, (), ())
        assert report.snapshots == len(line.states) - len(new.states) + bool(line.states)
        self.lines = {"main": new}
        self.count("purge")


def has_global_index(table: Table) -> bool:
    """Whether the newest snapshot has a global index."""
    snapshot = table.snapshot
    if snapshot is None:
        return False
    entries = table._store.manifests.index_of(snapshot)
    return any(entry["global_index"] is not None for entry in entries.rows())
