"""A REST catalog as users see it: requests that it takes, lists page by page, bad servers."""

import json
import pickle
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    InvalidInputError,
    InvalidResponseError,
    NotFoundError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.table.catalog.catalog import iter_table_names
from support.http_stub import Reply, Seen
from support.rest_catalog_stub import RestCatalogStub, StubTable, rest_catalog_stub
from support.s3 import s3_place
from support.small_tables import new_catalog

COLUMNS = {"id": "BIGINT NOT NULL", "dt": "STRING"}


def opened(stub: RestCatalogStub, **options: str) -> pe.Catalog:
    given = {"metastore": "rest", "uri": stub.url, "warehouse": "wh", "token": "t"}
    return pe.Catalog(options={**given, "max-retries": "0", "timeout": "5 s", **options})


def with_database(stub: RestCatalogStub) -> pe.Catalog:
    catalog = opened(stub)
    catalog.create_database("db")
    return catalog


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[RestCatalogStub]:
    with rest_catalog_stub(str(tmp_path)) as served:
        yield served


def test_ten_thousand_tables_are_listed_page_by_page(stub: RestCatalogStub) -> None:
    catalog = with_database(stub)
    schema: dict[str, object] = {"fields": []}
    for number in range(10_000):
        stub.tables["db", f"t{number:05}"] = StubTable(f"id-{number}", "/nowhere", schema)
    stub.seen.clear()
    names = iter_table_names(catalog, "db")
    assert stub.seen == []
    assert [next(names) for _ in range(150)] == [f"t{number:05}" for number in range(150)]
    assert len(stub.seen) == 2
    assert sum(1 for _ in names) == 9_850
    assert len(stub.seen) == 100


def test_a_pattern_is_sent_as_prefix_and_checked_here(stub: RestCatalogStub) -> None:
    catalog = with_database(stub)
    for name in ("orders", "orders_old", "ordersXold", "parts"):
        catalog.create_table(f"db.{name}", COLUMNS)
    stub.seen.clear()
    assert catalog.tables("db", "orders_o%") == ["orders_old"]
    assert catalog.tables("db", "%old") == ["ordersXold", "orders_old"]
    assert catalog.tables("db", "p%") == ["parts"]
    assert [seen.query.get("tableNamePattern") for seen in stub.seen] == ["orders%", None, "p%"]


def test_a_view_stays_if_the_server_refuses_its_replacement(stub: RestCatalogStub) -> None:
    view: dict[str, object] = {"schema": {"fields": [], "query": "SELECT 1"}}
    views, refusals = {"v": view}, [Reply(status=400, body={"message": "too long"})]

    def answer(request: Seen) -> Reply:
        kind, name = request.path.split("/")[-2:]
        match request.method:
            case "GET" if kind == "views":
                return Reply(body=views[name]) if name in views else Reply(status=404, body={})
            case "DELETE":
                del views[name]
            case "POST" if name == "views":
                if refusals:
                    return refusals.pop()
                body = json.loads(request.body)
                views[body["identifier"]["object"]] = {"schema": body["schema"]}
            case _:
                return stub.carry_out(request)
        return Reply(body=b"")

    catalog = opened(stub)
    stub.answer = answer
    with pytest.raises(InvalidInputError, match="too long"):
        catalog.create_view("db.v", "SELECT 2", {"x": "INT"}, replace=True)
    assert catalog.view("db.v").query == "SELECT 1"
    for name in ("db.v", "db.w"):
        catalog.create_view(name, "SELECT 2", {"x": "INT"}, replace=True)
        assert catalog.view(name).query == "SELECT 2"


def test_opening_and_planning_take_at_most_two_requests_more_than_in_a_folder() -> None:
    with s3_place("requests") as place, rest_catalog_stub(place.location, place.options) as stub:
        catalog = opened(stub, **place.options)
        catalog.create_database("db")
        table = catalog.create_table("db.t", COLUMNS, partition_by="dt")
        for number in range(3):
            table.append([{"id": number, "dt": "a"}])
        folder = pe.Catalog(place.location, storage_options=place.options)

        def requests(source: pe.Catalog) -> int:
            stub.seen.clear()
            place.requests.clear()
            plan = source.table("db.t").scan(where="id = 1").plan()
            assert sum(len(split.files) for split in plan.splits) == 1
            return len(stub.seen) + len(place.requests.log)

        requests(folder)  # what is cached is cached for both
        of_catalog = requests(catalog)
        assert len(stub.seen) == 2  # the table and its latest snapshot
        assert of_catalog <= requests(folder) + 2


def test_a_table_travels_to_another_process(stub: RestCatalogStub) -> None:
    catalog = with_database(stub)
    table = pickle.loads(pickle.dumps(catalog.create_table("db.t", COLUMNS)))  # noqa: S301 - ours
    table.append([{"id": 1, "dt": "a"}])
    latest = stub.tables["db", "t"].latest
    assert latest is not None
    assert latest["id"] == 1
    again = pickle.loads(pickle.dumps(catalog))  # noqa: S301 - ours
    assert again.table("db.t").count() == 1


def test_no_secret_is_shown(stub: RestCatalogStub) -> None:
    catalog = opened(stub, **{"s3.secret-key": "hidden"})
    shown = [repr(catalog), repr(catalog.options()), repr(catalog._metastore)]
    stub.databases["db"] = {}
    shown.append(repr(catalog.create_table("db.t", COLUMNS)._store))
    assert not [text for text in shown if "hidden" in text or "token='t'" in text]
    assert set(catalog.options()["token"]) == {"*"}


def test_a_wrong_token_is_told(stub: RestCatalogStub) -> None:
    with pytest.raises(AccessDeniedError, match=r"401 Unauthorized\. Check the token"):
        opened(stub, token="wrong")  # noqa: S106 - of the test


def test_a_token_that_expires_later_is_told_and_nothing_is_written(
    stub: RestCatalogStub, tmp_path: Path
) -> None:
    catalog = with_database(stub)
    table = catalog.create_table("db.t", COLUMNS)
    table.append([{"id": 1, "dt": "a"}])
    before = sorted(tmp_path.rglob("*"))
    acts: dict[str, Callable[[], object]] = {
        "open": lambda: catalog.table("db.t"),
        "read": table.to_arrow,
        "append": lambda: table.append([{"id": 2, "dt": "a"}]),
        "create table": lambda: catalog.create_table("db.u", COLUMNS),
        "drop table": lambda: catalog.drop_table("db.t"),
        "alter": lambda: table.add_column("x", "INT"),
        "tag": lambda: table.create_tag("one"),
        "branch": lambda: table.create_branch("b"),
        "rollback": lambda: table.rollback_to(1),
        "list": catalog.databases,
        "create view": lambda: catalog.create_view("db.v", "SELECT 1", {"x": "INT"}),
    }
    for name, act in acts.items():
        stub.script = [("/v1/", False, Reply(status=401))] * 10
        with pytest.raises(AccessDeniedError):
            act()
        stub.script = []
        written = [path for path in sorted(tmp_path.rglob("*")) if "bucket-" not in str(path)]
        assert written == [path for path in before if "bucket-" not in str(path)], name
    assert catalog.table("db.t").count() == 1


def test_a_host_that_does_not_answer_is_told() -> None:
    with socket.socket() as silent:  # accepts no connection
        silent.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StorageError, match="cannot be reached"):
            pe.Catalog(metastore="rest", uri=uri, token="t", max_retries=0)  # noqa: S106
    with pytest.raises(StorageError, match="cannot be reached"):
        pe.Catalog(metastore="rest", uri="http://nowhere.invalid", token="t", max_retries=0)  # noqa: S106


WRONG = {"databases": "db", "tables": 5, "id": [], "defaults": 5}
GARBAGE = {
    "not JSON": (Reply(body=b"<html>"), InvalidResponseError),
    "half a page": (Reply(body={"databases": ["db"] * 50}, sent=0.5), StorageError),
    "another object": (
        Reply(body=WRONG),
        StorageError,
    ),
    "a list": (Reply(body=[]), InvalidResponseError),
    "empty": (Reply(), InvalidResponseError),
    "500": (Reply(status=500), StorageError),
    "501": (Reply(status=501), UnsupportedFeatureError),
    "502": (Reply(status=502, body=b"Bad gateway"), StorageError),
    "redirect": (Reply(status=301, headers={"Location": "http://other/"}), StorageError),
    "nothing": (Reply(nothing=True), StorageError),
}


@pytest.mark.parametrize(("reply", "expected"), GARBAGE.values(), ids=GARBAGE)
def test_a_server_that_answers_garbage_is_told(
    stub: RestCatalogStub, reply: Reply, expected: type[PaimonError]
) -> None:
    catalog = with_database(stub)
    reads: list[Callable[[], object]] = [
        catalog.databases,
        lambda: catalog.tables("db"),
        lambda: catalog.database("db"),
        lambda: catalog.table("db.t"),
        lambda: catalog.view("db.v"),
        lambda: catalog.function("db.f"),
        lambda: opened(stub),
    ]
    for read in reads:
        stub.script = [("/v1/", False, reply)]
        with pytest.raises(expected):
            read()


TABLES: dict[str, dict[str, object]] = {
    "no schema": {"schema": None},
    "no path": {"path": None},
    "a path of the wrong type": {"path": 5},
    "no columns": {"schema": {"options": {}}},
    "a type that is none": {"schema": {"fields": [{"id": 0, "name": "a", "type": 7}]}},
    "two columns of one name": {
        "schema": {"fields": [{"id": i, "name": "a", "type": "INT"} for i in (0, 1)]}
    },
    "a key that is not a column": {"schema": {"fields": [], "primaryKeys": ["a"]}},
    "no schema id": {"schemaId": None},
    "external or not": {"isExternal": "no"},
}


@pytest.mark.parametrize("wrong", TABLES.values(), ids=TABLES)
def test_a_table_that_breaks_the_rules_is_told(
    stub: RestCatalogStub, wrong: dict[str, object]
) -> None:
    catalog = opened(stub)
    right = {
        "id": "u",
        "name": "t",
        "path": "/t",
        "isExternal": False,
        "schemaId": 0,
        "schema": {"fields": [{"id": 0, "name": "a", "type": "INT"}]},
    }
    stub.script = [("/tables/t", False, Reply(body={**right, **wrong}))]
    with pytest.raises(InvalidResponseError, match=r"Cannot load table 'db\.t' at"):
        catalog.table("db.t")


@pytest.mark.parametrize(
    "snapshot",
    [5, {"snapshot": 5}, {"snapshot": {"id": 1}}, {"snapshot": {"version": 9}}],
    ids=repr,
)
def test_a_snapshot_that_breaks_the_rules_is_told(stub: RestCatalogStub, snapshot: object) -> None:
    catalog = with_database(stub)
    table = catalog.create_table("db.t", COLUMNS)
    stub.script = [("/snapshot", False, Reply(body={"snapshot": snapshot}))]
    with pytest.raises(InvalidResponseError, match="load the latest snapshot"):
        table.to_arrow()


def test_names_with_special_characters_are_kept(stub: RestCatalogStub) -> None:
    catalog = opened(stub)
    name = "a b+c%d~ü"
    catalog.create_database(name)
    assert catalog.databases() == [name]
    assert catalog.database(name).name == name
    catalog.create_table(f"{name}.t t", COLUMNS)
    assert catalog.tables(name) == ["t t"]
    assert catalog.table(f"{name}.t t").count() == 0


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_names_that_would_be_another_path_are_refused(stub: RestCatalogStub, name: str) -> None:
    catalog = with_database(stub)
    table = catalog.create_table("db.t", COLUMNS)
    table.append([{"id": 1, "dt": "a"}])
    before = len(stub.seen)
    acts: list[Callable[[], object]] = [
        lambda: catalog.create_database(name),
        lambda: catalog.database_exists(name),
        lambda: catalog.database(name),
        lambda: catalog.alter_database(name, {"a": "b"}),
        lambda: catalog.drop_database(name, cascade=True, if_exists=True),
        lambda: catalog.tables(name),
        lambda: catalog.views(name),
        lambda: catalog.functions(name),
        lambda: catalog.drop_table(f"db.{name}", if_exists=True),
        lambda: catalog.rename_table("db.t", f"db.{name}"),
        lambda: catalog.drop_view(f"db.{name}", if_exists=True),
        lambda: catalog.drop_function(f"db.{name}", if_exists=True),
        lambda: table.create_branch(name),
        lambda: table.create_tag(name),
    ]
    for act in acts:
        with pytest.raises(InvalidInputError, match=f"'{name}'"):
            act()
    assert {seen.method for seen in stub.seen[before:]} <= {"GET"}


def test_what_exists_or_is_missing_is_told(stub: RestCatalogStub) -> None:
    catalog = with_database(stub)
    catalog.create_table("db.t", COLUMNS)
    with pytest.raises(AlreadyExistsError, match="'db'"):
        catalog.create_database("db")
    with pytest.raises(AlreadyExistsError, match="'t'"):
        catalog.create_table("db.t", COLUMNS)
    with pytest.raises(NotFoundError, match=r"'u' does not exist.*Did you mean 't'|'u'"):
        catalog.table("db.u")
    with pytest.raises(NotFoundError, match=r"Branch 'x' does not exist in db\.t"):
        catalog.table("db.t$branch_x")
    with pytest.raises(NotFoundError, match="Database 'other'"):
        catalog.table("other.t")
    with pytest.raises(UnsupportedFeatureError, match="Renaming a database"):
        catalog.rename_database("db", "other")
    with pytest.raises(InvalidInputError, match=r"needs the option 'uri'|requires option 'uri'"):
        pe.Catalog(metastore="rest", token="t")  # noqa: S106


def test_an_external_table_is_committed_to_its_folder(
    stub: RestCatalogStub, tmp_path: Path
) -> None:
    catalog = with_database(stub)
    folder = tmp_path / "elsewhere"
    table = catalog.create_table("db.t", COLUMNS, options={"path": str(folder)})
    assert table.path == str(folder)
    table.append([{"id": 1, "dt": "a"}])
    assert stub.tables["db", "t"].latest is None
    assert catalog.table("db.t").count() == 1
    assert not [seen for seen in stub.seen if seen.path.endswith(("/commit", "/snapshot"))]
    catalog.drop_table("db.t")
    assert pe.open_table(folder).count() == 1


def test_an_external_table_takes_over_the_table_in_its_folder(
    stub: RestCatalogStub, tmp_path: Path
) -> None:
    made = new_catalog(tmp_path / "w").create_table(
        "db.t", COLUMNS, primary_key="id", options={"bucket": 2}
    )
    made.upsert([{"id": 1, "dt": "a"}])
    catalog = with_database(stub)
    keyed: dict[str, str | int] = {"path": made.path, "bucket": 2}
    table = catalog.create_table("db.t", COLUMNS, primary_key="id", options=keyed)
    assert table.count() == 1
    schema = stub.tables["db", "t"].schema
    assert schema["primaryKeys"] == ["id"]
    assert schema["options"] == {"bucket": "2", "path": made.path}
    stub.seen.clear()
    with pytest.raises(InvalidInputError, match="other columns or keys"):
        catalog.create_table("db.u", {"id": "STRING"}, options={"path": made.path})
    with pytest.raises(InvalidInputError, match="Option 'bucket' of the new table differs"):
        catalog.create_table("db.u", COLUMNS, primary_key="id", options={**keyed, "bucket": 3})
    assert stub.seen == []
