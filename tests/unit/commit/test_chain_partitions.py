"""Overwrites and expiry of partitions in the branches of a chain table."""

from datetime import datetime, timedelta

import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import CommitError, InvalidInputError
from paimon_explore.maintenance.expiry.partition_expiry import expire_partitions, expiry_of
from paimon_explore.metadata.options.table_options import TableOptions
from support.chain_tables import CHANGES, WHOLE, chains, spec


def partitions(catalog: Catalog, branch: str) -> list[tuple[str, int]]:
    rows = catalog.table(f"db.t$branch_{branch}").to_arrow().to_pylist()
    return sorted({(row["region"], int(row["dt"][-1])) for row in rows})


@pytest.mark.parametrize(
    ("partition", "is_kept"),
    [(("eu", 1), True), (("eu", 4), False), (("us", 2), False), (("us", 3), False)],
)
def test_a_whole_partition_that_later_changes_need_is_not_dropped(
    partition: tuple[str, int],
    is_kept: bool,  # noqa: FBT001
) -> None:
    catalog = chains()
    whole = catalog.table("db.t$branch_snapshot")
    if is_kept:
        with pytest.raises(InvalidInputError, match=r"'20260101'.*cannot be dropped.*'20260102'"):
            whole.drop_partitions(spec(*partition))
        whole.overwrite([{"k": 9, "n": 9}], partition=spec(*partition))
    else:
        whole.drop_partitions(spec(*partition))
    left = [one for one in WHOLE if is_kept or one != partition]
    assert partitions(catalog, "snapshot") == left


def rows_of(table: Table, day: int) -> list[object]:
    rows = table.scan(where=f"region = 'us' AND dt = '2026010{day}'").to_arrow()
    return sorted(row["k"] for row in rows.to_pylist())


def test_overwritten_changes_replace_the_whole_partition() -> None:
    catalog = chains()
    changes, table = catalog.table("db.t$branch_delta"), catalog.table("db.t")
    assert table.maintenance.compact_chain_table(spec("us", 4)) is not None
    assert rows_of(table, 4) == [3, 4]
    changes.upsert([{**spec("us", 4), "k": 8, "n": 8}])
    assert rows_of(table, 4) == [3, 4]
    changes.overwrite([{"k": 9, "n": 9}], partition=spec("us", 4))
    assert rows_of(table, 4) == [3, 9]
    assert partitions(catalog, "snapshot") == WHOLE
    changes.overwrite([{"k": 7, "n": 7}], partition=spec("us", 3))
    assert rows_of(table, 3) == [2, 7]
    with pytest.raises(InvalidInputError, match="cannot be dropped"):
        changes.overwrite([{"k": 7, "n": 7}], partition=spec("eu", 1))
    assert rows_of(table, 4) == [2, 7, 9]


def test_changes_that_are_hidden_by_a_whole_partition_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = chains().table("db.t$branch_delta")

    def fail(*_: object) -> object:
        raise CommitError("others commit too often")

    monkeypatch.setattr("paimon_explore.commit.chain_partitions.overwritten_partitions", fail)
    with pytest.warns(RuntimeWarning, match="snapshot branch: others commit too often"):
        assert changes.overwrite([{"k": 7, "n": 7}], partition=spec("us", 3)) is not None


@pytest.mark.parametrize(
    ("branch", "day", "gone"),
    [
        ("main", 4, [("us", 1), ("us", 2)]),
        ("snapshot", 5, [("eu", 2), ("us", 1), ("eu", 1), ("us", 2)]),
        ("delta", 9, [("eu", 2), ("us", 1), ("eu", 1), ("us", 2)]),
        ("main", 3, []),
    ],
)
def test_the_newest_whole_partition_of_each_chain_does_not_expire(
    branch: str, day: int, gone: list[tuple[str, int]]
) -> None:
    catalog = chains()
    own = catalog.table("db.t" if branch == "main" else f"db.t$branch_{branch}")
    options = TableOptions(own.schema.options)
    expiry = expiry_of(options, timedelta(0))
    moment = datetime(2026, 1, day)  # noqa: DTZ001 - partitions have local times
    found = expire_partitions(own._store, options, expiry, now=lambda: moment)
    assert [(row["region"], int(str(row["dt"])[-1])) for row in found] == gone
    assert partitions(catalog, "delta") == [one for one in CHANGES if one not in gone]
    assert partitions(catalog, "snapshot") == [one for one in WHOLE if one not in gone]
