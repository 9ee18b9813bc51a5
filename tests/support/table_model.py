"""A table as plain dictionaries: what every snapshot, tag, branch and changelog must give."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import count

import pyarrow as pa

from paimon_explore import Table, col
from paimon_explore.errors import MissingFileError
from support.memory_files import UnchangedFiles
from support.table_kinds import K, P, Row, Rows, TableKind, V, W

Columns = tuple[tuple[str, int], ...]
"""Name and field id of each column."""
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
_LIMIT = 50
"""How many ids one expiry goes through: `snapshot.expire.limit` by default."""
_SERIALS = count()
Counted = Counter[tuple[tuple[str, object], ...]]

COLUMNS: Columns = (("p", P), ("k", K), ("v", V), ("w", W))


def as_items(row: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    """Names and values of a row, which can be counted."""
    return tuple(
        (name, tuple(value) if isinstance(value, list) else value) for name, value in row.items()
    )


def shown(rows: Iterable[Row], columns: Columns) -> Counted:
    """What a reader sees of rows, as a multiset."""
    return Counter(tuple((name, row.get(number)) for name, number in columns) for row in rows)


def found_in(rows: Iterable[Mapping[str, object]]) -> Counted:
    """Rows that were read, as a multiset."""
    return Counter(map(as_items, rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What one snapshot holds.

    Attributes:
        written: all rows.
        visible: those that batch readers see.
        columns: of its schema.
        highest: the highest field id of its schema.
        told: what its changes read when it was new.
        watermark: of the snapshot.
        serial: tells it from every other one; a copy in a branch has the same.
        parent: of the state it was made of.
    """

    written: Rows = ()
    visible: Rows = ()
    columns: Columns = COLUMNS
    highest: int = W
    told: Counted = field(default_factory=Counter)
    watermark: int | None = None
    serial: int = field(default_factory=_SERIALS.__next__)
    parent: int = -1

    @property
    def rows(self) -> Counted:
        """What reading it gives."""
        return shown(self.visible, self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What a stream has told so far.

    Attributes:
        rows: the rows that its changes lead to.
        columns: those of the rows.
    """

    rows: Counted
    columns: Columns


@dataclass(slots=True)
class Line:
    """One branch.

    Attributes:
        columns: of the newest schema.
        highest: the highest field id ever used.
        states: by snapshot id.
        tags: snapshot id and state by name.
        logs: of changelogs that outlived their snapshots.
        consumers: next snapshot by name.
        stream: what a stream has told so far; None before it starts.
    """

    columns: Columns = COLUMNS
    highest: int = W
    states: dict[int, State] = field(default_factory=dict)
    tags: dict[str, tuple[int, State]] = field(default_factory=dict)
    logs: dict[int, State] = field(default_factory=dict)
    consumers: dict[str, int] = field(default_factory=dict)
    stream: Followed | None = None

    @property
    def latest(self) -> State:
        """The newest snapshot, or an empty table."""
        return self.states[max(self.states)] if self.states else State()

    @property
    def latest_id(self) -> int:
        """The newest snapshot's id; 0 without any."""
        return max(self.states, default=0)

    def forked(self, tag: str) -> "Line":
        """A new branch from a tag, which has the changes of its snapshot if main has them, too."""
        number, state = self.tags[tag]
        known = [found for found in (self.states.get(number), self.logs.get(number)) if found]
        told = [found.told for found in known if found.serial == state.serial]
        state = replace(state, told=told[0] if told else Counter())
        return Line(
            columns=state.columns,
            highest=state.highest,
            states={number: state},
            tags={tag: self.tags[tag]},
        )

    def forward(self, branch: "Line", left: list[int]) -> None:
        """Become what a branch is, from its first snapshot on.

        Args:
            branch: the branch.
            left: ids that are left; older ones than the branch's go if they are not its past.
        """
        first = min(branch.states)
        self.cut(first - 1)
        if self.states and min(left) == first:
            before = self.states.get(first - 1)
            assert before is None or before.serial != branch.states[first].parent
            self.states.clear()
        self.states.update(branch.states)
        self.tags.update(branch.tags)
        self.columns, self.highest = branch.columns, branch.highest

    def cut(self, last: int) -> None:
        """Forget what is newer than a snapshot."""
        self.states = {i: s for i, s in self.states.items() if i <= last}
        self.logs = {i: s for i, s in self.logs.items() if i <= last}
        self.tags = {name: tag for name, tag in self.tags.items() if tag[0] <= last}

    def expiring(self, kept: int, hint: int | None, *, before: bool) -> list[int]:
        """The ids of the oldest snapshots; perhaps without that before a stream's next one.

        Those from the one that the hint LATEST names on stay: they may be rolled back just now.
        """
        most = min(self.states, default=0) + _LIMIT
        hinted = [number for number in self.states if number == hint]
        ends = (self.latest_id - kept + 1, most, *hinted)
        end = min([*ends, *(i - before for i in self.consumers.values())])
        return sorted(i for i in self.states if i < end)

    def expire(self, gone: list[int], *, outlive: bool) -> None:
        """Forget snapshots."""
        for number in gone:
            state = self.states.pop(number)
            if outlive:
                self.logs[number] = state

    def expire_logs(self, kept: int) -> list[int]:
        """Forget the oldest changelogs; their ids."""
        most = min(self.logs, default=0) + _LIMIT
        end = min([self.latest_id - kept + 1, most, *self.consumers.values()])
        gone = sorted(i for i in self.logs if i < end)
        for number in gone:
            del self.logs[number]
        return gone


def changes_of(table: Table, number: int, kind: TableKind) -> Counted:
    """The changes of one commit as a stream reads them."""
    mode = "changelog" if kind.has_changelog else "delta"
    rows = table.between(number - 1, number, mode=mode, row_kinds=True).to_arrow()
    return found_in(rows.to_pylist())


def replayed(
    changes: Iterable[pa.Table], before: Counted, columns: Columns, kind: TableKind
) -> Counted:
    """The rows that changes lead to."""
    rows = Counter(before)
    for row in (row for batch in changes for row in batch.to_pylist()):
        adds = row.pop("rowkind") in ("+I", "+U")
        told = as_items(row)
        if kind.merge is not None:
            key = kind.key({number: row.get(name) for name, number in columns})
            for old in [old for old in rows if kind.key(_by_id(old, columns)) == key]:
                del rows[old]
            rows.update([told] if adds else [])
        elif adds:
            rows[told] += 1
        else:
            assert rows[told] > 0, f"{told} was removed but never added"
            rows[told] -= 1
    return +rows


def _by_id(row: tuple[tuple[str, object], ...], columns: Columns) -> Row:
    numbers = dict(columns)
    return {numbers[name]: value for name, value in row}


def check_line(table: Table, line: Line, kind: TableKind, files: UnchangedFiles) -> None:
    """Every snapshot, tag and changelog of a branch is there and reads as it must.

    Args:
        table: the branch.
        line: its model.
        kind: of the table.
        files: knows which checks need not be repeated.
    """
    assert table._store.snapshots.ids() == sorted(line.states)
    assert table._store.tags.names() == sorted(line.tags)
    assert table._store.changelogs.ids() == sorted(line.logs)
    assert found_in(table.to_arrow().to_pylist()) == shown(line.latest.visible, line.columns)
    branch = table._store.paths.branch
    texts = {number: _text(table, number) for number in (*line.logs, *line.states)}

    if kind.options.keys() & {"pk-btree.index.columns", "data-evolution.enabled"}:
        latest = branch, "lookups", line.latest.serial, texts.get(line.latest_id)
        files.check(latest, partial(_check_lookups, table))

    def check_rows(view: Callable[[], Table], state: State, what: str) -> None:
        assert found_in(view().to_arrow().to_pylist()) == state.rows, what

    def check_changes(number: int, state: State) -> None:
        assert changes_of(table, number, kind) == state.told, f"changes of {number}"

    for number, state in line.states.items():
        what = f"snapshot {number}"
        view = partial(table.at, snapshot=number)
        files.check(
            (branch, what, state.serial, texts[number]), partial(check_rows, view, state, what)
        )
    for name, (_, state) in line.tags.items():
        what = f"tag {name}"
        view = partial(table.at, tag=name)
        files.check((branch, what, state.serial), partial(check_rows, view, state, what))
    for number, state in (*line.logs.items(), *line.states.items()):
        if state.told and state.columns == line.columns:  # changes are of the newest schema
            near = texts.get(number - 1), texts[number]
            files.check(
                (branch, "changes", state.serial, near), partial(check_changes, number, state)
            )


def _text(table: Table, number: int) -> bytes | None:
    """The JSON of a snapshot or long-lived changelog."""
    paths = table._store.paths
    for path in (paths.snapshot(number), paths.changelog(number)):
        with suppress(MissingFileError):
            return table._store.file_io.read(path)
    return None


def _check_lookups(table: Table) -> None:
    """Rows that are found by indexes are those of the table."""
    rows = table.to_arrow().to_pylist()
    for name in ("v", "w"):
        for value in {row[name] for row in rows}:
            where = col(name).is_null() if value is None else col(name) == value
            matching = [row for row in rows if row[name] == value]
            assert found_in(table.scan(where=where).to_arrow().to_pylist()) == found_in(matching)


def after(line: Line, written: Rows, visible: Rows) -> State:
    """A new state of a branch."""
    return State(
        written=written,
        visible=visible,
        columns=line.columns,
        highest=line.highest,
        watermark=line.latest.watermark,
        parent=line.latest.serial,
    )
