from pathlib import Path

import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import NotFoundError
from paimon_explore.metadata.statistics_file import ColumnStatistics, Statistics
from support.lifecycle import keyed_table, keys
from support.written import KINDS, make


def analyzed(table: Table) -> Statistics:
    snapshot = table.maintenance.analyze()
    assert snapshot.statistics is not None
    assert snapshot.commit_kind.value == "ANALYZE"
    assert table.maintenance.fsck() == []
    return table._store.statistics.load(snapshot.statistics)


def test_rows_as_readers_see_them_are_counted(tmp_path: Path) -> None:
    table = keyed_table(tmp_path)
    table.upsert([{"k": 1, "v": "a"}, {"k": 2, "v": "bbb"}, {"k": 3, "v": None}])
    table.upsert([{"k": 1, "v": "bbb"}])
    found = analyzed(table)
    assert (found.snapshot_id, found.schema_id, found.merged_record_count) == (2, 0, 3)
    assert found.merged_record_size
    assert found.columns == {
        "k": ColumnStatistics(
            column_id=0,
            distinct_count=3,
            min="1",
            max="3",
            null_count=0,
            average_length=4,
            max_length=4,
        ),
        "v": ColumnStatistics(
            column_id=1,
            distinct_count=1,
            min="bbb",
            max="bbb",
            null_count=1,
            average_length=3,
            max_length=3,
        ),
    }
    assert keys(table) == [1, 2, 3]


def test_statistics_stay_until_the_schema_changes(tmp_path: Path) -> None:
    table = keyed_table(tmp_path)
    table.upsert([{"k": 1, "v": "a"}])
    name = table.maintenance.analyze().statistics
    table.upsert([{"k": 2, "v": "a"}])
    assert table.snapshots[3].statistics == name
    table.add_column("n", "INT")
    table.upsert([{"k": 3, "v": "a", "n": 1}])
    assert table.snapshots[4].statistics is None


@pytest.mark.parametrize("name", ["types_parquet", "types_orc", "types_parquet_nanos"])
def test_columns_of_every_type_have_figures(tmp_path: Path, name: str) -> None:
    table = make(Catalog(tmp_path), name, KINDS[name])
    found = analyzed(table).columns
    counts = {name: column.null_count for name, column in found.items() if name != "id"}
    assert set(counts.values()) == {1}
    bounds = {name: (column.min, column.max) for name, column in found.items()}
    if name == "types_parquet_nanos":
        assert bounds["ts9"] == ("1969-12-31 23:59:59.999999999", "2023-11-14 22:13:20.123456789")
        return
    assert bounds["bool"] == ("false", "true")
    assert bounds["i64"] == ("-9223372036854775808", "9223372036854775807")
    assert bounds["d9"] == ("-1234567.89", "0.01")
    assert bounds["day"] == ("-1", "20778")  # Java parses numbers
    assert bounds["text"] == ("", "Zürich 大阪")
    assert bounds["bytes"] == bounds["list"] == (None, None)
    assert (found["text"].average_length, found["text"].max_length) == (5, 14)
    assert (found["i16"].average_length, found["d38"].average_length) == (2, 16)
    assert found["list"].distinct_count is None


def test_a_table_without_rows_has_nothing_to_analyze(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        keyed_table(tmp_path).maintenance.analyze()
