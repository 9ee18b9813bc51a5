"""What users of pyiceberg, delta-rs and pandas type first."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Catalog, Table
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
    needs_extra,
)
from paimon_explore.table.display import RENDERER
from paimon_explore.table.references import Listing
from support.small_tables import append_table, columns, keyed_table, new_catalog

IDS = columns(id=pa.int32(), name=pa.string())
ROW = pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string()), ("w", pa.int64())]))])
NESTED = columns(id=pa.int32(), R=ROW, **{"a.b": pa.string()})


def nested_table() -> Table:
    rows: list[dict[str, object]] = [
        {"id": 1, "R": {"x": 10, "y": {"z": "a", "w": 7}}, "a.b": "dot"},
        {"id": 2, "R": None, "a.b": None},
        {"id": 3, "R": {"x": None, "y": None}, "a.b": "dot"},
    ]
    return append_table(NESTED, rows)


def numbers(*commits: list[int]) -> Table:
    return append_table(IDS, *[[{"id": n, "name": f"n{n}"} for n in commit] for commit in commits])


@pytest.mark.parametrize(
    ("given", "keys"),
    [(None, ()), ("id", ("id",)), (["id"], ("id",)), (("name", "id"), ("name", "id")), ((), ())],
    ids=str,
)
def test_keys_and_partitions_take_a_name_names_none_or_nothing(
    given: str | Sequence[str] | None, keys: tuple[str, ...]
) -> None:
    catalog = new_catalog()
    keyed = catalog.create_table("db.k", IDS, primary_key=given)
    assert keyed.schema.primary_keys == keys
    parted = catalog.create_table("db.p", IDS, partition_by=given)
    assert parted.schema.partition_keys == keys
    assert catalog.create_table("db.n", IDS).schema.primary_keys == ()


def test_databases_and_tables_are_created_if_they_do_not_exist_and_dropped_if_they_do() -> None:
    catalog = new_catalog()
    catalog.create_database("db", if_not_exists=True)
    first = catalog.create_table("db.t", IDS)
    same = catalog.create_table("db.t", {"other": "BIGINT"}, if_not_exists=True)
    assert (same.path, same.schema) == (first.path, first.schema)
    with pytest.raises(AlreadyExistsError):
        catalog.create_database("db")
    with pytest.raises(AlreadyExistsError):
        catalog.create_table("db.t", IDS)
    catalog.drop_table("db.t", if_exists=True)
    catalog.drop_table("db.t", if_exists=True)
    catalog.drop_database("db", if_exists=True)
    catalog.drop_database("db", if_exists=True)
    with pytest.raises(NotFoundError):
        catalog.drop_database("db")
    assert catalog.databases() == []


def test_the_schema_of_a_table_is_changed_on_the_table() -> None:
    table = numbers([1])
    table.add_column("age", "INT", comment="in years", after="id")
    table.rename_column("name", "title")
    table.alter_column_type("age", "BIGINT")
    table.set_options({"snapshot.num-retained.min": 3})
    assert table.options["snapshot.num-retained.min"] == "3"
    table.set_options({"snapshot.num-retained.min": None})
    assert "snapshot.num-retained.min" not in table.options
    table.drop_column("title")
    assert table.schema.row_type.names == ("id", "age")
    assert table.to_arrow().to_pylist() == [{"id": 1, "age": None}]
    table.add_column("place", pa.struct([("x", pa.int32())]))
    table.alter_column_type("place.x", pa.int64())
    assert table.to_arrow().schema.field("place").type == pa.struct([("x", pa.int64())])
    with pytest.raises(InvalidInputError, match="Column 'size': 3 is not a type"):
        table.add_column("size", 3)  # type: ignore[arg-type]


def test_a_change_of_rows_is_named_in_its_snapshot() -> None:
    table = numbers([1], [2])
    table.update({"name": "'a'"}, "id = 1")
    table.merge([{"id": 1, "name": "b"}], on="id").when_matched_update(
        {"name": "source.name"}
    ).execute()
    pe.sql("DELETE FROM t WHERE id = 2", t=table)
    assert [one.operation for one in table.snapshots][-3:] == ["UPDATE", "MERGE", "DELETE"]
    assert {one.operation for one in list(table.snapshots)[:-3]} == {"WRITE"}
    table.overwrite([{"id": 1}])
    table.truncate()
    assert [one.operation for one in table.snapshots][-2:] == ["OVERWRITE", "TRUNCATE"]


def test_a_rollback_takes_one_point() -> None:
    table = numbers([1], [2])
    table.create_tag("v1", 1)
    with pytest.raises(InvalidInputError, match="a single point in time"):
        table.rollback_to(1, tag="v1")
    with pytest.raises(InvalidInputError, match="must be a snapshot id, the name of a tag"):
        table.rollback_to(1.5)  # type: ignore[arg-type]


def test_what_iteration_gives_is_in_the_collection_and_so_is_its_key() -> None:
    table = numbers([1], [2])
    table.create_tag("v1", 1)
    table.create_branch("side")
    list(table.changes(consumer_id="reader"))
    keys: dict[str, list[object]] = {
        "snapshots": [1, 2],
        "schemas": [0],
        "tags": ["v1"],
        "branches": ["side"],
        "consumers": ["reader"],
    }
    for name, expected in keys.items():
        holder = table.maintenance if name == "consumers" else table
        found: Listing[Any, Any] = getattr(holder, name)
        values = list(found)
        assert len(values) == len(found) == len(expected)
        assert all(value in found for value in values)
        assert all(key in found for key in expected)
        assert len(set(values)) == len(values)
        assert [found[key] for key in expected] == values
        others: list[object] = [99, "other", None, 1.5, [], {}]
        assert [other for other in others if other in found] == []


def test_a_snapshot_of_another_table_is_not_in_the_collection() -> None:
    table, other = numbers([1]), numbers([1])
    assert other.snapshot not in table.snapshots
    assert {*table.snapshots, *table.snapshots} == {table.snapshot}


def test_the_package_has_a_version() -> None:
    assert pe.__version__.split(".")[0].isdigit()
    assert "__version__" in dir(pe)


@pytest.mark.parametrize("name", ["db.t$snapshots", "db.t$branch_b$files", "sys.all_tables"])
def test_a_table_is_opened_by_table_and_a_system_table_by_system_table(name: str) -> None:
    catalog = new_catalog()
    table = catalog.create_table("db.t", IDS)
    table.create_branch("b")
    with pytest.raises(InvalidInputError, match=r"Open it with system_table\("):
        catalog.table(name)
    assert catalog.system_table(name).to_arrow().num_columns > 1
    with pytest.raises(InvalidInputError, match=r"Open the table with table\('db.t'\)"):
        catalog.system_table("db.t")
    assert table.inspect.system_table("snapshots").to_arrow().num_rows == 0


def test_a_scan_is_built_step_by_step() -> None:
    table = numbers([1, 2, 3, 4, 5])
    scan = table.scan().filter("id > 1").filter(pe.col("name") != "n3").select("name").limit(2)
    assert scan.to_arrow().to_pylist() == [{"name": "n2"}, {"name": "n4"}]
    assert scan.limit(5).count() == 2
    same = table.scan(["name"], "id > 1 AND name <> 'n3'", 2)
    assert (scan.columns, scan.where, scan.row_limit) == (same.columns, same.where, same.row_limit)
    assert table.scan().count() == 5


def test_a_selection_narrows_the_one_before() -> None:
    scan = numbers([1]).scan().select("id", ["name"])
    assert scan.columns == ("id", "name")
    assert scan.select(["name"]).columns == ("name",)
    with pytest.raises(InvalidInputError, match="no column 'name'"):
        scan.select("id").select("name")
    with pytest.raises(InvalidInputError, match="at least one column"):
        scan.select()


@pytest.mark.parametrize("given", [None, "", 5])
def test_a_filter_needs_a_condition(given: object) -> None:
    with pytest.raises(InvalidInputError):
        numbers([1]).scan().filter(given)  # type: ignore[arg-type]


def test_columns_and_conditions_follow_the_same_rule_of_case() -> None:
    table = append_table(
        columns(Id=pa.int32(), v=pa.int32(), V=pa.int32()), [{"Id": 1, "v": 2, "V": 3}]
    )
    assert table.scan(["ID"], "iD = 1").to_arrow().to_pylist() == [{"Id": 1}]
    assert table.scan(["V", "v"], "V = 3").to_arrow().to_pylist() == [{"V": 3, "v": 2}]
    ambiguous = append_table(columns(aB=pa.int32(), Ab=pa.int32()), [{"aB": 1, "Ab": 2}])
    with pytest.raises(InvalidInputError, match="ambiguous"):
        ambiguous.scan(["ab"])
    with pytest.raises(InvalidInputError, match="ambiguous"):
        ambiguous.scan(where="ab = 1")
    with pytest.raises(InvalidInputError, match="selected twice"):
        table.scan(["Id", "ID"])


@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        (["R.x"], {"R": {"x": 10}}),
        (["r.X", "id"], {"R": {"x": 10}, "id": 1}),
        (["R.y.w", "id", "R.x"], {"R": {"x": 10, "y": {"w": 7}}, "id": 1}),
        (["R.y"], {"R": {"y": {"z": "a", "w": 7}}}),
        (["R", "R.x"], {"R": {"x": 10, "y": {"z": "a", "w": 7}}}),
        (["a.b"], {"a.b": "dot"}),
    ],
    ids=str,
)
def test_columns_reach_into_rows_and_keep_one_column_per_row(
    wanted: list[str], first: dict[str, object]
) -> None:
    table = nested_table()
    rows = table.scan(wanted).to_arrow()
    assert rows.to_pylist()[0] == first
    assert rows.schema == table.scan(wanted).schema
    if "R" in first and "R" not in wanted:
        assert rows.to_pylist()[1]["R"] is None
    assert table.scan(wanted, "R.y.w = 7").to_arrow().to_pylist() == [first]
    assert table.scan(wanted, pe.col("r.y.z") == "a").count() == 1
    assert table.scan(wanted, limit=1).to_arrow().to_pylist() == [first]
    assert next(table.changes(columns=wanted)).rows.drop_columns("rowkind").to_pylist()[0] == first
    assert table.between(0, 1, columns=wanted).to_arrow().to_pylist()[0] == first


def test_fields_of_rows_are_selected_after_a_merge() -> None:
    def row(x: int) -> dict[str, object]:
        return {"id": 1, "R": {"x": x, "y": {"z": str(x), "w": x}}}

    table = keyed_table(NESTED, [row(1)], [row(2)], primary_key=["id"])
    assert table.scan(["R.y.z"]).to_arrow().to_pylist() == [{"R": {"y": {"z": "2"}}}]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("R.q", "Column 'R' has no field 'q'"),
        ("id.x", "Column 'id' of type INT has no field 'x'"),
        ("q.x", "The table has no column 'q.x'"),
        ("R.y.q", "Column 'R.y' has no field 'q'"),
    ],
)
def test_a_field_that_does_not_exist_is_named(wrong: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        nested_table().scan([wrong])


@pytest.mark.parametrize(
    ("column", "place"),
    [
        ("_ROW_ID", "columns of inspect.system_table\\('row_tracking'\\) and of SQL"),
        ("_sequence_number", "columns of inspect.system_table\\('row_tracking'\\) and of SQL"),
        ("__paimon_file_path", "pe.sql\\('SELECT \\*, __paimon_file_path FROM t', t=table\\)"),
    ],
)
def test_columns_of_other_readers_are_named_with_their_place(column: str, place: str) -> None:
    table = numbers([1])
    with pytest.raises(InvalidInputError, match=place):
        table.scan([column])
    with pytest.raises(InvalidInputError, match=place):
        table.count(f"{column} = 0")


@pytest.mark.parametrize("text", ["2100-11-22T05:04", "2100-11-22 05:04", "2100-11-22T05:04:01Z"])
def test_iso_text_is_a_time(text: str) -> None:
    table = numbers([1], [2])
    assert table.at(text).snapshot == table.snapshots[2]
    table.create_tag(text, 1)
    assert table.at(text).snapshot == table.snapshots[1]


def test_a_scan_prints_what_it_reads() -> None:
    table = numbers([1])
    assert repr(table.scan()) == "Scan of db.t, snapshot 1\n  columns: 'id', 'name'"
    scan = table.scan(["name"], "id > 1", 3)
    assert repr(scan).splitlines()[1:] == ["  columns: 'name'", "  where: id > 1", "  limit: 3"]
    empty = append_table(IDS).scan()
    assert repr(empty).startswith("Scan of db.t, no snapshot")


def test_the_catalog_gives_the_same_table_by_both_names() -> None:
    catalog: Catalog = pe.demo()
    assert isinstance(catalog.table("demo.orders"), Table)
    assert catalog.table("demo.trips$branch_draft")._store.paths.branch == "draft"


@pytest.mark.parametrize(
    ("module", "use"),
    [
        ("widgets.explorer", lambda table: table.explore()),
        ("widgets.warehouse", lambda _: pe.Catalog("memory://").explore()),
        ("widgets.charts", lambda _: RENDERER.figure(())),
        ("widgets.result_widgets", lambda table: RENDERER.widget(table.inspect.overview())),
    ],
    ids=["explorer", "warehouse", "chart", "widget"],
)
def test_an_error_in_a_module_of_ours_is_not_a_missing_package(
    module: str, use: Callable[[Table], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = numbers([1])
    monkeypatch.setitem(sys.modules, f"paimon_explore.{module}", None)
    with pytest.raises(ImportError, match=module):
        use(table)


def test_a_missing_package_of_an_extra_is_named() -> None:
    with (
        pytest.raises(UnsupportedFeatureError) as told,
        needs_extra("notebook", "opening the explorer"),
    ):
        raise ImportError(name="anywidget")
    assert str(told.value).startswith("Opening the explorer without the package anywidget")
    assert "pip install 'paimon-explore[notebook]'" in str(told.value)
