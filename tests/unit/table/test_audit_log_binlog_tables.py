import pyarrow as pa

from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.string())
COMMITS = (
    [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}],
    [{"k": 1, "v": "a", "_ROW_KIND": "-D"}, {"k": 2, "v": "B", "_ROW_KIND": "+I"}],
)


def test_the_audit_log_shows_kinds_and_deleted_rows() -> None:
    table = keyed_table(COLUMNS, *COMMITS, primary_key=["k"])
    found = table.inspect.system_table("audit_log")
    assert found.schema.names == ["rowkind", "k", "v"]
    assert rows_of(found.to_arrow()) == [
        {"rowkind": "+I", "k": 2, "v": "B"},
        {"rowkind": "-D", "k": 1, "v": "a"},
    ]


def test_the_audit_log_and_the_binlog_show_sequence_numbers_if_asked() -> None:
    options = {"table-read.sequence-number.enabled": "true"}
    table = keyed_table(COLUMNS, *COMMITS, primary_key=["k"], options=options)
    assert rows_of(table.inspect.system_table("audit_log").to_arrow()) == [
        {"rowkind": "+I", "_SEQUENCE_NUMBER": 3, "k": 2, "v": "B"},
        {"rowkind": "-D", "_SEQUENCE_NUMBER": 2, "k": 1, "v": "a"},
    ]
    assert rows_of(table.inspect.system_table("binlog").to_arrow())[0] == {
        "rowkind": "+I",
        "_SEQUENCE_NUMBER": 3,
        "k": [2],
        "v": ["B"],
    }


def test_the_binlog_holds_each_value_in_a_list() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": None}])
    assert table.inspect.system_table("binlog").to_arrow().to_pylist() == [
        {"rowkind": "+I", "k": [1], "v": [None]}
    ]


def test_the_read_optimized_table_has_only_what_is_compacted() -> None:
    keyed = keyed_table(COLUMNS, *COMMITS, primary_key=["k"])
    assert keyed.inspect.system_table("ro").to_arrow().num_rows == 0
    plain = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    assert plain.inspect.system_table("ro").to_arrow().to_pylist() == [{"k": 1, "v": "a"}]


def test_row_tracking_gives_ids_and_snapshots() -> None:
    table = append_table(
        COLUMNS,
        [{"k": 1, "v": "a"}],
        [{"k": 2, "v": "b"}, {"k": 3, "v": "c"}],
        options={"row-tracking.enabled": "true"},
    )
    assert rows_of(table.inspect.system_table("row_tracking").to_arrow()) == [
        {"k": 1, "v": "a", "_ROW_ID": 0, "_SEQUENCE_NUMBER": 1},
        {"k": 2, "v": "b", "_ROW_ID": 1, "_SEQUENCE_NUMBER": 2},
        {"k": 3, "v": "c", "_ROW_ID": 2, "_SEQUENCE_NUMBER": 2},
    ]
