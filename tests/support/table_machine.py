"""Whole tables of every kind, against dictionaries that remember every snapshot.

After each step every kept snapshot, tag, branch and changelog reads back exactly, and the integrity
checks find nothing.
"""

from collections import Counter
from collections.abc import Mapping

import hypothesis.strategies as st
from hypothesis import Phase, settings
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.chain_machine import ChainMachine
from support.depth import DEEP
from support.memory_files import UnchangedFiles, forget_files, forget_manifests
from support.table_kinds import MORE, PARTITIONS, Key, P, Row, Rows, V, W, key_of, value_of
from support.table_lines import ROWS, WHO, Cells
from support.table_model import Line, check_line
from support.table_reads import ReadActs

WHICH = st.integers(0, 5)


class TableMachine(ReadActs):
    """Everything that can be done to a table, in any order."""

    @initialize(cells=ROWS, more=ROWS, branches=st.booleans())
    def begin(self, cells: Cells, more: Cells, *, branches: bool) -> None:
        """Some history, so that there is something to lose."""
        self.insert(0, cells)
        self.tag(0, 0)
        self.insert(0, more)
        if branches:
            self.create_branch(0, 0)

    def replace(self, who: int, cells: Cells) -> None:
        """Leave none of the files of a branch, as far as its kind allows that."""
        if self.kind.crosses:
            self.truncate(who)
        else:
            self.overwrite_dynamically(who, cells)

    @rule(who=WHO, cells=ROWS, ends=st.booleans())
    def tag_and_expire(self, who: int, cells: Cells, *, ends: bool) -> None:
        """A tag that soon holds what nothing else does, and perhaps lets it go."""
        _, line = self.pick(who)
        self.tag(who, 0)
        self.replace(who, cells)
        self.compact(who, full=True)
        self.expire_snapshots(who, 1)
        self.everything_reads_back()
        if ends and line.tags:
            self.delete_tag(who, len(line.tags) - 1)

    @rule(cells=ROWS, more=ROWS, forward=st.booleans())
    def branch_and_expire(self, cells: Cells, more: Cells, *, forward: bool) -> None:
        """A branch that goes its own way and forgets where it came from."""
        self.create_branch(0, 0)
        names = sorted({"main", *self.lines})
        if len(names) > 1:
            branch = 2 + names.index(next(name for name in names if name != "main"))
            self.insert(branch, cells)
            self.replace(branch, more)
            self.expire_snapshots(branch, 1)
            self.insert(0, cells)
            self.everything_reads_back()
            self.end_branch(0, forward=forward)
            self.remove_orphans()

    @rule(which=WHO, cells=ROWS)
    def branches_of_one_tag(self, which: int, cells: Cells) -> None:
        """Copies of one snapshot, made before and after main has forgotten its changes."""
        self.create_branch(0, which)
        self.insert(0, cells)
        self.expire_snapshots(0, 1)
        self.expire_changelogs(0, 1)
        self.create_branch(0, which)
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
        rows = list({self.kind.key(row): row for row in self.rows(line, cells)}.values())
        written = self.kind.written(line.latest.written, [], map(self.kind.key, rows))
        made = table.upsert([{**row, "_ROW_KIND": "-D"} for row in self.given(line, rows)])
        self.wrote(table, line, written, rows, made)
        self.count("delete by row kind")

    def updated(self, line: Line, which: int) -> str:
        """The column that an update changes: `v`, or one of the other columns."""
        names = ["v", *(name for name, number in line.columns if number > W)]
        return names[which % len(names)]

    def matchable(self, line: Line) -> Rows:
        """The rows that conditions are tested on: those before their compaction, too."""
        is_postponed = self.kind_name == "postponed buckets"
        return line.latest.visible if is_postponed else line.latest.written

    @precondition(lambda self: self.kind.deletes or self.kind.merge is None)
    @rule(who=WHO, least=st.integers(0, 9))
    def delete_where(self, who: int, least: int) -> None:
        table, line = self.pick(who)
        hit = [row for row in self.matchable(line) if _at_least(row.get(V), least)]
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
    @rule(who=WHO, least=st.integers(0, 9), new=st.integers(0, 9), which=WHICH)
    def update_where(self, who: int, least: int, new: int, which: int) -> None:
        table, line = self.pick(who)
        name = self.updated(line, which)
        number = dict(line.columns)[name]
        given: dict[str, object]
        if name == "v":
            given = {"v": f"v + {new}", "w": "'u'"}
            change: Row = {V: new, W: "u"}
        else:
            change = {number: value_of(name, new)}
            given = {name: self.value(name, change[number])}
        refused = name == "v" and self.refuses_updates(table)
        self.update_rows(table, line, (least, given, change), refused=refused)

    @precondition(lambda self: self.kind.merge is None or self.kind.crosses)
    @rule(who=WHO, least=st.integers(0, 9), partition=st.sampled_from(PARTITIONS))
    def move_rows(self, who: int, least: int, partition: str) -> None:
        """Rows get another partition."""
        table, line = self.pick(who)
        refused = "data-evolution.enabled" in self.kind.options
        change = (least, {"p": f"'{partition}'"}, {P: partition})
        self.update_rows(table, line, change, refused=refused)

    def update_rows(
        self,
        table: Table,
        line: Line,
        update: tuple[int, Mapping[str, object], Row],
        *,
        refused: bool,
    ) -> None:
        """Update the rows whose `v` is large enough; a change of `v` is added to it."""
        least, given, change = update
        hit = [row for row in self.matchable(line) if _at_least(row.get(V), least)]
        changed = [{**row, **change} for row in hit]
        if V in change:
            changed = [{**row, V: int(str(row[V])) + int(str(change[V])), W: "u"} for row in hit]
        if self.kind.merge is None:
            kept = [row for row in line.latest.written if not _at_least(row.get(V), least)]
            written: Rows = (*kept, *changed)
        else:
            written = self.kind.written(line.latest.written, changed)
        try:
            made = table.update(given, where=f"v >= {least}")
        except (InvalidInputError, UnsupportedFeatureError):
            assert refused
            self.count("update where, refused")
            return
        assert not refused
        if not hit:
            assert made is None
            return
        self.wrote(table, line, written, [*hit, *changed], made)
        self.count(f"update of {', '.join(given)}")

    @precondition(lambda self: self.kind.deletes or self.kind.merge is None)
    @rule(who=WHO, cells=ROWS, clauses=st.tuples(st.booleans(), st.booleans()), which=WHICH)
    def merge_rows(self, who: int, cells: Cells, clauses: tuple[bool, bool], which: int) -> None:
        table, line = self.pick(who)
        deletes, by_source = clauses
        name = self.updated(line, which)
        number = dict(line.columns)[name]
        unique = {self.kind.key(row): row for row in self.rows(line, cells)}
        source = {key_of(row): row for row in unique.values()}
        hit = [row for row in self.matchable(line) if key_of(row) in source]
        known = {key_of(row) for row in hit}
        new = [row for key, row in source.items() if key not in known]
        gone = [row for row in hit if deletes and _at_least(source[key_of(row)].get(V), 5)]
        others = [row for row in self.matchable(line) if by_source and row not in hit]
        others = [row for row in others if row.get(V) is None]
        changed = [
            *({**row, number: source[key_of(row)].get(number)} for row in hit if row not in gone),
            *({**row, W: "s"} for row in others),
        ]
        if self.kind.merge is None:
            kept = [row for row in line.latest.written if row not in hit and row not in others]
            written: Rows = (*kept, *changed, *new)
        else:
            keys = map(self.kind.key, gone)
            written = self.kind.written(line.latest.written, [*changed, *new], keys)
        merge = table.merge(self.given(line, list(source.values())), on=["p", "k"])
        if deletes:
            merge = merge.when_matched_delete("source.v >= 5")
        merge = merge.when_matched_update({name: f"source.{name}"})
        if by_source:
            merge = merge.when_not_matched_by_source_update({"w": "'s'"}, "v IS NULL")
        try:
            made = merge.when_not_matched_insert().execute()
        except UnsupportedFeatureError:
            assert self.kind.merge is None
            return
        self.wrote(table, line, written, [*hit, *others, *new], made)
        self.count("merge" if name == "v" else f"merge of {MORE[name][0]}")

    @precondition(lambda self: not self.kind.crosses)
    @rule(who=WHO, cells=ROWS)
    def overwrite_dynamically(self, who: int, cells: Cells) -> None:
        table, line = self.pick(who)
        rows = self.rows(line, cells)
        touched = {row[P] for row in rows}
        states = self.replaces(line, lambda row: row[P] in touched, rows)
        self.committed(table, line, *states, table.overwrite(self.given(line, rows)))
        self.count("overwrite, dynamic")

    @precondition(lambda self: not self.kind.crosses)
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

    def name(self, which: int) -> str:
        """A column that is added and dropped."""
        return self.kind.extra[which % len(self.kind.extra)]

    @rule(who=WHO, which=WHICH)
    def add_or_drop_column(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        name = self.name(which)
        if name in dict(line.columns):
            table.drop_column(name)
            line.columns = tuple(column for column in line.columns if column[0] != name)
        else:
            table.add_column(name, MORE[name][0])
            line.highest += 1
            line.columns = (*line.columns, (name, line.highest))
        self.count("add or drop column")

    @rule(who=WHO, which=WHICH, to=WHICH)
    def rename_column(self, who: int, which: int, to: int) -> None:
        table, line = self.pick(who)
        names = dict(line.columns)
        name, new = self.name(which), self.name(to)
        is_possible = MORE[name] == MORE[new] and MORE[name][0] != "BLOB"
        if name in names and new not in names and is_possible:
            table.rename_column(name, new)
            line.columns = tuple((new if n == name else n, i) for n, i in line.columns)
            self.count("rename column")

    @rule(who=WHO, which=WHICH)
    def widen_column(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        name = self.name(which)
        if name in dict(line.columns) and MORE[name][0] == "INT":
            table.alter_column_type(name, "BIGINT")
            self.count("widen column")

    @invariant()
    def everything_reads_back(self) -> None:
        forget_manifests()
        with self.files.decoded_once():
            for name, line in self.lines.items():
                check_line(self.open(name), line, self.kind, self.files)

    @invariant()
    def the_checks_find_nothing(self) -> None:
        with self.files.decoded_once():
            assert self.table.maintenance.fsck() == []

    def teardown(self) -> None:
        self.files = UnchangedFiles()
        self.everything_reads_back()
        assert self.table.maintenance.fsck(read_rows=True) == []
        forget_files(self.space)


def _at_least(value: object, least: int) -> bool:
    return isinstance(value, int) and value >= least


def run_histories(machine: type[TableMachine | ChainMachine], count: int, steps: int) -> int:
    """Run histories of so many steps, the same each time but in a deep run; the steps made."""
    machine.steps = Counter()
    chosen = settings(
        max_examples=count,
        stateful_step_count=steps,
        phases=(Phase.generate,),
        derandomize=not DEEP,
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(machine, settings=chosen)
    return machine.steps.total()
