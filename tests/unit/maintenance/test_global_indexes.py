"""Building and dropping global indexes: what scans find with them, and conflicts."""

import pytest

from paimon_explore import Table, col
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError, InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.rewrites import global_indexes
from paimon_explore.maintenance.row_level.update_delete import update_rows
from support.global_indexes import TYPES, given
from support.small_tables import new_catalog

OPTIONS = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
KINDS = ("btree", "bitmap")


def table_of(columns: dict[str, str], partition_by: str | None = None) -> Table:
    return new_catalog().create_table("db.t", columns, partition_by=partition_by, options=OPTIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_is_indexed(kind: str) -> None:
    table = table_of(dict(TYPES))
    rows = given()
    for start in range(0, len(rows), 10):
        table.append(rows[start : start + 10])
    for column in TYPES:
        report = table.maintenance.create_global_index(column, kind)
        assert (len(report.files), report.row_count) == (1, len(rows)), column
        value = rows[9][column]
        shown = table.explain(where=col(column) == value)
        (note,) = shown.notes
        matching = [row for row in rows if row[column] == value]
        assert note == (
            f"Global index ({kind} of {column!r}): {len(matching)} of {len(rows)} rows are read; "
            "0 of them have no index."
        )
        found = table.scan(where=col(column) == value).to_arrow()
        assert found.num_rows == len(matching)
        nulls = table.scan(where=col(column).is_null()).to_arrow()
        assert nulls.num_rows == sum(row[column] is None for row in rows)


def indexed_ranges(table: Table) -> list[tuple[int, int]]:
    snapshot = table._store.snapshots.latest()
    assert snapshot is not None
    rows = table._store.manifests.index_of(snapshot).rows()
    found = [row["global_index"] for row in rows]
    return sorted((i["row_range_start"], i["row_range_end"]) for i in found if isinstance(i, dict))


def test_a_build_covers_the_rows_that_have_no_index() -> None:
    table = table_of({"k": "INT", "p": "INT"}, partition_by="p")
    for first in (0, 5):
        table.append([{"k": first + i, "p": i % 2} for i in range(5)])
    one = table.maintenance.create_global_index("k", partitions={"p": 1})
    assert one.row_count == 4
    rest = table.maintenance.create_global_index("k")
    assert rest.row_count == 6
    again = table.maintenance.create_global_index("k")
    assert (again.files, again.snapshot_id) == ((), None)
    table.append([{"k": 3, "p": 0}, {"k": 100, "p": 1}])
    assert set(table.scan(where="k = 3").to_arrow().column("p").to_pylist()) == {0, 1}
    assert table.maintenance.create_global_index("k").row_count == 2
    ranges = indexed_ranges(table)
    assert sorted(i for start, end in ranges for i in range(start, end + 1)) == list(range(12))
    for k in range(10):
        assert table.scan(where=f"k = {k}").count() == 1 + (k == 3)


def test_rows_are_divided_among_files_of_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_indexes, "RECORDS", 7)
    table = table_of({"k": "INT"})
    table.append([{"k": None if i % 10 == 0 else -i} for i in range(40)])
    report = table.maintenance.create_global_index("k")
    assert (len(report.files), report.row_count) == (6, 40)
    assert indexed_ranges(table) == [(0, 39)] * 6
    assert table.scan(where="k IS NULL").count() == 4
    assert [table.scan(where=f"k = {-i}").count() for i in range(1, 10)] == [1] * 9


def test_dropped_indexes_are_not_used() -> None:
    table = table_of({"k": "INT", "p": "INT"}, partition_by="p")
    table.append([{"k": i, "p": i % 2} for i in range(6)])
    table.maintenance.create_global_index("k")
    table.maintenance.create_global_index("k", "bitmap")
    planned = table.maintenance.drop_global_index("k", partitions={"p": 0}, dry_run=True)
    assert (len(planned.files), planned.snapshot_id) == (1, None)
    dropped = table.maintenance.drop_global_index("k", partitions={"p": 0})
    assert dropped.files == planned.files
    assert len(indexed_ranges(table)) == 3
    assert table.scan(where="k IN (2, 3)").count() == 2
    table.maintenance.drop_global_index("k")
    table.maintenance.drop_global_index("k", "bitmap")
    assert indexed_ranges(table) == []
    assert table.explain(where="k = 3").notes == ()
    assert table.scan(where="k = 3").count() == 1
    table.update({"k": 9}, where="k = 3")


def test_ignored_updates_are_not_forgotten_while_there_are_indexes() -> None:
    option = "global-index.column-update-action"
    table = table_of({"k": "INT"})
    table.append([{"k": 1}])
    table.maintenance.create_global_index("k")
    table.set_options({option: "ignore"})
    table.update({"k": 2})
    for value in ("throw-error", None):
        with pytest.raises(InvalidInputError, match=r"from 'ignore' .* drop_global_index"):
            table.set_options({option: value})
    table.maintenance.drop_global_index("k")
    table.set_options({option: None})
    assert table.scan(where="k = 2").count() == 1


def test_what_cannot_be_indexed_is_named() -> None:
    table = table_of({"k": "INT", "b": "BYTES", "a": "ARRAY<INT>"})
    with pytest.raises(InvalidInputError, match="Column 'x' does not exist"):
        table.maintenance.create_global_index("x")
    with pytest.raises(UnsupportedFeatureError, match="type 'lumina'"):
        table.maintenance.create_global_index("k", "lumina")
    table.append([{"k": 1, "b": b"x", "a": [1]}])
    for column in ("a", "b"):
        with pytest.raises(UnsupportedFeatureError, match="global index on a column of type"):
            table.maintenance.create_global_index(column)
    plain = new_catalog().create_table("db.t", {"k": "INT"})
    plain.append([{"k": 1}])
    with pytest.raises(UnsupportedFeatureError, match="without data evolution"):
        plain.maintenance.create_global_index("k")


def test_an_update_beside_a_new_index_conflicts_and_an_index_is_planned_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of({"k": "INT", "v": "INT"})
    table.append([{"k": i, "v": i} for i in range(5)])
    planned = update_rows(table._store, table.schema, table.options, {"k": 7}, "v = 1")
    other = update_rows(table._store, table.schema, table.options, {"v": 7}, "v = 1")
    table.maintenance.create_global_index("k")
    committer = Committer(table._store, table.schema)
    with pytest.raises(CommitConflictError, match="built a btree index over a column"):
        committer.commit(planned.messages, check_appends=True, planned_on=planned.planned_on)
    committer.commit(other.messages, check_appends=True, planned_on=other.planned_on)
    table.maintenance.drop_global_index("k")

    commit = Committer.commit

    def late(own: Committer, *args: object, **settings: object) -> object:
        monkeypatch.undo()
        table.update({"k": 8}, where="v = 2")
        return commit(own, *args, **settings)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(Committer, "commit", late)
    files = {status.path for status in table._store.file_io.walk(table.path)}
    report = table.maintenance.create_global_index("k")  # planned again
    assert report.row_count == 5
    made = {status.path for status in table._store.file_io.walk(table.path)} - files
    assert len([path for path in made if path.endswith(".index")]) == len(report.files)
    assert table.scan(where="k = 8").count() == 1
    assert table.scan(where="k = 2").count() == 0
