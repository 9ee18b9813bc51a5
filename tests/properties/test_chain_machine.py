"""Chain tables of every kind go through any acts, and hold what a model says.

`HYPOTHESIS_PROFILE=deep` runs 50 histories of 60 acts on each kind.
"""

import pytest

from support.chain_machine import CHAIN_KINDS, ChainMachine
from support.depth import DEEP, some
from support.figures import Figures
from support.table_machine import run_histories


@pytest.mark.parametrize("name", some(list(CHAIN_KINDS), 4))
def test_chains_read_back_after_any_steps(name: str, figures: Figures) -> None:
    machine = type("Machine", (ChainMachine,), {"options": CHAIN_KINDS[name]})
    steps = run_histories(machine, *((50, 60) if DEEP else (3, 15)))
    figures.add("steps of chain tables", steps)
