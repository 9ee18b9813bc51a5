"""Whole tables of every kind, against dictionaries that remember every snapshot.

After each step every kept snapshot, tag, branch and changelog reads back exactly, and the integrity
checks find nothing. The deep run is that of `HYPOTHESIS_PROFILE=deep`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from paimon_explore import Table, open_table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from support.depth import DEEP
from support.figures import Figures
from support.memory_files import forget_files, forget_manifests
from support.table_kinds import EXPIRED, PARTITIONS, TABLE_KINDS, K, Key, P, Row, Rows, V, W, key_of
from support.table_model import Line, after, changes_of, check_line

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it

CELLS = st.tuples(
    st.sampled_from(PARTITIONS),
    st.integers(0, 4),
    st.none() | st.integers(0, 9),
    st.none() | st.sampled_from(["", "a", "bb"]),
    st.none() | st.integers(0, 99),
)
ROWS = st.lists(CELLS, min_size=1, max_size=5)
WHO = st.integers(0, 5)
EXTRA = st.sampled_from(["x", "y"])
_MOST_LINES = 4
"""Main and its branches."""
Cells = list[tuple[str, int, int | None, str | None, int | None]]


class TableMachine(RuleBasedStateMachine):
    """Everything that can be done to a table, in any order."""

    kind_name = "keyed"
    steps: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.kind = TABLE_KINDS[self.kind_name]
        self.space = str(uuid4())
        self.table = self.kind.create(f"memory://{self.space}/wh")
        self.lines = {"main": Line()}
        self.made = 0
        self.leaves_orphans = False

    def teardown(self) -> None:
        forget_files(self.space)

    def pick(self, who: int) -> tuple[Table, Line]:
        """A branch, mostly main."""
        names = ["main", "main", *sorted(self.lines)]
        name = names[who % len(names)]
        return self.open(name), self.lines[name]

    def open(self, name: str, options: Mapping[str, str] | None = None) -> Table:
        return open_table(self.table.path, branch=name, options=options)

    def rows(self, line: Line, cells: Cells) -> list[Row]:
        extra = [number for _, number in line.columns if number > W]
        return [{P: p, K: k, V: v, W: w, **dict.fromkeys(extra, x)} for p, k, v, w, x in cells]

    def given(self, line: Line, rows: list[Row]) -> list[dict[str, object]]:
        return [{name: row.get(number) for name, number in line.columns} for row in rows]

    def committed(
        self, table: Table, line: Line, written: Rows, visible: Rows, made: Snapshot | None
    ) -> None:
        """Expect one more snapshot."""
        assert made is not None
        assert made.id == line.latest_id + 1
        line.states[made.id] = after(line, written, visible)
        self.noted(table, line, made.id)

    def noted(self, table: Table, line: Line, number: int) -> None:
        """Remember the changes of a commit as they read now."""
        told = changes_of(table, number, self.kind)
        line.states[number] = replace(line.states[number], told=told)

    def wrote(
        self, table: Table, line: Line, written: Rows, rows: Iterable[Row], made: Snapshot | None
    ) -> None:
        """Expect what was written, and perhaps a compaction of what it touched behind it."""
        assert made is not None
        before = line.latest.visible
        touched = {row[P] for row in rows}
        compacted = (
            *(row for row in before if row[P] not in touched),
            *(row for row in written if row[P] in touched),
        )
        numbers = [line.latest_id + 1, *range(line.latest_id + 2, made.id + 1)]
        assert numbers[-1] == made.id <= numbers[0] + 1
        for number in numbers:
            kind = table.store.snapshots.load(number).commit_kind
            assert (kind is CommitKind.COMPACT) == (number > numbers[0])
            seen = compacted if number > numbers[0] or not self.kind.waits else before
            line.states[number] = after(line, written, seen)
        for number in numbers:
            self.noted(table, line, number)

    def count(self, name: str) -> None:
        self.steps[name] += 1

    @initialize(cells=ROWS, more=ROWS, branches=st.booleans())
    def begin(self, cells: Cells, more: Cells, *, branches: bool) -> None:
        """Some history, so that there is something to lose."""
        self.insert(0, cells)
        self.tag(0, 0)
        self.insert(0, more)
        if branches:
            self.create_branch(0)

    @rule(who=WHO, cells=ROWS, ends=st.booleans())
    def tag_and_expire(self, who: int, cells: Cells, *, ends: bool) -> None:
        """A tag that soon holds what nothing else does, and perhaps lets it go."""
        _, line = self.pick(who)
        self.tag(who, 0)
        self.overwrite_dynamically(who, cells)
        self.compact(who, full=True)
        self.expire_snapshots(who, 1)
        self.everything_reads_back()
        if ends and line.tags:
            self.delete_tag(who, len(line.tags) - 1)

    @rule(cells=ROWS, more=ROWS, forward=st.booleans())
    def branch_and_expire(self, cells: Cells, more: Cells, *, forward: bool) -> None:
        """A branch that goes its own way and forgets where it came from."""
        self.create_branch(0)
        names = sorted({"main", *self.lines})
        if len(names) > 1:
            branch = 2 + names.index(next(name for name in names if name != "main"))
            self.insert(branch, cells)
            self.overwrite_dynamically(branch, more)
            self.expire_snapshots(branch, 1)
            self.insert(0, cells)
            self.everything_reads_back()
            self.end_branch(0, forward=forward)
            self.remove_orphans()

    @rule(which=WHO, cells=ROWS)
    def branches_of_one_tag(self, which: int, cells: Cells) -> None:
        """Copies of one snapshot, made before and after main has forgotten its changes."""
        self.create_branch(which)
        self.insert(0, cells)
        self.expire_snapshots(0, 1)
        self.expire_changelogs(0, 1)
        self.create_branch(which)
        self.everything_reads_back()
        self.remove_orphans()

    @rule(who=WHO, cells=ROWS)
    def insert(self, who: int, cells: Cells) -> None:
        table, line = self.pick(who)
        rows = self.rows(line, cells)
        written = self.kind.written(line.latest.written, rows)
        write = table.append if self.kind.merge is None else table.upsert
        made = write(self.given(line, rows))
        self.wrote(table, line, written, rows, made)
        self.count("insert")

    @precondition(lambda self: self.kind.deletes)
    @rule(who=WHO, cells=ROWS)
    def delete_by_kind(self, who: int, cells: Cells) -> None:
        table, line = self.pick(who)
        rows = list({key_of(row): row for row in self.rows(line, cells)}.values())
        written = self.kind.written(line.latest.written, [], [key_of(row) for row in rows])
        made = table.upsert([{**row, "_ROW_KIND": "-D"} for row in self.given(line, rows)])
        self.wrote(table, line, written, rows, made)
        self.count("delete by row kind")

    @precondition(lambda self: self.kind.deletes or self.kind.merge is None)
    @rule(who=WHO, least=st.integers(0, 9))
    def delete_where(self, who: int, least: int) -> None:
        table, line = self.pick(who)
        hit = [row for row in line.latest.visible if _at_least(row.get(V), least)]
        keys: set[Key] = {key_of(row) for row in hit}
        before = line.latest.written
        if self.kind.merge is None:
            written = tuple(row for row in before if not _at_least(row.get(V), least))
        else:
            written = tuple(row for row in before if key_of(row) not in keys)
        try:
            made = table.delete(f"v >= {least}")
        except UnsupportedFeatureError:
            assert self.kind.merge is None
            return
        if not hit:
            assert made is None
            return
        self.wrote(table, line, written, hit, made)
        self.count("delete where")

    @precondition(lambda self: self.kind.deletes or self.kind.merge is None)
    @rule(who=WHO, least=st.integers(0, 9), new=st.integers(0, 9))
    def update_where(self, who: int, least: int, new: int) -> None:
        table, line = self.pick(who)
        hit = [row for row in line.latest.visible if _at_least(row.get(V), least)]
        changed = [{**row, V: new, W: "u"} for row in hit]
        if self.kind.merge is None:
            kept = [row for row in line.latest.written if not _at_least(row.get(V), least)]
            written: Rows = (*kept, *changed)
        else:
            written = self.kind.written(line.latest.written, changed)
        made = table.update({"v": new, "w": "'u'"}, where=f"v >= {least}")
        if not hit:
            assert made is None
            return
        self.wrote(table, line, written, hit, made)
        self.count("update where")

    @precondition(lambda self: self.kind.deletes or self.kind.merge is None)
    @rule(who=WHO, cells=ROWS, deletes=st.booleans())
    def merge_rows(self, who: int, cells: Cells, *, deletes: bool) -> None:
        table, line = self.pick(who)
        source = {key_of(row): row for row in self.rows(line, cells)}
        hit = [row for row in line.latest.visible if key_of(row) in source]
        known = {key_of(row) for row in hit}
        new = [row for key, row in source.items() if key not in known]
        changed = [] if deletes else [{**row, V: source[key_of(row)].get(V)} for row in hit]
        if self.kind.merge is None:
            kept = [row for row in line.latest.written if key_of(row) not in source]
            written: Rows = (*kept, *changed, *new)
        else:
            gone = known if deletes else set()
            written = self.kind.written(line.latest.written, [*changed, *new], gone)
        merge = table.merge(self.given(line, list(source.values())), on=["p", "k"])
        if deletes:
            merge = merge.when_matched_delete()
        else:
            merge = merge.when_matched_update({"v": "source.v"})
        try:
            made = merge.when_not_matched_insert().execute()
        except UnsupportedFeatureError:
            assert self.kind.merge is None
            return
        self.wrote(table, line, written, [*hit, *new], made)
        self.count("merge")

    def replaces(
        self, line: Line, gone: Callable[[Row], bool], rows: list[Row]
    ) -> tuple[Rows, Rows]:
        """Written and visible rows after some are replaced."""
        kept = tuple(row for row in line.latest.written if not gone(row))
        seen = tuple(row for row in line.latest.visible if not gone(row))
        new = self.kind.written((), rows)
        is_late = self.kind.waits and self.kind_name == "postponed buckets"
        return (*kept, *new), (seen if is_late else (*seen, *new))

    @rule(who=WHO, cells=ROWS)
    def overwrite_dynamically(self, who: int, cells: Cells) -> None:
        table, line = self.pick(who)
        rows = self.rows(line, cells)
        touched = {row[P] for row in rows}
        states = self.replaces(line, lambda row: row[P] in touched, rows)
        self.committed(table, line, *states, table.overwrite(self.given(line, rows)))
        self.count("overwrite, dynamic")

    @rule(who=WHO, cells=ROWS, partition=st.sampled_from(PARTITIONS))
    def overwrite_a_partition(self, who: int, cells: Cells, partition: str) -> None:
        table, line = self.pick(who)
        rows = self.rows(line, [(partition, *cell[1:]) for cell in cells])
        states = self.replaces(line, lambda row: row[P] == partition, rows)
        made = table.overwrite(self.given(line, rows), partition={"p": partition})
        self.committed(table, line, *states, made)
        self.count("overwrite, static")

    @rule(cells=ROWS)
    def overwrite_everything(self, cells: Cells) -> None:
        line = self.lines["main"]
        table = self.open("main", {"dynamic-partition-overwrite": "false"})
        rows = self.rows(line, cells)
        states = self.replaces(line, lambda _: True, rows)
        self.committed(table, line, *states, table.overwrite(self.given(line, rows)))
        self.count("overwrite, whole")

    @rule(who=WHO)
    def truncate(self, who: int) -> None:
        table, line = self.pick(who)
        self.committed(table, line, (), (), table.truncate())
        self.count("truncate")

    @rule(who=WHO, partition=st.sampled_from(PARTITIONS))
    def drop_partition(self, who: int, partition: str) -> None:
        table, line = self.pick(who)
        made = table.drop_partitions({"p": partition})
        states = self.replaces(line, lambda row: row[P] == partition, [])
        self.committed(table, line, *states, made)
        self.count("drop partition")

    @rule(who=WHO)
    def expire_partitions(self, who: int) -> None:
        table, line = self.pick(who)
        held = {row[P] for row in line.latest.written}
        gone = table.maintenance.expire_partitions(timedelta(days=30))
        assert {spec["p"] for spec in gone} >= held & EXPIRED
        if gone:
            states = self.replaces(line, lambda row: row[P] in EXPIRED, [])
            self.committed(table, line, *states, table.snapshot)
        self.count("expire partitions")

    @rule(who=WHO, full=st.booleans())
    def compact(self, who: int, *, full: bool) -> None:
        table, line = self.pick(who)
        made = table.compact(full=full)
        written = line.latest.written
        if made is None:
            assert not full or line.latest.visible == written or not self.kind.waits
            return
        numbers = range(line.latest_id + 1, made.id + 1)
        assert 1 <= len(numbers) <= 2
        for number in numbers:
            line.states[number] = after(line, written, written)
        for number in numbers:
            self.noted(table, line, number)
        self.count("compact, full" if full else "compact")

    @rule(who=WHO)
    def compact_manifests(self, who: int) -> None:
        table, line = self.pick(who)
        schema = table.store.schemas.latest()
        assert schema is not None
        made = Committer(table.store, schema).compact_manifests()
        if made is not None:
            self.committed(table, line, line.latest.written, line.latest.visible, made)
        self.count("compact manifests")

    @rule(who=WHO)
    def analyze(self, who: int) -> None:
        table, line = self.pick(who)
        if line.states:
            made = table.maintenance.analyze()
            self.committed(table, line, line.latest.written, line.latest.visible, made)
            self.count("analyze")

    @rule(who=WHO, back=st.integers(0, 3))
    def tag(self, who: int, back: int) -> None:
        table, line = self.pick(who)
        if line.states:
            self.made += 1
            name, number = f"t{self.made}", sorted(line.states)[-1 - back % len(line.states)]
            table.create_tag(name, snapshot=number)
            line.tags[name] = (number, line.states[number])
            self.count("tag")

    @rule(who=WHO, which=WHO)
    def delete_tag(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        if line.tags:
            name = sorted(line.tags)[which % len(line.tags)]
            table.maintenance.delete_tag(name)
            del line.tags[name]
            self.count("delete tag")

    @rule(who=WHO, which=WHO, back=st.integers(0, 3))
    def move_tag(self, who: int, which: int, back: int) -> None:
        table, line = self.pick(who)
        if line.tags and line.states:
            name = sorted(line.tags)[which % len(line.tags)]
            number = sorted(line.states)[-1 - back % len(line.states)]
            table.maintenance.replace_tag(name, snapshot=number)
            line.tags[name] = (number, line.states[number])
            self.count("replace tag")

    @rule(which=WHO)
    def create_branch(self, which: int) -> None:
        line = self.lines["main"]
        if line.tags and len(self.lines) < _MOST_LINES:
            self.made += 1
            name, tag = f"b{self.made}", sorted(line.tags)[which % len(line.tags)]
            self.table.maintenance.create_branch(name, tag)
            self.lines[name] = line.forked(tag)
            self.count("create branch")

    @rule(which=WHO)
    def rename_branch(self, which: int) -> None:
        names = sorted(set(self.lines) - {"main"})
        if names:
            self.made += 1
            name, new = names[which % len(names)], f"a{self.made}"
            self.table.maintenance.rename_branch(name, new)
            self.lines[new] = self.lines.pop(name)
            self.count("rename branch")

    @rule(which=WHO, forward=st.booleans())
    def end_branch(self, which: int, *, forward: bool) -> None:
        names = sorted(set(self.lines) - {"main"})
        if not names:
            return
        name = names[which % len(names)]
        self.leaves_orphans = True
        if forward:
            self.table.maintenance.fast_forward(name)
            left = self.table.store.snapshots.ids()
            self.lines["main"].forward(self.lines[name], left)
            self.count("fast-forward")
        else:
            self.table.maintenance.delete_branch(name)
            del self.lines[name]
            self.count("delete branch")

    @rule(who=WHO, back=st.integers(0, 3))
    def roll_back(self, who: int, back: int) -> None:
        table, line = self.pick(who)
        if line.states:
            number = sorted(line.states)[-1 - back % len(line.states)]
            table.maintenance.rollback_to(snapshot=number)
            line.cut(number)
            self.leaves_orphans = True
            self.count("roll back")

    @rule(who=WHO, which=WHO)
    def roll_back_to_tag(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        if line.tags:
            name = sorted(line.tags)[which % len(line.tags)]
            number, state = line.tags[name]
            table.maintenance.rollback_to(tag=name)
            if number not in line.states:  # its changelog is back where it has outlived it
                line.states[number] = line.logs.get(number, replace(state, told=Counter()))
            line.cut(number)
            self.leaves_orphans = True
            self.count("roll back to tag")

    @rule(who=WHO, kept=st.integers(1, 4))
    def expire_snapshots(self, who: int, kept: int) -> None:
        table, line = self.pick(who)
        outlive = any(name.startswith("changelog.") for name in self.kind.options)
        report = table.maintenance.expire_snapshots(
            retain_min=kept, retain_max=kept, older_than=LATER
        )
        assert list(report.expired) == line.expire(kept, outlive=outlive)
        self.count("expire snapshots")

    @rule(who=WHO, kept=st.integers(1, 6))
    def expire_changelogs(self, who: int, kept: int) -> None:
        table, line = self.pick(who)
        report = table.maintenance.expire_changelogs(
            retain_min=kept, retain_max=kept, older_than=LATER
        )
        assert list(report.expired) == line.expire_logs(kept)
        self.count("expire changelogs")

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

    @rule(who=WHO, next_snapshot=st.integers(1, 9))
    def consume(self, who: int, next_snapshot: int) -> None:
        table, line = self.pick(who)
        if "c" in line.consumers:
            table.store.consumers.delete("c")
            del line.consumers["c"]
        else:
            table.store.consumers.save("c", Consumer(next_snapshot=next_snapshot))
            line.consumers["c"] = next_snapshot
        self.count("consumer")

    @rule(who=WHO, name=EXTRA)
    def add_or_drop_column(self, who: int, name: str) -> None:
        table, line = self.pick(who)
        if name in dict(line.columns):
            table.maintenance.drop_column(name)
            line.columns = tuple(column for column in line.columns if column[0] != name)
        else:
            table.maintenance.add_column(name, "INT")
            line.highest += 1
            line.columns = (*line.columns, (name, line.highest))
        self.count("add or drop column")

    @rule(who=WHO, name=EXTRA, new=EXTRA)
    def rename_column(self, who: int, name: str, new: str) -> None:
        table, line = self.pick(who)
        names = dict(line.columns)
        if name in names and new not in names:
            table.maintenance.rename_column(name, new)
            line.columns = tuple((new if n == name else n, i) for n, i in line.columns)
            self.count("rename column")

    @rule(who=WHO, name=EXTRA)
    def widen_column(self, who: int, name: str) -> None:
        table, line = self.pick(who)
        if name in dict(line.columns):
            table.maintenance.alter_column_type(name, "BIGINT")
            self.count("widen column")

    @invariant()
    def everything_reads_back(self) -> None:
        forget_manifests()
        for name, line in self.lines.items():
            check_line(self.open(name), line, self.kind)

    @invariant()
    def the_checks_find_nothing(self) -> None:
        assert self.table.fsck() == []


def _at_least(value: object, least: int) -> bool:
    return isinstance(value, int) and value >= least


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_everything_reads_back_after_any_steps(name: str, figures: Figures) -> None:
    steps: Counter[str] = Counter()
    machine = type("Machine", (TableMachine,), {"kind_name": name, "steps": steps})
    examples, length = (24, 25) if DEEP else (2, 18)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=length,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(machine, settings=chosen)
    figures.add("steps of whole tables", steps.total())
