from datetime import timedelta

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.inspection.system_tables.history_tables import (
    SYSTEM_TABLES,
    SystemTable,
    iso_duration,
)
from paimon_explore.inspection.system_tables.system_table_cells import key_texts, named_texts
from paimon_explore.inspection.system_tables.table_state import TableState
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.table import table_inspection
from support.small_tables import append_table, columns, keyed_table, new_catalog

COLUMNS = columns(k=pa.int32(), dt=pa.string())


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(), "PT0S"),
        (timedelta(days=1), "PT24H"),
        (timedelta(hours=1, minutes=2, seconds=3), "PT1H2M3S"),
        (timedelta(milliseconds=250), "PT0.25S"),
    ],
)
def test_durations_are_written_as_java_does(length: timedelta, text: str) -> None:
    assert iso_duration(length) == text


def test_snapshots_tags_branches_and_consumers_are_listed() -> None:
    table = append_table(COLUMNS, [{"k": 1, "dt": "a"}], [{"k": 2, "dt": "b"}])
    table.create_tag("one", 1)
    table.create_branch("b")
    table._store.consumers.save("me", Consumer(next_snapshot=2))
    seen = table.inspect
    wanted = ["snapshot_id", "commit_kind", "total_record_count", "delta_record_count"]
    assert [[*row.values()] for row in seen.snapshots().select(wanted).to_pylist()] == [
        [1, "APPEND", 1, 1],
        [2, "APPEND", 2, 1],
    ]
    tag = seen.tags().select(["tag_name", "snapshot_id", "record_count"]).to_pylist()
    assert tag == [{"tag_name": "one", "snapshot_id": 1, "record_count": 1}]
    assert seen.branches().column("branch_name").to_pylist() == ["b"]
    assert seen.consumers().to_pylist() == [{"consumer_id": "me", "next_snapshot_id": 2}]


def test_schemas_and_options_are_listed_as_json_and_text() -> None:
    options = {"metadata.stats-mode": "none"}
    seen = append_table(COLUMNS, partition_by=["dt"], options=options).inspect
    row = seen.schemas().to_pylist()[0]
    assert row["partition_keys"] == '["dt"]'
    assert row["primary_keys"] == "[]"
    assert seen.options().to_pylist() == [{"key": "metadata.stats-mode", "value": "none"}]


def test_every_system_table_of_a_table_without_snapshots_is_empty() -> None:
    seen = new_catalog().create_table("db.t", COLUMNS).inspect
    for rows in (
        seen.snapshots(),
        seen.tags(),
        seen.branches(),
        seen.consumers(),
        seen.statistics(),
        seen.manifests(),
        seen.files(),
        seen.file_key_ranges(),
        seen.file_indexes(),
        seen.partitions(),
        seen.buckets(),
        seen.table_indexes(),
    ):
        assert rows.num_rows == 0
    assert seen.aggregation_fields().num_rows == 2


def test_files_show_keys_bounds_and_counts() -> None:
    table = keyed_table(
        COLUMNS,
        [{"k": 2, "dt": "a"}, {"k": 1, "dt": None}],
        primary_key=["k"],
        options={"bucket": "1"},
    )
    wanted = ["partition", "min_key", "max_key", "null_value_counts", "min_value_stats", "level"]
    assert [[*row.values()] for row in table.inspect.files().select(wanted).to_pylist()] == [
        ["{}", "[1]", "[2]", "{dt=1, k=0}", "{dt=a, k=1}", 0]
    ]


def test_file_indexes_are_listed_by_column_and_type() -> None:
    """Index files beside data files are read by their heads, however many columns they have."""
    many = [f"a_column_with_a_long_name_{number:03}" for number in range(150)]
    kinds = columns(dt=pa.string(), **dict.fromkeys(many, pa.int32()))
    options = {"file-index.bitmap.columns": ",".join(many), "file-index.bloom-filter.columns": "dt"}
    table = append_table(kinds, partition_by=["dt"], options=options)
    table.append([{"dt": "a", many[0]: 1}])
    table.set_options(
        {"file-index.bitmap.columns": many[0], "file-index.in-manifest-threshold": "9 mb"}
    )
    table.append([{"dt": "b", many[0]: 1}, {"dt": "b"}])
    table.set_options({"file-index.bitmap.columns": "", "file-index.bloom-filter.columns": ""})
    table.append([{"dt": "c"}])
    rows = table.inspect.file_indexes().to_pylist()
    outside = [row for row in rows if row["partition"] == "{a}"]
    assert [row["column_name"] for row in outside] == [*many, "dt"]
    assert not any(row["is_empty"] for row in outside)
    (index,) = {row["index_file_path"] for row in outside}
    data = table._store.file_io.read(index)
    assert {row["index_container_size_in_bytes"] for row in outside} == {len(data)}
    assert len(data) > 4096
    inside = [row for row in rows if row["partition"] == "{b}"]
    files = {row["partition"]: row for row in table.inspect.files().to_pylist()}
    same = ("bucket", "file_path", "file_size_in_bytes", "record_count", "schema_id")
    for row in rows:
        assert [row[name] for name in same] == [files[row["partition"]][name] for name in same]
    names = ["column_name", "index_type", "storage_type", "index_file_path", "is_empty"]
    assert [[row[name] for name in names] for row in inside] == [
        [many[0], "bitmap", "EMBEDDED", None, False],
        ["dt", "bloom-filter", "EMBEDDED", None, False],
    ]
    sizes = [row["index_size_in_bytes"] for row in inside]
    assert 0 < sum(sizes) < inside[0]["index_container_size_in_bytes"]
    found = pe.sql("SELECT index_type FROM t$file_indexes WHERE partition = '{b}' LIMIT 1", t=table)
    assert found.to_arrow().to_pylist() == [{"index_type": "bitmap"}]
    query = "SELECT count(*) AS n FROM t$file_indexes WHERE column_name = 'dt'"
    assert pe.sql(query, t=table).to_arrow().to_pylist() == [{"n": 2}]


def test_partitions_and_buckets_add_up_their_files() -> None:
    table = append_table(
        COLUMNS,
        [{"k": 1, "dt": "a"}, {"k": 2, "dt": None}],
        [{"k": 3, "dt": "a"}, {"k": 4, "dt": "null"}],
        partition_by=["dt"],
    )
    wanted = ["partition", "record_count", "file_count"]
    found = table.inspect.partitions().select(wanted).to_pylist()
    assert sorted([*map(str, row.values())] for row in found) == [
        ["dt=__DEFAULT_PARTITION__", "1", "1"],
        ["dt=a", "2", "2"],
        ["dt=null", "1", "1"],
    ]
    rows = table.inspect.buckets().select([*wanted, "bucket"]).to_pylist()
    assert sorted([*map(str, row.values())] for row in rows) == [
        ["{a}", "2", "2", "0"],
        ["{null}", "1", "1", "0"],
        ["{null}", "1", "1", "0"],
    ]


@pytest.mark.parametrize("name", SYSTEM_TABLES)
def test_the_rows_of_a_system_table_are_computed_when_they_are_read(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "dt": "a"}], primary_key=["k"])
    computed: list[TableState] = []

    def rows(state: TableState) -> pa.Table:
        computed.append(state)
        return SYSTEM_TABLES[name].rows(state)

    noted = {name: SystemTable(SYSTEM_TABLES[name].schema, rows)}
    monkeypatch.setattr(table_inspection, "SYSTEM_TABLES", noted)
    source = table.inspect.system_table(name)
    assert computed == []
    assert source.to_arrow().schema == source.schema
    assert len(computed) == 1


def test_the_name_of_a_system_table_may_be_in_any_case() -> None:
    table = append_table(COLUMNS, [{"k": 1, "dt": "a"}])
    for name in ("Snapshots", "FILES", "Audit_Log"):
        assert table.inspect.system_table(name).to_arrow().num_rows == 1
    assert pe.sql("SELECT count(*) AS n FROM t$FILES", t=table).to_arrow().to_pylist() == [{"n": 1}]


def test_texts_of_nothing_are_empty_braces() -> None:
    assert as_python(named_texts({}, 2)) == ["{}", "{}"]
    rows = pa.array([b"x"])
    assert as_python(key_texts(rows, None, where="_MIN_KEY")) == [None]
