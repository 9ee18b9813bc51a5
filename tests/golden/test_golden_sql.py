"""SQL in this process gives the rows of a scan, for tables of every writer."""

import pytest

import paimon_explore as pe
from paimon_explore.sql_statements.duckdb import parquet_files
from support.golden import WRITERS, GoldenTables
from support.rows import difference


@pytest.mark.parametrize("writer", WRITERS)
def test_select_gives_the_rows_of_a_scan_at_the_first_and_the_last_snapshot(
    writer: str, golden: GoldenTables
) -> None:
    wrong = []
    for name in golden.some_names(writer, 3):
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


@pytest.mark.parametrize("writer", WRITERS)
def test_files_that_duckdb_reads_itself_give_the_rows_of_a_scan(
    writer: str, golden: GoldenTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "_MIN_ROWS", 1)
    monkeypatch.setattr(parquet_files, "_MIN_FILE_BYTES", 1)
    wrong, read = [], 0
    for name in golden.some_names(writer, 3):
        table = pe.open_table(golden.table(writer, name).folder)
        names = table.schema.row_type.names
        columns = [one for one in names if parquet_files.parquet_files(table.scan(), [one])]
        if not columns:
            continue
        read += 1
        listed = ", ".join(f"`{one}`" for one in columns)
        rows = pe.sql(f"SELECT {listed} FROM t", t=table).to_arrow()  # noqa: S608 - names of columns
        found = difference(table.scan(columns).to_arrow(), rows, [])
        if found:
            wrong.append(f"{name}: {found}")
    assert wrong == []
    assert read
