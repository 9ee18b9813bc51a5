"""The tables of every writer are in order."""

import pytest

import paimon_explore as pe
from support.golden import WRITERS, GoldenTables


@pytest.mark.parametrize("writer", WRITERS)
def test_every_golden_table_is_in_order(writer: str, golden: GoldenTables) -> None:
    wrong = []
    for name in golden.names(writer):
        table = pe.open_table(golden.table(writer, name).folder)
        wrong += [f"{name}: {found}" for found in table.maintenance.fsck()]
    assert wrong == []
