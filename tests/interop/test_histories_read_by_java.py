"""After any acts, Java reads each snapshot, tag and branch as this library does."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from oracle import JavaPaimon
from support.depth import DEEP, some
from support.figures import Figures
from support.rows import difference
from support.table_kinds import MACHINE_KINDS
from support.table_machine import TableMachine

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("name", some(list(MACHINE_KINDS), 3, 1))
def test_java_reads_what_a_history_leaves(
    name: str, java: JavaPaimon, tmp_path: Path, figures: Figures
) -> None:
    steps: Counter[str] = Counter()

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

    Machine.steps = steps
    examples, length = (3, 60) if DEEP else (1, 20)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=length,
        phases=(Phase.generate,),
        derandomize=not DEEP,
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(Machine, settings=chosen)
    figures.add("steps of tables that Java read", steps.total())
