"""Whole tables of every kind go through any acts, some of which are cut off.

Each act is done in full, then on the table as it was with a fault: before an operation, behind it
with a lost reply, or by the end of the process. What the act does not concern is there and reads as
it must, what it concerns is as before or as behind it, and the next acts find a sound table.
`HYPOTHESIS_PROFILE=deep` runs 20 histories of 60 acts on each kind.
"""

import pytest

from support.depth import DEEP, some
from support.figures import Figures
from support.table_faults import FaultyTableMachine
from support.table_kinds import MACHINE_KINDS
from support.table_machine import run_histories


@pytest.mark.parametrize("name", some(list(MACHINE_KINDS), 8, 3))
def test_everything_reads_back_after_steps_that_are_cut_off(name: str, figures: Figures) -> None:
    class Machine(FaultyTableMachine):
        kind_name = name

    figures.add("steps of whole tables, some cut off", run_histories(Machine, *_SIZE))
    cut = sum(count for step, count in Machine.steps.items() if step.startswith("cut off"))
    figures.add("steps that were cut off", cut)
    assert cut


_SIZE = (20, 60) if DEEP else (2, 18)
