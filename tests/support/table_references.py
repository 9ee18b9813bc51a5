"""Acts of a state machine on tags, branches, snapshots and consumers."""

import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import hypothesis.strategies as st
from hypothesis.stateful import rule

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.table_kinds import EXPIRED, P
from support.table_lines import WHO
from support.table_model import LATER, Followed, replayed, shown
from support.table_upkeep import UpkeepActs

_MOST_LINES = 4
"""Main and its branches."""


class ReferenceActs(UpkeepActs):
    """Tags, branches, rollbacks, expiry, streams."""

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
            table.delete_tag(name)
            del line.tags[name]
            self.count("delete tag")

    @rule(who=WHO, which=WHO, back=st.integers(0, 3))
    def move_tag(self, who: int, which: int, back: int) -> None:
        table, line = self.pick(who)
        names = sorted(line.tags.keys() - self.fleeting)
        if names and line.states:
            name = names[which % len(names)]
            number = sorted(line.states)[-1 - back % len(line.states)]
            table.maintenance.replace_tag(name, snapshot=number)
            line.tags[name] = (number, line.states[number])
            self.count("replace tag")

    @rule(who=WHO, which=WHO)
    def create_branch(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        if line.tags and len(self.lines) < _MOST_LINES:
            self.made += 1
            name, tag = f"b{self.made}", sorted(line.tags)[which % len(line.tags)]
            table.create_branch(name, tag)
            self.lines[name] = line.forked(tag)
            self.rebucket(self.open(name), self.lines[name])
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
            main, first = self.lines["main"], min(self.lines[name].states, default=0)
            try:
                self.table.fast_forward(name)
            except InvalidInputError:
                kept = {number for number, _ in main.tags.values()} | {*main.logs, *main.states}
                assert any(number < first for number in kept)
                self.count("fast-forward, refused")
                return
            left = self.table._store.snapshots.ids()
            main.forward(self.lines[name], left)
            self.rewind_stream(self.table, main, first)
            if main.consumers.get("s", first) <= min(main.states, default=0):
                self.forget_stream(self.table, main)  # what it has not read, or before it, is gone
            self.count("fast-forward")
        else:
            self.table.delete_branch(name)
            del self.lines[name]
            self.count("delete branch")

    @rule(who=WHO, back=st.integers(0, 3), by=st.sampled_from(["", "timestamp", "watermark"]))
    def roll_back(self, who: int, back: int, by: str) -> None:
        table, line = self.pick(who)
        if line.states:
            number = sorted(line.states)[-1 - back % len(line.states)]
            if by == "watermark":
                points = {i: one.watermark for i, one in line.states.items()}
            else:
                points = {one.id: one.time_millis for one in table.snapshots}
            point = points[number]
            if by and point is not None:
                number = max(i for i, other in points.items() if other == point)
                given = f"table => '{table.name}', {by} => {point}"
                self.sql(f"CALL sys.rollback_to_{by}({given})")
            else:
                table.rollback_to(snapshot=number)
            line.cut(number)
            self.rewind_stream(table, line, number)
            self.leaves_orphans = True
            self.rebucket(self.open(table._store.paths.branch), line)
            self.count(f"roll back to {by or 'snapshot'}")

    @rule(who=WHO, which=WHO)
    def roll_back_to_tag(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        if line.tags:
            name = sorted(line.tags)[which % len(line.tags)]
            number, state = line.tags[name]
            table.rollback_to(tag=name)
            if number not in line.states:  # its changelog is back where it has outlived it
                line.states[number] = line.logs.get(number, replace(state, told=Counter()))
            line.cut(number)
            self.rewind_stream(table, line, number)
            self.leaves_orphans = True
            self.rebucket(self.open(table._store.paths.branch), line)
            self.count("roll back to tag")

    @rule(who=WHO, kept=st.integers(1, 4))
    def expire_snapshots(self, who: int, kept: int) -> None:
        table, line = self.pick(who)
        outlive = any(name.startswith("changelog.") for name in self.kind.options)
        hint = table._store.snapshots.latest_hint()
        report = table.maintenance.expire_snapshots(
            retain_min=kept, retain_max=kept, older_than=LATER
        )
        gone = list(report.expired)
        assert gone in [line.expiring(kept, hint, before=before) for before in (False, True)]
        line.expire(gone, outlive=outlive)
        self.count("expire snapshots")

    @rule(who=WHO, kept=st.integers(1, 6))
    def expire_changelogs(self, who: int, kept: int) -> None:
        table, line = self.pick(who)
        report = table.maintenance.expire_changelogs(
            retain_min=kept, retain_max=kept, older_than=LATER
        )
        assert list(report.expired) == line.expire_logs(kept)
        self.count("expire changelogs")

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

    @rule(who=WHO, next_snapshot=st.integers(1, 9))
    def consume(self, who: int, next_snapshot: int) -> None:
        table, line = self.pick(who)
        if "c" in line.consumers:
            table.maintenance.consumers.delete("c")
            del line.consumers["c"]
        else:
            table.maintenance.consumers.reset("c", next_snapshot)
            line.consumers["c"] = next_snapshot
        self.count("consumer")

    @rule(who=WHO)
    def tag_for_a_moment(self, who: int) -> None:
        table, line = self.pick(who)
        if line.states:
            self.made += 1
            name = f"f{self.made}"
            table.create_tag(name, retained=timedelta(milliseconds=1))
            time.sleep(0.002)  # until it has ended
            line.tags[name] = (line.latest_id, line.latest)
            self.fleeting.add(name)
            self.count("tag, for a moment")

    @rule(who=WHO)
    def expire_tags(self, who: int) -> None:
        table, line = self.pick(who)
        gone = table.maintenance.expire_tags()
        assert set(gone) == line.tags.keys() & self.fleeting
        for name in gone:
            del line.tags[name]
        self.count("expire tags")

    @rule(who=WHO, which=WHO)
    def rename_tag(self, who: int, which: int) -> None:
        table, line = self.pick(who)
        names = sorted(line.tags.keys() - self.fleeting)
        if names:
            self.made += 1
            name, new = names[which % len(names)], f"n{self.made}"
            table.maintenance.rename_tag(name, new)
            line.tags[new] = line.tags.pop(name)
            self.count("rename tag")

    @rule(which=WHO, back=st.booleans())
    def merge_branch(self, which: int, *, back: bool) -> None:
        names = sorted(self.lines.keys() - {"main"})
        if not names:
            return
        source, target = names[which % len(names)], "main"
        if back:
            source, target = target, source
        given, line = self.lines[source], self.lines[target]
        known = {id(row) for row in line.latest.written}
        new = [row for row in given.latest.written if id(row) not in known]
        try:
            made = self.table.maintenance.merge_branch(source, target)
        except (InvalidInputError, UnsupportedFeatureError):
            self.count("merge branch, refused")
            return
        assert self.kind.merge is None
        assert (made is None) == (not new)
        if made is not None:
            rows = (*line.latest.written, *new)
            self.committed(self.open(target), line, rows, rows, made)
            self.count("merge branch")

    @rule(who=WHO, back=st.integers(0, 3))
    def reset_stream(self, who: int, back: int) -> None:
        table, line = self.pick(who)
        if line.states and line.stream is not None:
            self.rewind_stream(table, line, sorted(line.states)[-1 - back % len(line.states)])
            self.count("reset a stream")

    @rule(who=WHO)
    def read_stream(self, who: int) -> None:
        """Read on where the stream of this branch was left; the changes give the table."""
        table, line = self.pick(who)
        if not line.states:
            return
        if line.stream is not None and line.stream.columns != line.columns:
            self.forget_stream(table, line)
        before = Counter() if line.stream is None else line.stream.rows
        stream = table.follow("full", consumer="s", until="now", timeout=0)
        rows = replayed((batch.rows for batch in stream), before, line.columns, self.kind)
        line.stream = Followed(rows=rows, columns=line.columns)
        assert line.stream.rows == shown(line.latest.visible, line.columns)
        line.consumers["s"] = line.latest_id + 1
        assert table._store.consumers.list()["s"].next_snapshot == line.consumers["s"]
        self.count("stream")
