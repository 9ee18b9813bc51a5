"""SQL in this process gives the rows of a scan, for every table of every writer."""

import pytest

import paimon_explore as pe
from support.golden import WRITERS, GoldenTables
from support.rows import difference


@pytest.mark.parametrize("writer", WRITERS)
def test_select_gives_the_rows_of_a_scan_at_the_first_and_the_last_snapshot(
    writer: str, golden: GoldenTables
) -> None:
    wrong = []
    for name in golden.names(writer):
        given = golden.table(writer, name)
        latest = pe.open_table(given.folder)
        first = [latest.at(snapshot=one.id) for one in list(latest.snapshots)[:1]]
        for table in [*first, latest]:
            try:
                rows = pe.sql("SELECT * FROM t", t=table).to_arrow()
            except pe.PaimonError as error:
                wrong.append(f"{name}: {error}")
                continue
            found = difference(table.to_arrow(), rows, [])
            if found:
                wrong.append(f"{name}: {found}")
    assert wrong == []
