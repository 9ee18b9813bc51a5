from collections.abc import Callable
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table, open_table
from paimon_explore.metadata.manifest.manifest_list import MANIFEST_LIST_SCHEMA, ManifestFiles
from paimon_explore.scan.plan import ScanPlan
from support.small_tables import append_table, columns, keyed_table, new_catalog

COLUMNS = columns(k=pa.int32(), v=pa.int32(), dt=pa.string())


def row(k: int, v: int, dt: str = "a") -> dict[str, object]:
    return {"k": k, "v": v, "dt": dt}


def left(table: Table, where: str) -> dict[str, tuple[int, int]]:
    """Per cut, what went in and what was kept."""
    return {s.name: (s.total, s.kept) for s in planned(table, where).stages}


def planned(table: Table, where: str) -> ScanPlan:
    return table.scan(where=where).plan()


def test_whole_manifests_go_by_their_partitions() -> None:
    table = append_table(COLUMNS, [row(1, 1)], [row(2, 2, "b")], partition_by=["dt"])
    assert left(table, "dt = 'b'")["partition ranges"] == (2, 1)
    assert left(table, "dt > 'z'")["partition ranges"] == (2, 0)


def test_files_of_append_tables_go_by_value_statistics() -> None:
    table = append_table(COLUMNS, [row(1, 1), row(2, 5)], [row(3, 9)])
    assert left(table, "v = 7")["value statistics"] == (2, 0)
    assert left(table, "v >= 9")["value statistics"] == (2, 1)


def test_deleted_files_stay_away_even_where_a_list_tells_of_no_deletions() -> None:
    table = append_table(COLUMNS, [row(1, 1)], [row(2, 9)])
    table.overwrite(pa.table({"k": [3], "v": [5], "dt": ["a"]}, schema=COLUMNS))
    expected = {"partitions": (1, 1), "value statistics": (1, 0)}
    assert left(table, "v = 1").items() >= expected.items()
    latest = table._store.snapshots.latest()
    assert latest is not None
    manifests = table._store.manifests
    listed = manifests.list(latest.delta_manifest_list).table
    place = MANIFEST_LIST_SCHEMA.get_field_index("num_deleted_files")
    none = pa.array([0] * len(listed), pa.int64())
    wrong = listed.set_column(place, MANIFEST_LIST_SCHEMA.field(place), none)
    manifests.cache_written(latest.delta_manifest_list, ManifestFiles(wrong))
    assert left(table, "v = 1").items() >= expected.items()
    assert table.scan(where="v = 5").count() == 1


@pytest.mark.parametrize("count", [1, 4])
def test_files_go_by_the_bucket_of_an_equality(count: int) -> None:
    options = {"bucket": str(count)}
    table = keyed_table(COLUMNS, [row(k, k) for k in range(40)], primary_key=["k"], options=options)
    assert left(table, "k = 7")["bucket"] == (count, 1)
    assert left(table, "k = 7 AND k = 8")["bucket"] == (count, 0)
    assert table.scan(where="k = 7").count() == 1


def test_files_of_keyed_tables_go_one_by_one_by_key_statistics() -> None:
    table = keyed_table(COLUMNS, [row(1, 1)], [row(5, 5)], primary_key=["k"])
    assert left(table, "k > 3")["key statistics"] == (2, 1)


def test_a_bucket_stays_whole_where_an_older_row_could_come_back() -> None:
    table = keyed_table(COLUMNS, [row(1, 1)], [row(1, 9)], primary_key=["k"])
    assert left(table, "v = 1")["value statistics"] == (2, 2)
    assert table.scan(where="v = 1").to_arrow().num_rows == 0
    assert left(table, "v = 5")["value statistics"] == (2, 0)
    assert left(table, "v > 9")["value statistics"] == (2, 0)


@pytest.mark.parametrize("engine", ["partial-update", "aggregation"])
def test_engines_that_combine_rows_keep_all_files(engine: str) -> None:
    table = keyed_table(
        COLUMNS,
        [row(1, 1)],
        [row(1, 9)],
        primary_key=["k"],
        options={"merge-engine": engine, "fields.v.aggregate-function": "sum"}
        if engine == "aggregation"
        else {"merge-engine": engine},
    )
    assert left(table, "v > 100")["value statistics"] == (2, 2)


def test_level_0_of_a_first_row_table_is_not_seen_yet() -> None:
    table = keyed_table(
        COLUMNS, [row(1, 1)], primary_key=["k"], options={"merge-engine": "first-row"}
    )
    assert left(table, "v = 1")["visible levels"] == (1, 0)
    assert table.to_arrow().num_rows == 0


def test_what_partitions_decide_is_not_checked_again() -> None:
    table = append_table(COLUMNS, [row(1, 1)], partition_by=["dt"])
    assert planned(table, "dt = 'a'").rest == planned(table, "TRUE").rest
    assert planned(table, "dt = 'a' AND v = 1").rest == planned(table, "v = 1").rest


@pytest.mark.parametrize("engine", ["partial-update", "aggregation", "deduplicate"])
def test_a_combined_row_may_match_where_no_record_does(engine: str) -> None:
    options = {
        "merge-engine": engine,
        "deletion-vectors.enabled": "true",
        "deletion-vectors.merge-on-read": "true",
        "write-only": "false",
    }
    schema = columns(k=pa.int32(), a=pa.int32(), b=pa.int32())
    keyed = keyed_table(schema, [{"k": 1, "a": 5, "b": 2}], primary_key=["k"], options=options)
    assert left(keyed, "a = 1 AND b = 2")["value statistics"] == (1, 0)
    keyed.set_options({"write-only": "true"})
    table = open_table(keyed.path)
    table.upsert([{"k": 1, "a": 1, "b": None}])
    found = table.scan(where="a = 1 AND b = 2").to_arrow().to_pylist()
    assert found == ([] if engine == "deduplicate" else [{"k": 1, "a": 1, "b": 2}])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("INT", "BIGINT"),
        ("SMALLINT", "INT"),
        ("BIGINT", "INT"),
        ("INT", "DECIMAL(10, 0)"),
        ("INT", "STRING"),
        ("DATE", "TIMESTAMP(3)"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)"),
        ("DECIMAL(10, 2)", "DECIMAL(12, 4)"),
        ("VARCHAR(20)", "VARCHAR(1)"),
    ],
)
@pytest.mark.parametrize("compacted", [False, True])
def test_rows_are_found_after_the_type_of_a_bucket_key_changed(
    before: str, after: str, *, compacted: bool
) -> None:
    options = {"bucket": "4", "bucket-key": "k", "compaction.min.file-num": "2"}
    schema = {"k": before, "v": "INT"}
    table = new_catalog().create_table("db.t", schema, options=options)
    numbers = [*range(-12, 13)]
    start = datetime(2020, 1, 1)  # noqa: DTZ001 - wall time
    makers: dict[str, Callable[[int], object]] = {
        "DATE": lambda n: date(2020, 2, 1) + timedelta(days=n),
        "TIMESTAMP(3)": lambda n: start + timedelta(days=n),
        "VARCHAR(20)": lambda n: f"{chr(99 + n % 20)}{n}",
    }
    make = makers.get(before, int)
    for part in (numbers[::2], numbers[1::2]):
        table.append([{"k": make(n), "v": n} for n in part])
    table.alter_column_type("k", after, check=False)
    if compacted:
        table.compact(full=True)
    rows = table.to_arrow().to_pylist()
    for key in {row["k"] for row in rows}:
        expected = {row["v"] for row in rows if row["k"] == key}
        found = table.scan(where=pe.col("k") == key).to_arrow()
        assert {*found["v"].to_pylist()} == expected
    table.append(table.scan(where="v = 0"))
    assert not table.maintenance.fsck(read_rows=True)


def test_a_longer_text_as_bucket_key_still_chooses_the_bucket() -> None:
    options = {"bucket": "4", "bucket-key": "k"}
    table = new_catalog().create_table("db.t", {"k": "VARCHAR(9)"}, options=options)
    table.append([{"k": str(number)} for number in range(40)])
    table.alter_column_type("k", "STRING")
    assert left(table, "k = '7'")["bucket"] == (4, 1)
    assert table.scan(where="k = '7'").count() == 1
