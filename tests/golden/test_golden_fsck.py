"""Tables of every writer are in order."""

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
def test_golden_tables_and_their_rows_are_as_their_metadata_say(
    writer: str, golden: GoldenTables
) -> None:
    wrong = {}
    for name in golden.some_names(writer, 3):
        table = pe.open_table(golden.table(writer, name).folder)
        rules = {found.rule for found in table.maintenance.fsck(read_rows=writer in ROWS_READ)}
        if rules != KNOWN.get((writer, name), set()):
            wrong[name] = rules
    assert wrong == {}


@pytest.mark.parametrize(("writer", "name"), KNOWN)
def test_what_only_the_rows_show_is_not_found_without_them(
    writer: str, name: str, golden: GoldenTables
) -> None:
    assert pe.open_table(golden.table(writer, name).folder).maintenance.fsck() == []
