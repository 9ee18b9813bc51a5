"""Java and pypaimon write and compact in between any acts of ours, to tables of all kinds.

After each step every snapshot reads back as the model says, and the checks find nothing. At the end
Java reads each snapshot, tag and branch as this library does.
"""

import shutil
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis.stateful import precondition, rule

from oracle import JavaPaimon
from peers import Peers
from support.depth import DEEP, some
from support.figures import Figures
from support.rows import difference
from support.table_kinds import MACHINE_KINDS
from support.table_lines import ROWS, Cells
from support.table_machine import TableMachine, run_histories

pytestmark = pytest.mark.interop

WRITER = Literal["java", "pypaimon"]
ONLY_JAVA = {name for name, kind in MACHINE_KINDS.items() if kind.has_changelog or kind.crosses}


@pytest.mark.parametrize("name", some(list(MACHINE_KINDS), 3, 1))
def test_acts_of_several_writers_leave_what_each_of_them_meant(
    name: str, java: JavaPaimon, peers: Peers, tmp_path: Path, figures: Figures
) -> None:
    class Machine(TableMachine):
        kind_name = name

        def warehouse(self, space: str) -> str:
            return f"file://{tmp_path}/{space}"

        @rule(cells=ROWS)
        def insert_by_java(self, cells: Cells) -> None:
            self.expire_tags(0)  # each commit of Java does
            self.insert_by("java", cells)

        @precondition(lambda self: self.kind_name not in ONLY_JAVA)
        @rule(cells=ROWS)
        def insert_by_pypaimon(self, cells: Cells) -> None:
            self.insert_by("pypaimon", cells)

        def insert_by(self, writer: WRITER, cells: Cells) -> None:
            table, line = self.pick(0)
            rows = self.rows(line, cells)
            written = self.kind.written(line.latest.written, rows)
            given = pa.Table.from_pylist(self.given(line, rows), table.to_arrow().schema)
            if writer == "java":
                java.write(self.table.path, given)
            else:
                peers.write("py", tmp_path / self.space, self.table.name, given)
            self.wrote(table, line, written, rows, table._store.snapshots.latest())
            self.count(f"insert by {writer}")

        def teardown(self) -> None:
            super().teardown()
            assert [one.error for one in java.check(self.table.path) if one.error] == []
            for branch, line in self.lines.items():
                table = self.open(branch)
                for number in line.states:
                    read = java.read(table.path, branch=branch, snapshot=number)
                    assert difference(read, table.at(number).to_arrow()) == "", (branch, number)
            for tag in self.lines["main"].tags:  # `check` reads those of branches
                read = java.read(self.table.path, tag=tag)
                assert difference(read, self.table.at(tag=tag).to_arrow()) == "", tag
            shutil.rmtree(tmp_path / self.space)

    steps = run_histories(Machine, *((3, 60) if DEEP else (1, 20)))
    figures.add("steps of tables of several writers", steps)
    assert steps
