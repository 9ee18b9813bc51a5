"""A table and what it must hold, for state machines: branches, their rows, what a commit added."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import ClassVar
from uuid import uuid4

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis.stateful import RuleBasedStateMachine

from paimon_explore import Catalog, Table, open_table
from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from support.memory_files import UnchangedFiles
from support.table_kinds import CONTENTS, MACHINE_KINDS, PARTITIONS, K, P, Row, Rows, V, W, value_of
from support.table_model import Followed, Line, after, changes_of, shown

CELLS = st.tuples(
    st.sampled_from(PARTITIONS),
    st.integers(0, 4),
    st.none() | st.integers(0, 9),
    st.none() | st.sampled_from(["", "a", "bb"]),
    st.none() | st.integers(0, 99),
)
ROWS = st.lists(CELLS, min_size=1, max_size=5)
WHO = st.integers(0, 5)
Cells = list[tuple[str, int, int | None, str | None, int | None]]


class LinesMachine(RuleBasedStateMachine):
    """The branches of a table.

    Attributes:
        kind: of the table.
        table: its main branch.
        lines: what each branch must hold.
        made: how many tags and branches have had a name.
        leaves_orphans: whether an act left files that nothing needs.
        fleeting: names of the tags whose time has passed.
        files: knows which checks of files need not be repeated.
    contents: the file that descriptors refer to.
    """

    kind_name = "keyed"
    steps: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.kind = MACHINE_KINDS[self.kind_name]
        self.space = str(uuid4())
        self.table = self.opened(self.kind.create(self.warehouse(self.space)))
        columns = self.kind.columns
        self.lines = {"main": Line(columns=columns, highest=len(columns) - 1)}
        self.contents = f"{self.warehouse(self.space)}-contents"
        if "d" in self.kind.more:
            self.table._store.file_io.create(self.contents, CONTENTS)
        self.made = 0
        self.leaves_orphans = False
        self.fleeting: set[str] = set()
        self.files = UnchangedFiles()

    def warehouse(self, space: str) -> str:
        """Where the table is."""
        return f"memory://{space}/wh"

    def opened(self, table: Table) -> Table:
        """A table, such that it is used as this machine does."""
        return table

    @property
    def catalog(self) -> Catalog:
        """The catalog of the table."""
        return Catalog(self.warehouse(self.space))

    def sql(self, text: str) -> pa.Table:
        """The rows of a statement."""
        return self.catalog.sql(text).to_arrow()

    def pick(self, who: int) -> tuple[Table, Line]:
        """A branch, mostly main."""
        names = ["main", "main", *sorted(self.lines)]
        name = names[who % len(names)]
        return self.open(name), self.lines[name]

    def open(self, name: str, options: Mapping[str, str] | None = None) -> Table:
        return open_table(self.table.path, branch=name, options=options)

    def rows(self, line: Line, cells: Cells) -> list[Row]:
        extra = [(name, number) for name, number in line.columns if number > W]
        return [
            {P: p, K: k, V: v, W: w, **{number: value_of(name, x) for name, number in extra}}
            for p, k, v, w, x in cells
        ]

    def given(self, line: Line, rows: list[Row]) -> list[dict[str, object]]:
        return [
            {name: self.value(name, row.get(number)) for name, number in line.columns}
            for row in rows
        ]

    def value(self, name: str, value: object) -> object:
        """A value as it is written."""
        if name == "d" and isinstance(value, bytes):
            part = BlobDescriptor(uri=self.contents, offset=2 * int(value), length=2)
            return encode_descriptor(part)
        return list(value) if isinstance(value, tuple) else value

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
            kind = table._store.snapshots.load(number).commit_kind
            assert (kind is CommitKind.COMPACT) == (number > numbers[0])
            seen = written if not self.kind.waits else compacted if number > numbers[0] else before
            line.states[number] = after(line, written, seen)
        for number in numbers:
            self.noted(table, line, number)

    def replaces(
        self, line: Line, gone: Callable[[Row], bool], rows: list[Row]
    ) -> tuple[Rows, Rows]:
        """Written and visible rows after some are replaced."""
        kept = tuple(row for row in line.latest.written if not gone(row))
        seen = tuple(row for row in line.latest.visible if not gone(row))
        new = self.kind.written((), rows)
        is_late = self.kind.waits and self.kind_name == "postponed buckets"
        return (*kept, *new), (seen if is_late else (*seen, *new))

    def count(self, name: str) -> None:
        self.steps[name] += 1

    def same_rows(self, table: Table, line: Line, made: Snapshot | None) -> None:
        """Expect one more snapshot with the rows of the one before."""
        self.committed(table, line, line.latest.written, line.latest.visible, made)

    def rewind_stream(self, table: Table, line: Line, number: int) -> None:
        """Let the stream of a branch go on after a snapshot if it has read this one or later ones.

        A consumer stores only a number, so it cannot tell that a snapshot was replaced.
        """
        if line.stream is not None and line.consumers["s"] > number:
            table.maintenance.consumers.reset("s", number + 1)
            line.consumers["s"] = number + 1
            rows = shown(line.states[number].visible, line.columns)
            line.stream = Followed(rows=rows, columns=line.columns)

    def forget_stream(self, table: Table, line: Line) -> None:
        """End the stream of a branch."""
        if line.stream is not None:
            table.maintenance.consumers.delete("s")
            line.consumers.pop("s", None)
            line.stream = None
