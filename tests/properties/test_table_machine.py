"""Whole tables of every kind go through any acts, and hold what a model says.

A short run of a few histories, always the same, is part of the suite. `HYPOTHESIS_PROFILE=deep`
runs 50 histories of 160 acts on each kind.
"""

from collections import Counter

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from support.depth import DEEP
from support.figures import Figures
from support.table_kinds import MACHINE_KINDS
from support.table_machine import TableMachine


@pytest.mark.parametrize("name", MACHINE_KINDS)
def test_everything_reads_back_after_any_steps(name: str, figures: Figures) -> None:
    steps: Counter[str] = Counter()
    machine = type("Machine", (TableMachine,), {"kind_name": name, "steps": steps})
    examples, length = (50, 160) if DEEP else (2, 18)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=length,
        phases=(Phase.generate,),
        derandomize=not DEEP,
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(machine, settings=chosen)
    figures.add("steps of whole tables", steps.total())
