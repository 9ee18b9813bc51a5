"""Row filters and column masks of a REST catalog are applied, or the table is not read."""

import json
from collections.abc import Callable, Iterator

import pytest

import paimon_explore as pe
from paimon_explore.errors import AccessDeniedError, InvalidResponseError, UnsupportedFeatureError
from support.http_stub import Reply
from support.rest_catalog_stub import RestCatalogStub, rest_catalog_stub

COLUMNS = {"id": "INT NOT NULL", "name": "STRING", "city": "STRING", "pay": "DOUBLE"}
ROWS: list[dict[str, object]] = [
    {"id": 1, "name": "Ada", "city": "Oslo", "pay": 1.0},
    {"id": 2, "name": "Bob", "city": None, "pay": 2.0},
    {"id": 3, "name": "Cid", "city": "Lyon", "pay": None},
    {"id": 4, "name": None, "city": "Oslo", "pay": 4.0},
]
NAME = ("db", "t")


def field(name: str) -> dict[str, object]:
    return {"index": 7, "name": name, "type": "STRING"}


def leaf(name: str, function: str, *literals: object) -> dict[str, object]:
    transform = {"name": "FIELD_REF", "fieldRef": field(name)}
    return {
        "kind": "LEAF",
        "transform": transform,
        "function": function,
        "literals": list(literals),
    }


def compound(function: str, *children: object) -> dict[str, object]:
    return {"kind": "COMPOUND", "function": function, "children": list(children)}


def text(name: str, *inputs: object) -> dict[str, object]:
    return {"name": name, "inputs": list(inputs)}


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalogStub]:
    with rest_catalog_stub(str(tmp_path_factory.mktemp("rules"))) as served:
        yield served


@pytest.fixture(scope="module")
def catalog(stub: RestCatalogStub) -> pe.Catalog:
    found = pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
    found.create_database("db")
    table = found.create_table("db.t", COLUMNS, options={"query-auth.enabled": True})
    table.append(ROWS)
    return found


@pytest.fixture
def table(catalog: pe.Catalog, stub: RestCatalogStub) -> pe.Table:
    stub.auth.clear()
    return catalog.table("db.t")


def restrict(
    stub: RestCatalogStub, *filters: object, masks: dict[str, object] | None = None
) -> None:
    stub.auth[NAME] = {
        "filter": [json.dumps(one) for one in filters],
        "columnMasking": {name: json.dumps(mask) for name, mask in (masks or {}).items()},
    }


CONDITIONS = {
    "equal": (leaf("city", "EQUAL", "Oslo"), [1, 4]),
    "not equal": (leaf("city", "NOT_EQUAL", "Oslo"), [3]),
    "less": (leaf("id", "LESS_THAN", 2), [1]),
    "less or equal": (leaf("id", "LESS_OR_EQUAL", 2), [1, 2]),
    "greater": (leaf("pay", "GREATER_THAN", 1.5), [2, 4]),
    "greater or equal": (leaf("pay", "GREATER_OR_EQUAL", 2), [2, 4]),
    "null": (leaf("pay", "IS_NULL"), [3]),
    "not null": (leaf("city", "IS_NOT_NULL"), [1, 3, 4]),
    "starts with": (leaf("name", "STARTS_WITH", "A"), [1]),
    "ends with": (leaf("name", "ENDS_WITH", "d"), [3]),
    "contains": (leaf("name", "CONTAINS", "o"), [2]),
    "like": (leaf("name", "LIKE", "_i%"), [3]),
    "in": (leaf("id", "IN", 1, 4, 9), [1, 4]),
    "not in": (leaf("city", "NOT_IN", "Oslo", "Rome"), [3]),
    "between": (leaf("id", "BETWEEN", 2, 3), [2, 3]),
    "not between": (leaf("id", "NOT_BETWEEN", 2, 3), [1, 4]),
    "true": ({"kind": "LEAF", "function": "TRUE", "literals": []}, [1, 2, 3, 4]),
    "false": ({"kind": "LEAF", "function": "FALSE", "literals": []}, []),
    "and": (compound("AND", leaf("city", "EQUAL", "Oslo"), leaf("id", "LESS_THAN", 3)), [1]),
    "or": (compound("OR", leaf("id", "EQUAL", 2), leaf("id", "EQUAL", 3)), [2, 3]),
    "upper": (
        {
            "kind": "LEAF",
            "function": "EQUAL",
            "literals": ["BOB"],
            "transform": text("UPPER", field("name")),
        },
        [2],
    ),
}


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS.values(), ids=CONDITIONS)
def test_only_rows_that_the_filter_allows_are_read(
    stub: RestCatalogStub, table: pe.Table, condition: object, expected: list[int]
) -> None:
    restrict(stub, condition)
    assert table.to_arrow()["id"].to_pylist() == expected
    assert [row["id"] for row in table.scan().to_batches().read_all().to_pylist()] == expected
    assert table.count() == len(expected)
    assert table.scan(["name"]).to_arrow().num_rows == len(expected)


def test_several_filters_hold_at_once_and_with_the_condition_of_the_user(
    stub: RestCatalogStub, table: pe.Table
) -> None:
    restrict(stub, leaf("id", "LESS_THAN", 4), leaf("city", "IS_NOT_NULL"))
    assert table.to_arrow()["id"].to_pylist() == [1, 3]
    assert table.scan(["id"], "city = 'Oslo'").to_arrow().to_pylist() == [{"id": 1}]
    assert table.scan(where="city = 'Oslo'").count() == 1
    assert table.scan(limit=1).to_arrow().num_rows == 1
    assert table.scan(limit=1).count() == 1


MASKS = {
    "null": ({"name": "NULL"}, [None, None, None, None]),
    "another column": (
        {"name": "FIELD_REF", "fieldRef": field("city")},
        ["Oslo", None, "Lyon", "Oslo"],
    ),
    "upper": (text("UPPER", field("name")), ["ADA", "BOB", "CID", None]),
    "lower": (text("LOWER", field("name")), ["ada", "bob", "cid", None]),
    "constant": (text("CONCAT", "***"), ["***"] * 4),
    "concatenated": (text("CONCAT", "x", field("city")), ["xOslo", None, "xLyon", "xOslo"]),
    "cast": (
        {"name": "CAST", "fieldRef": field("id"), "type": "STRING"},
        ["1", "2", "3", "4"],
    ),
}


@pytest.mark.parametrize(("mask", "expected"), MASKS.values(), ids=MASKS)
def test_values_are_masked(
    stub: RestCatalogStub, table: pe.Table, mask: object, expected: list[str | None]
) -> None:
    restrict(stub, masks={"name": mask})
    found = table.to_arrow()
    assert found["name"].to_pylist() == expected
    assert found["id"].to_pylist() == [1, 2, 3, 4]
    assert found.schema == table.scan().schema
    assert table.scan(["name"]).to_arrow()["name"].to_pylist() == expected
    assert table.scan(["id"]).to_arrow().schema.names == ["id"]


def test_the_condition_of_the_user_sees_masked_values(
    stub: RestCatalogStub, table: pe.Table
) -> None:
    restrict(stub, leaf("id", "LESS_THAN", 4), masks={"name": text("UPPER", field("name"))})
    assert table.scan(["id"], "name = 'Ada'").to_arrow().num_rows == 0
    assert table.scan(["id"], "name = 'ADA'").to_arrow().to_pylist() == [{"id": 1}]
    assert table.scan(where="name = 'ADA'").count() == 1
    assert table.scan(where="name = 'Ada'").count() == 0


def test_the_filter_sees_stored_values(stub: RestCatalogStub, table: pe.Table) -> None:
    restrict(stub, leaf("name", "EQUAL", "Ada"), masks={"name": {"name": "NULL"}})
    assert table.scan(["id", "name"]).to_arrow().to_pylist() == [{"id": 1, "name": None}]


def test_masks_of_several_columns_see_stored_values(stub: RestCatalogStub, table: pe.Table) -> None:
    swap: dict[str, object] = {
        "name": {"name": "FIELD_REF", "fieldRef": field("city")},
        "city": {"name": "FIELD_REF", "fieldRef": field("name")},
    }
    restrict(stub, leaf("id", "EQUAL", 1), masks=swap)
    expected = [{"name": "Oslo", "city": "Ada"}]
    assert table.scan(["name", "city"]).to_arrow().to_pylist() == expected


@pytest.mark.parametrize(
    "condition",
    [
        [],
        {"kind": "MAYBE"},
        {"kind": "COMPOUND", "function": "XOR", "children": [leaf("id", "EQUAL", 1)]},
        compound("AND"),
        leaf("id", "SOUNDS_LIKE", 1),
        leaf("id", "EQUAL"),
        leaf("id", "EQUAL", 1, 2),
        leaf("id", "EQUAL", "1"),
        leaf("id", "EQUAL", *[True]),
        leaf("id", "EQUAL", 2**70, 1),
        leaf("id", "BETWEEN", 1),
        leaf("nowhere", "EQUAL", 1),
        {"kind": "LEAF", "function": "EQUAL", "literals": [1], "transform": {"name": "MD5"}},
        {"kind": "LEAF", "function": "EQUAL", "literals": ["a"], "transform": text("UPPER", 5)},
    ],
)
def test_a_filter_that_is_not_understood_refuses_the_read(
    stub: RestCatalogStub, table: pe.Table, condition: object
) -> None:
    restrict(stub, condition)
    for read in (table.to_arrow, table.count, lambda: table.scan().to_batches().read_all()):
        with pytest.raises(UnsupportedFeatureError, match="row filter or column mask"):
            read()


@pytest.mark.parametrize(
    "mask",
    [
        {"name": "MD5", "inputs": []},
        text("CONCAT_WS", "-", field("name")),
        text("UPPER", field("id")),
        {"name": "FIELD_REF", "fieldRef": field("id")},
        {"name": "CAST", "fieldRef": field("id"), "type": "FROB"},
        "text",
    ],
)
def test_a_mask_that_is_not_understood_refuses_the_read(
    stub: RestCatalogStub, table: pe.Table, mask: object
) -> None:
    restrict(stub, masks={"name": mask})
    with pytest.raises(UnsupportedFeatureError):
        table.to_arrow()
    restrict(stub, masks={"nowhere": {"name": "NULL"}})
    with pytest.raises(UnsupportedFeatureError, match="does not have"):
        table.to_arrow()


@pytest.mark.parametrize("body", [{"filter": "x"}, {"columnMasking": ["x"]}, {"filter": [5]}])
def test_garbage_instead_of_rules_refuses_the_read(
    stub: RestCatalogStub, table: pe.Table, body: dict[str, object]
) -> None:
    stub.auth[NAME] = body
    with pytest.raises(InvalidResponseError):
        table.to_arrow()


def test_a_refused_query_is_told(stub: RestCatalogStub, table: pe.Table) -> None:
    stub.script = [("/auth", False, Reply(status=403, body={"message": "column pay", "code": 403}))]
    with pytest.raises(AccessDeniedError, match="column pay"):
        table.to_arrow()


def test_the_server_is_told_which_columns_are_read(stub: RestCatalogStub, table: pe.Table) -> None:
    stub.seen.clear()
    assert table.scan(["name"], "pay > 1").to_arrow().num_rows == 2
    told = [seen.json for seen in stub.seen if seen.path.endswith("/auth")]
    assert told == [{"select": ["name", "pay"]}]


def test_a_read_cannot_disable_the_rules(stub: RestCatalogStub, catalog: pe.Catalog) -> None:
    restrict(stub, leaf("id", "EQUAL", 1))
    table = catalog.table("db.t", {"query-auth.enabled": False})
    assert table.count() == 1


def test_other_ways_to_rows_are_refused_while_there_are_rules(
    stub: RestCatalogStub, table: pe.Table
) -> None:
    ways: dict[str, Callable[[], object]] = {
        "audit log": lambda: table.inspect.system_table("audit_log").to_arrow(),
        "delete": lambda: table.delete("id = 4"),
        "update": lambda: table.update({"pay": "1.0"}, "id = 4"),
    }
    restrict(stub, leaf("id", "EQUAL", 1))
    for way in ways.values():
        with pytest.raises(UnsupportedFeatureError, match="restricted by the catalog"):
            way()
    stub.auth.clear()
    assert ways["audit log"]() is not None
    assert table.count() == 4


def test_compaction_keeps_the_rows_that_are_hidden(stub: RestCatalogStub) -> None:
    catalog = pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
    catalog.create_database("db", if_not_exists=True)
    table = catalog.create_table(
        "db.k",
        COLUMNS,
        primary_key="id",
        options={
            "query-auth.enabled": True,
            "bucket": 1,
            "deletion-vectors.enabled": True,
            "pk-btree.index.columns": "name",
        },
    )
    for row in ROWS:
        table.upsert([row])
    stub.auth["db", "k"] = {"filter": [json.dumps(leaf("id", "EQUAL", 1))]}
    table.compact(full=True)
    assert table.count() == 1
    stub.auth.clear()
    assert table.count() == 4


def test_a_profile_has_no_statistics_of_what_the_rules_hide(
    stub: RestCatalogStub, table: pe.Table
) -> None:
    restrict(stub, leaf("id", "LESS_THAN", 3), masks={"pay": {"name": "NULL"}})
    stored = table.profile()
    assert stored.rows is None
    assert stored.notes == (
        "No statistics: the catalog restricts which rows or values may be read.",
    )
    assert [(one.nulls, one.minimum, one.maximum) for one in stored.columns] == [
        (None, None, None)
    ] * 4
    read = table.profile(where="id > 1", exact=True)
    assert read.rows == 1
    assert read.to_arrow().select(["column", "nulls", "min"]).to_pylist() == [
        {"column": "id", "nulls": 0, "min": "2"},
        {"column": "name", "nulls": 0, "min": "Bob"},
        {"column": "city", "nulls": 1, "min": None},
        {"column": "pay", "nulls": 1, "min": None},
    ]
