from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, col, open_table, sql
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.metadata.schema.schema_change import SetComment
from support.small_tables import append_table, columns, keyed_table, new_catalog, rows_of

COLUMNS = columns(id=pa.int32(), name=pa.string())
ONE, TWO, THREE = ({"id": i, "name": n} for i, n in ((1, "a"), (2, "b"), (3, "c")))


def three_commits() -> Table:
    return append_table(COLUMNS, [ONE], [TWO], [THREE])


def opened(table: Table, **options: str) -> Table:
    dynamic = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    return open_table(table.path, options=dynamic)


def test_a_table_tells_its_place_and_what_it_holds() -> None:
    table = three_commits()
    assert table.name == "db.t"
    assert table.path.endswith("/wh/db.db/t")
    assert table._store.paths.branch == "main"
    assert table.schema.row_type.names == ("id", "name")
    assert table.snapshot is not None
    assert table.snapshot.id == 3
    assert [snapshot.id for snapshot in table.snapshots] == [1, 2, 3]
    assert [schema.id for schema in table.schemas] == [0]


def test_a_table_without_a_snapshot_is_empty_but_has_its_columns() -> None:
    table = new_catalog().create_table("db.t", COLUMNS)
    assert table.snapshot is None
    assert table.to_arrow().to_pylist() == []
    assert table.to_arrow().schema.names == ["id", "name"]
    assert table.scan().count() == 0


def test_the_past_is_read_by_snapshot_tag_time_and_version() -> None:
    table = three_commits()
    table.create_tag("two", 2)
    second = table.snapshots[2]
    moment = datetime.fromtimestamp(second.time_millis / 1000, tz=UTC)
    assert rows_of(table.at(snapshot=2).to_arrow()) == [ONE, TWO]
    assert rows_of(table.at(tag="two").to_arrow()) == [ONE, TWO]
    assert rows_of(table.at(version="two").to_arrow()) == [ONE, TWO]
    assert rows_of(table.at(version="1").to_arrow()) == [ONE]
    assert table.at(timestamp=moment.isoformat()).snapshot in [*table.snapshots]


def test_a_view_of_the_past_does_not_move_and_is_not_written() -> None:
    table = three_commits()
    view = table.at(snapshot=1)
    table.append([{"id": 4, "name": "d"}])
    assert rows_of(view.to_arrow()) == [ONE]
    with pytest.raises(InvalidInputError, match="read-only"):
        view.append([ONE])


CHANGES: dict[str, Callable[[Table], object]] = {
    "alter": lambda t: t.alter(SetComment(comment="c")),
    "add_column": lambda t: t.add_column("x", "INT"),
    "drop_column": lambda t: t.drop_column("name"),
    "rename_column": lambda t: t.rename_column("name", "title"),
    "alter_column_type": lambda t: t.alter_column_type("id", "BIGINT"),
    "set_options": lambda t: t.set_options({"file.format": "orc"}),
    "create_tag": lambda t: t.create_tag("v"),
    "delete_tag": lambda t: t.delete_tag("two"),
    "create_branch": lambda t: t.create_branch("b"),
    "delete_branch": lambda t: t.delete_branch("trial"),
    "fast_forward": lambda t: t.fast_forward("trial"),
    "rollback_to": lambda t: t.rollback_to(1),
    "maintenance": lambda t: t.maintenance.purge_files(dry_run=False),
}
"""Changes of a table that write no rows, by the name of the method."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_view_of_the_past_changes_neither_schema_nor_references(name: str) -> None:
    table = three_commits()
    table.create_tag("two", 2)
    table.create_branch("trial", "two")
    views = (table.at(1), opened(table, scan__tag_name="two"))
    for view in views:
        with pytest.raises(InvalidInputError, match="read-only"):
            CHANGES[name](view)
    CHANGES[name](table)


def test_options_that_pin_a_table_can_be_removed_from_it() -> None:
    table = three_commits()
    table.set_options({"scan.snapshot-id": 1})
    pinned = open_table(table.path)
    assert pinned.count() == 1
    pinned.set_options({"scan.snapshot-id": None})
    assert open_table(table.path).count() == 3


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"scan__snapshot_id": "2"}, 2),
        ({"scan__snapshot_id": "2", "scan__mode": "from-snapshot"}, 2),
        ({"scan__snapshot_id": "2", "scan__mode": "from-snapshot-full"}, 2),
        ({"scan__version": "1"}, 1),
        ({"scan__timestamp_millis": "99999999999999"}, 3),
        ({"scan__timestamp": "9999-01-01 00:00:00", "scan__mode": "from-timestamp"}, 3),
        ({"scan__mode": "latest"}, 3),
        ({"scan__mode": "latest-full"}, 3),
        ({"scan__mode": "full"}, 3),
        ({"scan__mode": "compacted-full"}, 3),
        ({"scan__mode": "latest-delta"}, 1),
        ({"incremental_between": "1,3"}, 2),
        ({"incremental_between": "2,2"}, 0),
        ({"incremental_between": "0,3", "scan__mode": "incremental"}, 3),
        ({"incremental_between_timestamp": "0,99999999999999"}, 3),
        ({"incremental_between_timestamp": "1970-01-02 00:00:00,1970-01-03 00:00:00"}, 0),
    ],
)
def test_scan_options_choose_what_is_read(options: dict[str, str], count: int) -> None:
    found = opened(three_commits(), **options)
    assert found.to_arrow().num_rows == count
    assert found.scan().count() == count


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scan__snapshot_id": "1", "scan__tag_name": "x"}, "Exactly one point"),
        ({"scan__timestamp": "2026-01-01", "scan__timestamp_millis": "1"}, "cannot be combined"),
        ({"scan__mode": "from-snapshot"}, "such as 'scan.snapshot-id'"),
        ({"scan__mode": "from-timestamp"}, "such as 'scan.timestamp-millis'"),
        (
            {"scan__mode": "latest-full", "scan__snapshot_id": "1"},
            "cannot be combined with a point in time",
        ),
        (
            {"scan__mode": "latest-delta", "scan__snapshot_id": "1"},
            "cannot be combined with a point in time",
        ),
        ({"scan__mode": "latest-delta", "incremental_between": "1,2"}, "cannot be combined"),
        ({"scan__mode": "incremental"}, "requires option 'incremental-between'"),
        ({"incremental_between": "1"}, "requires a start and an end"),
        ({"incremental_between": "3,1"}, "before the start"),
    ],
)
def test_scan_options_that_contradict_are_refused(options: dict[str, str], says: str) -> None:
    table = three_commits()
    with pytest.raises(InvalidInputError, match=says):
        opened(table, **options).to_arrow()


def test_the_newest_changes_are_those_of_rows_that_the_latest_snapshot_adds() -> None:
    newest = {"scan__mode": "latest-delta"}
    table = append_table(COLUMNS)
    assert opened(table, **newest).to_arrow().num_rows == 0
    table.append([ONE])
    assert rows_of(opened(table, **newest).to_arrow()) == [ONE]
    table.overwrite([ONE])
    assert opened(table, **newest).to_arrow().num_rows == 0


@pytest.mark.parametrize("mode", [{}, {"scan__mode": "from-file-creation-time"}])
def test_files_made_before_a_time_are_left_out(mode: dict[str, str]) -> None:
    table = three_commits()
    made = table.inspect.system_table("files").to_arrow().column("creation_time").to_pylist()
    moments = [round(one.astimezone().timestamp() * 1000) for one in made if one is not None]
    since = max(moments)
    chosen = opened(table, scan__file_creation_time_millis=str(since), **mode)
    assert chosen.count() == chosen.to_arrow().num_rows == moments.count(since)
    nothing = opened(table, scan__file_creation_time_millis=str(since + 60_000), **mode)
    assert (nothing.count(), nothing.to_arrow().num_rows) == (0, 0)


def test_the_explanation_tells_which_file_was_made_too_early() -> None:
    chosen = opened(three_commits(), scan__file_creation_time_millis="4102444800000")
    told = str(chosen.scan().explain().to_arrow().to_pylist())
    assert "is older than scan.file-creation-time-millis" in told
    assert "creation time >= 2100-01-0" in told or "creation time >= 2099-12-31" in told


def test_what_writes_sees_files_made_before_that_time_too() -> None:
    rows = [{"k": 1, "v": 1}, {"k": 2, "v": 2}]
    for keyed in (False, True):
        kind = columns(k=pa.int32(), v=pa.int32())
        table = keyed_table(kind, rows, primary_key=["k"]) if keyed else append_table(kind, rows)
        late = opened(table, scan__file_creation_time_millis="4102444800000")
        assert late.to_arrow().num_rows == 0
        late.delete("k = 1")
        assert opened(table).to_arrow().to_pylist() == [{"k": 2, "v": 2}]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"scan__mode": "from-creation-timestamp"}, InvalidInputError),
        ({"scan__mode": "from-file-creation-time"}, InvalidInputError),
        ({"incremental_to_auto_tag": "x"}, InvalidInputError),
        ({"incremental_between": "1,9"}, NotFoundError),
        ({"incremental_between": "a,b"}, NotFoundError),
        ({"scan__snapshot_id": "9"}, NotFoundError),
        ({"scan__fallback_branch": "nowhere"}, NotFoundError),
        ({"scan__primary_branch": "nowhere"}, NotFoundError),
    ],
)
def test_scan_options_that_name_what_is_not_there_are_refused(
    options: dict[str, str], error: type[Exception]
) -> None:
    table = three_commits()
    with pytest.raises(error):
        opened(table, **options).to_arrow()


def test_an_increment_between_tags_compares_states_unless_they_stand_for_snapshots() -> None:
    table = keyed_table(
        columns(k=pa.int32(), v=pa.string()),
        [{"k": 1, "v": "a"}],
        [{"k": 1, "v": "b"}],
        [{"k": 1, "v": "c"}],
        primary_key=["k"],
    )
    table.create_tag("first", 1)
    table.create_tag("last", 3)
    compared = opened(table, incremental_between="first,last")
    assert compared.to_arrow().to_pylist() == [{"k": 1, "v": "c"}]
    plain = opened(
        table, incremental_between="first,last", incremental_between_tag_to_snapshot="true"
    )
    assert rows_of(plain.to_arrow()) == [{"k": 1, "v": "b"}, {"k": 1, "v": "c"}]


def test_an_increment_has_no_plan_of_its_own() -> None:
    scan = opened(three_commits(), incremental_between="1,3").scan(["id"], "id > 1", limit=1)
    assert scan.to_arrow().to_pylist() == [{"id": 2}]
    with pytest.raises(InvalidInputError, match="no single plan"):
        scan.plan()


def test_system_tables_are_reached_by_name_and_as_methods() -> None:
    table = three_commits()
    assert table.inspect.system_table("snapshots").to_arrow().num_rows == 3
    assert table.inspect.snapshots().num_rows == 3
    assert table.at(snapshot=2).inspect.files().num_rows == 2
    assert "system tables:" in repr(table.inspect)
    with pytest.raises(NotFoundError, match="'snapshots'"):
        table.inspect.system_table("snapshot")


def test_a_table_prints_itself_even_when_it_is_damaged() -> None:
    table = three_commits()
    assert "snapshot 3" in repr(table)
    assert "<h3>db.t</h3>" in table._repr_html_()
    table._store.file_io.replace(table._store.paths.snapshot(3), b"{}")
    assert "t" in repr(table)


def test_rows_go_to_other_libraries() -> None:
    table = three_commits()
    assert table.scan().to_batches().read_all().num_rows == 3
    assert sorted(table.to_pandas()["id"]) == [1, 2, 3]
    assert sorted(table.scan().to_polars()["id"]) == [1, 2, 3]
    total = table.scan().to_duckdb("rows").sql("SELECT sum(id) FROM rows").fetchall()
    assert total == [(6,)]
    assert pa.table(table).num_rows == 3
    assert pa.table(table.inspect.system_table("files")).num_rows == 3
    assert list(table.inspect.system_table("files").to_pandas()["record_count"]) == [1, 1, 1]
    assert repr(table.inspect.system_table("files")).startswith(
        "rows of db.t$files; columns 'partition'"
    )


def test_members_of_rows_are_selected_from_changes_and_system_tables() -> None:
    inner = pa.struct([("x", pa.int32()), ("y", pa.string())])
    row = {"id": 1, "r": {"x": 1, "y": "a"}}
    table = keyed_table(columns(id=pa.int32(), r=inner), [row], primary_key=["id"])
    for rows in (table.between(0, 1), table.inspect.system_table("audit_log")):
        found = rows.scan(["r.x", "id"], "r.y = 'a'").to_arrow()
        assert found.schema.field("r").type == pa.struct([("x", pa.int32())])
        assert found.to_pylist() == [{"r": {"x": 1}, "id": 1}]


def test_every_door_to_pandas_takes_dates_after_the_year_9999() -> None:
    table = append_table(columns(d=pa.date32()))
    table.append(pa.table({"d": pa.array([2_932_897], pa.int32()).cast(pa.date32())}))
    changes, log = table.between(0, 1), table.inspect.system_table("audit_log")
    for rows in (table, table.scan(), changes, log, sql("SELECT d FROM t", t=table)):
        assert rows.to_pandas().dtypes["d"].kind == "M"
    assert table.to_pandas(dtype_backend="numpy_nullable").dtypes["d"].kind == "M"
    maps = pa.map_(pa.string(), pa.timestamp("us"))
    nested = append_table(columns(m=maps))
    late = pa.array([[("a", 2**60)]], pa.map_(pa.string(), pa.int64()))
    nested.append(pa.table({"m": late.cast(maps)}))
    with pytest.raises(InvalidInputError, match="dtype_backend='pyarrow'"):
        nested.to_pandas()
    assert nested.to_pandas(dtype_backend="pyarrow").shape == (1, 1)


def test_arrow_scalars_of_days_after_the_year_9999_name_partitions() -> None:
    schema = columns(id=pa.int32(), d=pa.date32())
    table = append_table(schema, partition_by=["d"])
    days = pa.array([2_932_897, 0], pa.int32()).cast(pa.date32())
    table.append(pa.table({"id": pa.array([1, 2], pa.int32()), "d": days}))
    with pytest.raises(InvalidInputError, match="Write it as text"):
        table.count(col("d") == days[0])
    assert table.count("d = DATE '10000-01-01'") == 1
    table.drop_partitions({"d": days[0]})
    assert table.scan(["id"]).to_arrow().to_pylist() == [{"id": 2}]


def test_names_of_tables_come_from_their_folders() -> None:
    table = new_catalog().create_table("db.t", COLUMNS)
    table.append([ONE])
    table.create_branch("b")
    assert open_table(table.path, branch="b").name == "db.t$branch_b"
    assert open_table(table.path, options={"branch": "b"})._store.paths.branch == "b"


def test_the_explorer_opens_at_the_snapshot_that_is_read() -> None:
    table = three_commits()
    assert table.explore().selected == 3
    assert table.at(snapshot=2).explore(height=300).selected == 2


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("keyed", [False, True])
def test_a_partition_keeps_the_spaces_that_files_may_not_tell(
    tmp_path: Path, file_format: str, *, keyed: bool
) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t",
        {"p": "CHAR(3) NOT NULL", "k": "CHAR(3) NOT NULL", "v": "INT"},
        primary_key=["p", "k"] if keyed else [],
        partition_by="p",
        options={
            "file.format": file_format,
            "bucket": "1",
            **({} if keyed else {"bucket-key": "k"}),
        },
    )
    table.append([{"p": p, "k": "x", "v": v} for p, v in (("a", 1), ("a  ", 2), ("abc", 3))])
    assert rows_of(table.to_arrow().select(["p", "v"])) == [
        {"p": "a  ", "v": 2},
        {"p": "a", "v": 1},
        {"p": "abc", "v": 3},
    ]
    assert table.scan(where=col("p") == "a  ").to_arrow().column("v").to_pylist() == [2]
    assert table.maintenance.fsck(read_rows=True) == []
