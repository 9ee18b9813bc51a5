"""After any acts, Java reads each snapshot, tag and branch as this library does."""

import shutil
from pathlib import Path

import pytest

from oracle import JavaPaimon
from support.depth import DEEP, some
from support.figures import Figures
from support.rows import difference
from support.table_kinds import MACHINE_KINDS
from support.table_machine import TableMachine, run_histories

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("name", some(list(MACHINE_KINDS), 3, 1))
def test_java_reads_what_a_history_leaves(
    name: str, java: JavaPaimon, tmp_path: Path, figures: Figures
) -> None:
    class Machine(TableMachine):
        kind_name = name

        def warehouse(self, space: str) -> str:
            return f"file://{tmp_path}/{space}"

        def teardown(self) -> None:
            super().teardown()
            assert [one.error for one in java.check(self.table.path) if one.error] == []
            for branch, line in self.lines.items():
                table = self.open(branch)
                for number in line.states:
                    rows = java.read(table.path, branch=branch, snapshot=number)
                    assert difference(rows, table.at(number).to_arrow()) == "", (branch, number)
            for tag in self.lines["main"].tags:  # `check` reads those of branches
                rows = java.read(self.table.path, tag=tag)
                assert difference(rows, self.table.at(tag=tag).to_arrow()) == "", tag
            shutil.rmtree(tmp_path / self.space)

    steps = run_histories(Machine, *((3, 60) if DEEP else (1, 20)))
    figures.add("steps of tables that Java read", steps)
