import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import NotFoundError
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), dt=pa.string())


def two_branches() -> Table:
    """Main has the partitions a and b, the branch `more` b and c."""
    table = append_table(COLUMNS, [{"k": 1, "dt": "a"}, {"k": 2, "dt": "b"}], partition_by=["dt"])
    table.create_branch("more")
    branch = open_table(table.path, branch="more")
    branch.append([{"k": 20, "dt": "b"}, {"k": 30, "dt": "c"}])
    return table


def read(table: Table, where: str = "TRUE", **options: str) -> list[tuple[object, ...]]:
    dynamic = {f"scan.{key}-branch": value for key, value in options.items()}
    found = open_table(table.path, options=dynamic).scan(where=where).to_arrow()
    return [tuple(row.values()) for row in rows_of(found)]


def test_partitions_that_a_branch_lacks_come_from_the_fallback_branch() -> None:
    table = two_branches()
    assert read(table, fallback="more") == [(1, "a"), (2, "b"), (30, "c")]
    assert read(table, "dt = 'c'", fallback="more") == [(30, "c")]
    assert read(table, "dt = 'b'", fallback="more") == [(2, "b")]


@pytest.mark.parametrize(
    "options",
    [
        {"deletion-vectors.enabled": "true", "write-only": "true"},
        {"merge-engine": "first-row", "write-only": "true"},
        {"bucket": "-2"},
    ],
)
def test_a_partition_whose_files_are_not_visible_yet_comes_from_the_fallback_branch(
    options: dict[str, str],
) -> None:
    fields = columns(k=pa.int32(), dt=pa.string())
    table = keyed_table(fields, primary_key=["k", "dt"], partition_by=["dt"], options=options)
    table.create_branch("more")
    branch = open_table(table.path, branch="more")
    branch.upsert([{"k": 1, "dt": "a"}, {"k": 2, "dt": "b"}])
    branch.compact()
    table.upsert([{"k": 3, "dt": "a"}])
    assert read(table, fallback="more") == [(1, "a"), (2, "b")]
    assert read(table, "k = 1", fallback="more") == [(1, "a")]
    table.compact()
    assert read(table, fallback="more") == [(2, "b"), (3, "a")]
    assert read(table, "k = 1", fallback="more") == []


def test_partitions_of_the_primary_branch_come_first() -> None:
    assert read(two_branches(), primary="more") == [(1, "a"), (20, "b"), (30, "c")]


def test_a_branch_does_not_fall_back_to_itself() -> None:
    assert read(two_branches(), fallback="main") == [(1, "a"), (2, "b")]


def test_a_branch_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(NotFoundError, match="'more'"):
        read(two_branches(), fallback="mre")


def test_under_time_travel_the_fallback_branch_is_as_old() -> None:
    table = two_branches()
    options = {"scan.fallback-branch": "more", "scan.snapshot-id": "1"}
    found = open_table(table.path, options=options).to_arrow()
    assert [row["k"] for row in rows_of(found)] == [1, 2]


def stamped(table: Table, **fields: list[int]) -> None:
    """Give the snapshots 1, 2, … these values of a field of theirs."""
    store = table._store
    for name, values in fields.items():
        for number, value in enumerate(values, 1):
            path = store.paths.snapshot(number)
            known = json.loads(store.file_io.read(path))
            store.file_io.replace(path, json.dumps({**known, name: value}).encode())


def interleaved() -> Table:
    """Commits of main and of the branch `fb` by turns; only then main is told to fall back.

    | time | 100 | 200 | 300 | 400 | 500 | 600 | 700 |
    | --- | --- | --- | --- | --- | --- | --- | --- |
    | main | | 1: m 10 | | 2: m 11 | | 3: a 12 | |
    | fb | 1: a 1 | | 2: b 2 | | 3: b 3 | | 4: c 4 |
    """
    table = append_table(COLUMNS, partition_by=["dt"])
    table.create_branch("fb")
    branch = open_table(table.path, branch="fb")
    for k, dt in ((10, "m"), (11, "m"), (12, "a")):
        table.append([{"k": k, "dt": dt}])
    for k, dt in ((1, "a"), (2, "b"), (3, "b"), (4, "c")):
        branch.append([{"k": k, "dt": dt}])
    stamped(table, timeMillis=[200, 400, 600], watermark=[20, 40, 60])
    stamped(branch, timeMillis=[100, 300, 500, 700], watermark=[10, 30, 50, 70])
    table.create_tag("first", 1)
    table.create_tag("second", 2)
    table.set_options({"scan.fallback-branch": "fb"})
    return open_table(table.path)


AT_FIRST, AT_SECOND, AT_THIRD = [1, 10], [1, 2, 10, 11], [2, 3, 10, 11, 12]
POINTS: dict[str, tuple[dict[str, str], list[int]]] = {
    "the newest": ({}, [2, 3, 4, 10, 11, 12]),
    "snapshot 1": ({"scan.snapshot-id": "1"}, AT_FIRST),
    "snapshot 2": ({"scan.snapshot-id": "2"}, AT_SECOND),
    "snapshot 3": ({"scan.snapshot-id": "3"}, AT_THIRD),
    "version 2": ({"scan.version": "2"}, AT_SECOND),
    "a tag": ({"scan.tag-name": "first"}, AT_FIRST),
    "a tag as a version": ({"scan.version": "second"}, AT_SECOND),
    "the time of main's commit": ({"scan.timestamp-millis": "400"}, AT_SECOND),
    "the time of the branch's commit": ({"scan.timestamp-millis": "500"}, [1, 2, 3, 10, 11]),
    "a time after all": ({"scan.timestamp-millis": "9999"}, [2, 3, 4, 10, 11, 12]),
    "a watermark of both": ({"scan.watermark": "15"}, [1, 2, 10]),
    "a watermark as a version": ({"scan.version": "watermark-35"}, [1, 2, 3, 10, 11]),
}


@pytest.mark.parametrize("point", POINTS)
def test_each_point_in_time_is_read_in_both_branches(point: str) -> None:
    table = interleaved()
    options, expected = POINTS[point]
    scan = open_table(table.path, options=options).scan()
    assert sorted(row["k"] for row in scan.to_arrow().to_pylist()) == expected
    assert scan.count() == len(expected)


def test_views_of_the_past_read_both_branches() -> None:
    table = interleaved()
    views = [
        (table.at(snapshot=2), AT_SECOND),
        (table.at(tag="second"), AT_SECOND),
        (table.at(watermark=15), [1, 2, 10]),
        (table.at(timestamp=datetime.fromtimestamp(0.5, UTC)), [1, 2, 3, 10, 11]),
    ]
    for view, expected in views:
        assert sorted(row["k"] for row in view.to_arrow().to_pylist()) == expected
    assert table.at(snapshot=2).inspect.partitions().num_rows == 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"incremental-between": "1,2"}, [2, 11]),
        ({"incremental-between": "1,3"}, [2, 3, 11, 12]),
        ({"incremental-between": "1,3", "incremental-between-scan-mode": "diff"}, [2, 3, 11, 12]),
        ({"incremental-between": "first,second"}, [2, 11]),
        ({"incremental-between-timestamp": "200,600"}, [2, 3, 11, 12]),
        ({"incremental-between-timestamp": "100,300"}, [2, 10]),
    ],
)
def test_increments_are_read_in_both_branches(options: dict[str, str], expected: list[int]) -> None:
    found = open_table(interleaved().path, options=options).to_arrow()
    assert sorted(row["k"] for row in found.to_pylist()) == expected


def test_a_watermark_that_the_fallback_branch_has_not_reached_is_told() -> None:
    table = interleaved()
    stamped(open_table(table.path, branch="fb"), watermark=[1, 2, 3, 4])
    with pytest.raises(NotFoundError, match=r"at least 15.*branch-fb"):
        table.at(watermark=15).to_arrow()


def test_the_primary_branch_is_as_old_as_the_snapshot() -> None:
    table = interleaved()
    options = {"scan.primary-branch": "fb", "scan.snapshot-id": "3"}
    table.set_options({"scan.fallback-branch": None})
    found = open_table(table.path, options=options).to_arrow()
    assert [row["k"] for row in rows_of(found)] == [1, 10, 11, 2, 3]


def test_a_branch_that_is_no_longer_set_is_not_read_under_time_travel() -> None:
    table = interleaved()
    table.append([{"k": 13, "dt": "m"}])
    table.set_options({"scan.fallback-branch": None})
    assert sorted(
        row["k"] for row in open_table(table.path).at(snapshot=4).to_arrow().to_pylist()
    ) == [10, 11, 12, 13]


def test_the_plan_has_stages_of_both_branches() -> None:
    table = two_branches()
    plan = open_table(table.path, options={"scan.fallback-branch": "more"}).scan().plan()
    assert [s.name for s in plan.stages if s.name.endswith("partitions")] == [
        "partitions",
        "more: partitions",
    ]


@pytest.mark.parametrize("name", ["chain_table", "fallback_branch"])
def test_partitions_of_both_branches_are_listed_as_java_lists_them(
    name: str, golden: GoldenTables
) -> None:
    expected = golden.table("java200", name)
    listed = expected.system["partitions"]
    assert isinstance(listed, list)
    wanted = ("partition", "record_count", "file_size_in_bytes", "file_count", "total_buckets")
    found = open_table(expected.folder).inspect.partitions().to_pylist()
    assert sorted([row[n] for n in wanted] for row in found) == sorted(
        [row[n] for n in wanted] for row in listed
    )


def test_a_chain_table_is_cut_by_partition(golden: GoldenTables) -> None:
    table = open_table(golden.table("java200", "chain_table").folder)
    whole = rows_of(table.to_arrow())
    for day in ("20240101", "20240102", "20240104"):
        found = rows_of(table.scan(where=f"dt = '{day}'").to_arrow())
        assert found == [row for row in whole if row["dt"] == day]


def diverged() -> Table:
    """Both branches have the column `c`; its field id 3 is that of another column in the branch."""
    table = append_table(KEYED_COLUMNS, [{"k": 1, "r": {"x": 1}, "dt": "m"}], partition_by=["dt"])
    table.create_branch("fb")
    branch = open_table(table.path, branch="fb")
    branch.add_column("d", "INT")
    branch.append([{"k": 2, "r": {"x": 2}, "dt": "x", "d": 7}])
    branch.drop_column("d")
    for one, names in ((table, ("c", "e", "r.y")), (branch, ("e", "r.y", "c"))):
        for name in names:
            one.add_column(name, "INT")
    row = {"k": 3, "r": {"x": 3, "y": 31}, "dt": "y", "c": 32, "e": 33}
    branch.append([row])
    return table


KEYED_COLUMNS = columns(k=pa.int32(), r=pa.struct([("x", pa.int32())]), dt=pa.string())
MAIN = {"k": 1, "r": {"x": 1, "y": None}, "dt": "m", "c": None, "e": None}
OLD = {"k": 2, "r": {"x": 2, "y": None}, "dt": "x", "c": None, "e": None}
NEW = {"k": 3, "r": {"x": 3, "y": 31}, "dt": "y", "c": 32, "e": 33}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("TRUE", [MAIN, OLD, NEW]),
        ("c = 32", [NEW]),
        ("c = 7 OR e = 7", []),
        ("c IS NULL", [MAIN, OLD]),
        ("e > 32 AND r.y = 31", [NEW]),
        ("dt = 'x' AND c IS NULL", [OLD]),
    ],
)
@pytest.mark.parametrize("option", ["fallback", "primary"])
def test_columns_of_another_branch_are_found_by_their_names(
    option: str, where: str, expected: list[dict[str, object]]
) -> None:
    options = {f"scan.{option}-branch": "fb"}
    scan = open_table(diverged().path, options=options).scan(where=where)
    assert sorted(rows_of(scan.to_arrow()), key=lambda row: str(row["dt"])) == expected
    assert scan.count() == len(expected)


def test_a_column_that_was_renamed_in_one_branch_keeps_its_values() -> None:
    table = two_branches()
    table.rename_column("k", "key")
    assert read(table, "key >= 2", fallback="more") == [(2, "b"), (30, "c")]


def test_a_column_that_another_branch_lacks_is_null_there() -> None:
    table = two_branches()
    open_table(table.path, branch="more").add_column("other", "INT")
    open_table(table.path, branch="more").append([{"k": 40, "dt": "d", "other": 5}])
    table.add_column("own", "INT")
    assert read(table, "dt > 'b'", fallback="more") == [(30, "c", None), (40, "d", None)]
