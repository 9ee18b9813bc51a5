import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import NotFoundError
from support.golden import GoldenTables
from support.small_tables import append_table, columns, rows_of

COLUMNS = columns(k=pa.int32(), dt=pa.string())


def two_branches() -> Table:
    """Main has the partitions a and b, the branch `more` b and c."""
    table = append_table(COLUMNS, [{"k": 1, "dt": "a"}, {"k": 2, "dt": "b"}], partition_by=["dt"])
    table.maintenance.create_branch("more")
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


def test_the_plan_tells_cuts_of_both_branches() -> None:
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
