"""The tables of every writer are in order."""

import pytest

import paimon_explore as pe
from paimon_explore.maintenance.checks.data_file_checks import BUCKET, KEY_BOUNDS, NULLS
from support.golden import WRITERS, GoldenTables

KNOWN = {
    # pypaimon hashes and encodes some types of keys in its own way, and counts no null pictures.
    ("pypaimon21", "pk_all_key_types"): {BUCKET, KEY_BOUNDS},
    ("pypaimon21", "blob"): {NULLS},
}
ROWS_READ = ("java200", "pypaimon21", "rust04")


@pytest.mark.parametrize("writer", WRITERS)
def test_every_golden_table_is_in_order(writer: str, golden: GoldenTables) -> None:
    wrong = []
    for name in golden.names(writer):
        if writer in ROWS_READ and (writer, name) not in KNOWN:
            continue  # a check that reads the rows checks all the rest as well
        table = pe.open_table(golden.table(writer, name).folder)
        wrong += [f"{name}: {found}" for found in table.maintenance.fsck()]
    assert wrong == []


@pytest.mark.parametrize("writer", ROWS_READ)
def test_the_rows_of_every_golden_table_are_as_their_entries_say(
    writer: str, golden: GoldenTables
) -> None:
    wrong = {}
    for name in golden.names(writer):
        table = pe.open_table(golden.table(writer, name).folder)
        rules = {found.rule for found in table.maintenance.fsck(read_rows=True)}
        if rules != KNOWN.get((writer, name), set()):
            wrong[name] = rules
    assert wrong == {}
