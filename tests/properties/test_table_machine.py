"""Whole tables of every kind go through any acts, and hold what a model says.

The acts are methods, or statements of SQL. A short run of a few histories of some kinds is part of
the suite. `HYPOTHESIS_PROFILE=deep` runs 50 histories of 160 acts on each kind.
"""

import pytest

from support.depth import DEEP, some
from support.figures import Figures
from support.table_by_sql import SqlTableMachine
from support.table_kinds import MACHINE_KINDS
from support.table_machine import TableMachine, run_histories


@pytest.mark.parametrize("name", some(list(MACHINE_KINDS), 2))
def test_everything_reads_back_after_any_steps(name: str, figures: Figures) -> None:
    machine = type("Machine", (TableMachine,), {"kind_name": name})
    figures.add("steps of whole tables", run_histories(machine, *((50, 160) if DEEP else (3, 16))))


@pytest.mark.parametrize("name", some(list(MACHINE_KINDS), 8, 4))
def test_everything_reads_back_after_any_statements(name: str, figures: Figures) -> None:
    machine = type("Machine", (SqlTableMachine,), {"kind_name": name})
    steps = run_histories(machine, *((20, 60) if DEEP else (1, 18)))
    figures.add("steps of whole tables by SQL", steps)
