"""Names that the search box of the explorer finds."""

import pyarrow as pa

import paimon_explore as pe
from paimon_explore.inspection.explorer.sql_session import sql_names
from paimon_explore.inspection.views.inspector import MAX_FOUND, Inspector, search_names
from support.small_tables import columns, keyed_table


def test_files_and_columns_are_found_by_a_part_of_their_names() -> None:
    table = keyed_table(columns(k=pa.int32(), Amount=pa.int64()), [{"k": 1}], primary_key=["k"])
    inspector = Inspector(table._view())
    found = search_names(inspector, "MOUN")
    assert found == {"files": [], "columns": [["Amount", "BIGINT"]]}
    (name,) = map(str, table.files().to_arrow()["file_name"].to_pylist())
    assert search_names(inspector, name[5:15].upper()) == {"files": [name], "columns": []}
    assert search_names(inspector.at(0), name)["files"] == []


def test_a_column_that_no_commit_has_yet_is_found_at_the_latest_snapshot() -> None:
    table = keyed_table(columns(k=pa.int32()), [{"k": 1}], [{"k": 2}], primary_key=["k"])
    table.add_column("zone", "INT")
    inspector = pe.open_table(table.path)._inspector()
    assert search_names(inspector, "zone")["columns"] == [["zone", "INT"]]
    assert search_names(inspector.at(1), "zone")["columns"] == []
    names = [sql_names(at)["columns"] for at in (inspector, inspector.at(1))]
    assert names == [[["k", "INT NOT NULL"], ["zone", "INT"]], [["k", "INT NOT NULL"]]]


def test_only_the_first_names_are_returned() -> None:
    fields = {f"c{number}": pa.int32() for number in range(MAX_FOUND + 5)}
    table = keyed_table(columns(k=pa.int32(), **fields), [{"k": 1}], primary_key=["k"])
    found = search_names(Inspector(table._view()), "c")["columns"]
    assert isinstance(found, list)
    assert len(found) == MAX_FOUND
