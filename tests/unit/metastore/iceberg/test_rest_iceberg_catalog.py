"""Registration of Iceberg metadata in an Iceberg REST catalog, after every kind of change."""

import json
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import IcebergMetadataWarning, PaimonWarning
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metastore.rest.rest_client import RestClient
from support.http_stub import Reply, Seen
from support.iceberg_reader import IcebergReader
from support.iceberg_rest_stub import IcebergRestStub, iceberg_rest_stub
from support.iceberg_warnings import told
from support.small_tables import append_table, columns, keyed_table, new_catalog, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.string())
ROWS: list[dict[str, object]] = [{"k": 1, "v": "a"}, {"k": 2, "v": None}]
IN_TABLE = {
    "metadata.iceberg.storage": "rest-catalog",
    "metadata.iceberg.storage-location": "table-location",
}
CANARY = "c4n4ryQ"


@pytest.fixture
def catalog() -> Iterator[IcebergRestStub]:
    with iceberg_rest_stub() as made:
        yield made


def options_of(catalog: IcebergRestStub, **more: str) -> dict[str, str]:
    rest = {f"metadata.iceberg.rest.{key}": value for key, value in more.items()}
    return {**IN_TABLE, "metadata.iceberg.rest.uri": catalog.url, **rest}


def plain(catalog: IcebergRestStub, options: Mapping[str, str] | None = None) -> Table:
    return append_table(COLUMNS, options={**options_of(catalog), **(options or {})})


def registered(table: Table, catalog: IcebergRestStub, name: str = "t") -> IcebergReader:
    """What readers of the catalog see."""
    metadata: dict[str, Any] = catalog.tables["db", name]
    return IcebergReader(table._store.file_io.read, "", metadata=metadata)


def written(table: Table) -> IcebergReader:
    """What readers of the metadata files see."""
    return IcebergReader(table._store.file_io.read, f"{table._store.paths.root}/metadata")


def check_same(table: Table, catalog: IcebergRestStub) -> None:
    """The catalog has the rows, the snapshots and the tags of the newest metadata file."""
    ours, theirs = written(table), registered(table, catalog)
    assert theirs.rows() == ours.rows()
    assert list(theirs.snapshots) == list(ours.snapshots)
    for number in theirs.snapshots:
        assert theirs.manifests(number) == ours.manifests(number)
    assert theirs.tags == ours.tags


def in_transaction(table: Table) -> None:
    with table.transaction() as change:
        change.append([{"k": 3, "v": "c"}])
        change.delete("k = 1")


def with_new_column(table: Table) -> None:
    table.add_column("n", "BIGINT")
    pe.open_table(table.path).append([{"k": 6, "v": "f", "n": 7}])


def from_branch(table: Table) -> None:
    table.create_branch("b")
    pe.open_table(table.path, options={"branch": "b"}).append([{"k": 7, "v": "g"}])
    table.fast_forward("b")


CHANGES: dict[str, Callable[[Table], object]] = {
    "append": lambda t: t.append([{"k": 3, "v": "c"}]),
    "overwrite": lambda t: t.overwrite([{"k": 4, "v": "d"}]),
    "delete": lambda t: t.delete("k = 1"),
    "truncate": lambda t: t.truncate(),
    "compact": lambda t: t.compact(full=True),
    "analyze": lambda t: t.maintenance.analyze(),
    "transaction": in_transaction,
    "schema": with_new_column,
    "tag": lambda t: t.create_tag("one", snapshot=1),
    "deleted tag": lambda t: (t.create_tag("one"), t.delete_tag("one")),
    "renamed tag": lambda t: (t.create_tag("one"), t.maintenance.rename_tag("one", "two")),
    "rollback": lambda t: t.rollback_to(1),
    "fast-forward": from_branch,
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_table_reaches_the_catalog(catalog: IcebergRestStub, change: str) -> None:
    table = plain(catalog)
    table.append(ROWS)
    table.append([{"k": 5, "v": "e"}])
    check_same(table, catalog)
    assert told(lambda: CHANGES[change](table)) == []
    table = pe.open_table(table.path)
    check_same(table, catalog)
    assert registered(table, catalog).rows() == rows_of(table.to_arrow())
    assert told(lambda: table.append([{"k": 9}])) == []
    check_same(table, catalog)


def test_primary_key_tables_and_new_format_versions_are_registered(
    catalog: IcebergRestStub,
) -> None:
    table = keyed_table(COLUMNS, primary_key=["k"], options=options_of(catalog))
    table.upsert(ROWS)
    table.upsert([{"k": 1, "v": "new"}])
    table.compact(full=True)
    check_same(table, catalog)
    table.set_options({"metadata.iceberg.format-version": "3"})
    table = pe.open_table(table.path)
    table.upsert([{"k": 1, "v": "newer"}])
    table.compact(full=True)
    check_same(table, catalog)
    assert catalog.tables["db", "t"]["format-version"] == 3
    assert "drop" not in catalog.log


def test_a_new_table_is_created_with_its_snapshots_in_one_request(catalog: IcebergRestStub) -> None:
    table = append_table(
        columns(p=pa.int32(), v=pa.string()), partition_by=["p"], options=options_of(catalog)
    )
    table.append([{"p": 1, "v": "a"}])
    assert len(catalog.log) == 1
    made = catalog.tables["db", "t"]
    assert [schema["fields"] for schema in made["schemas"]] == [
        [],
        [
            {"id": 0, "name": "p", "required": False, "type": "int"},
            {"id": 1, "name": "v", "required": False, "type": "string"},
        ],
    ]
    assert made["current-schema-id"] == 1
    assert made["partition-specs"] == [
        {
            "spec-id": 0,
            "fields": [{"name": "p", "transform": "identity", "source-id": 0, "field-id": 1000}],
        }
    ]
    assert made["location"] == "/catalog/db/t"


def test_a_commit_sends_only_what_is_new(catalog: IcebergRestStub) -> None:
    table = plain(catalog)
    table.append(ROWS)
    table.append([{"k": 3, "v": "c"}])
    table.set_options({"snapshot.time-retained": "2 h"})  # a schema with the same columns
    pe.open_table(table.path).append([{"k": 4, "v": "d"}])
    assert catalog.log[1:] == ["add-snapshot set-snapshot-ref"] * 2
    check_same(table, catalog)


def test_expired_snapshots_are_removed(catalog: IcebergRestStub) -> None:
    retained = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"}
    table = plain(catalog, retained)
    for number in range(4):
        table.append([{"k": number, "v": "a"}])
    assert list(registered(table, catalog).snapshots) == [3, 4]
    assert catalog.log[-1] == "add-snapshot set-snapshot-ref remove-snapshots"


def test_after_failures_the_next_commit_registers_all_that_is_missing(
    catalog: IcebergRestStub,
) -> None:
    table = plain(catalog, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "3"})
    table.append(ROWS)
    before = registered(table, catalog).rows()
    catalog.before = lambda _: Reply(status=403, body={"error": {"message": "go away"}})
    for number in range(4):
        (message,) = told(lambda n=number: table.append([{"k": 10 + n, "v": "x"}]))  # type: ignore[misc]
        assert "has changed and its Iceberg metadata is written" in message
        assert f"db.t in the Iceberg REST catalog at {catalog.url}" in message
        assert "go away" in message
        assert "the next commit registers the newest metadata" in message
        assert table.count() == 3 + number
    assert registered(table, catalog).rows() == before  # its files were not deleted
    catalog.before = lambda _: None
    assert told(lambda: table.append([{"k": 20, "v": "y"}])) == []
    check_same(table, catalog)
    assert "drop" not in catalog.log


def test_a_catalog_that_cannot_be_reached_is_a_warning(tmp_path: Path) -> None:
    with iceberg_rest_stub() as stopped:
        options = options_of(stopped, **{"max-retries": "0"})
    table = new_catalog(tmp_path).create_table("db.t", {"k": "INT"}, options=options)
    (message,) = told(lambda: table.append([{"k": 1}]))
    assert "cannot be reached" in message
    assert table.count() == 1


def test_another_client_that_changes_the_table_meanwhile_is_no_failure(
    catalog: IcebergRestStub,
) -> None:
    table = plain(catalog)
    table.append(ROWS)
    refusals = [Reply(status=409, body={"error": {"message": "changed"}})] * 2

    def refuse(request: Seen) -> Reply | None:
        commits = request.method == "POST" and request.path.endswith("/tables/t")
        return refusals.pop() if commits and refusals else None

    catalog.before = refuse
    assert told(lambda: table.append([{"k": 3, "v": "c"}])) == []
    check_same(table, catalog)
    refusals += [Reply(status=409, body={"error": {"message": "changed"}})] * 9
    (message,) = told(lambda: table.append([{"k": 4, "v": "d"}]))
    assert "other clients changed the table at the same time" in message


def test_a_later_commit_that_registers_first_is_kept(
    catalog: IcebergRestStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = plain(catalog)
    table.append(ROWS)
    get, later = RestClient.get, [ROWS]

    def get_later(self: RestClient, path: str, *arguments: Any, **more: Any) -> JsonObject:  # noqa: ANN401 - passed on
        if path.endswith("/tables/t") and later:
            pe.open_table(table.path).append(later.pop())
        return get(self, path, *arguments, **more)

    monkeypatch.setattr(RestClient, "get", get_later)
    assert told(lambda: table.append([{"k": 3, "v": "c"}])) == []
    check_same(table, catalog)
    assert "drop" not in catalog.log


def test_a_table_of_others_is_not_touched(catalog: IcebergRestStub) -> None:
    plain(catalog).append(ROWS)
    other = plain(catalog)
    (message,) = told(lambda: other.append(ROWS))
    assert "The catalog has another table db.t, at /catalog/db/t." in message
    assert "metadata.iceberg.table" in message
    assert len(catalog.log) == 1


def test_a_table_that_was_dropped_and_created_again_replaces_the_old_one(
    catalog: IcebergRestStub,
) -> None:
    warehouse = new_catalog()
    for number in (1, 2):
        table = warehouse.create_table("db.t", COLUMNS, options=options_of(catalog))
        for _ in range(4 - number):
            table.append([{"k": number, "v": "a"}])
        check_same(table, catalog)
        warehouse.drop_table("db.t")
    assert catalog.log.count("drop") == 1


def test_history_that_a_rollback_replaced_leaves_the_catalog(catalog: IcebergRestStub) -> None:
    table = plain(catalog)
    for number in range(3):
        table.append([{"k": number, "v": "a"}])
    quiet = pe.open_table(table.path, options={"metadata.iceberg.storage": "disabled"})
    quiet.rollback_to(1)
    quiet.append([{"k": 20, "v": "b"}])
    table.append([{"k": 21, "v": "b"}])
    check_same(table, catalog)
    table.append([{"k": 22, "v": "b"}])
    check_same(table, catalog)


def test_the_name_in_the_catalog_may_be_another_one(catalog: IcebergRestStub) -> None:
    names = {"metadata.iceberg.database": "other", "metadata.iceberg.table": "name"}
    plain(catalog, names).append(ROWS)
    assert list(catalog.tables) == [("other", "name")]


def test_the_table_has_the_properties_of_the_options(catalog: IcebergRestStub) -> None:
    table = plain(
        catalog,
        {
            "metadata.iceberg.table-properties.owner": "me",
            "metadata.iceberg.table-properties.uuid": "reserved",
            "metadata.iceberg.previous-versions-max": "3",
        },
    )
    table.append(ROWS)
    assert catalog.tables["db", "t"]["properties"] == {
        "owner": "me",
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "3",
    }
    table.set_options({"metadata.iceberg.table-properties.owner": "you"})
    pe.open_table(table.path).append(ROWS)
    assert catalog.tables["db", "t"]["properties"]["owner"] == "you"


def test_catalogs_that_choose_no_location_get_that_of_the_table(catalog: IcebergRestStub) -> None:
    catalog.needs_location = True
    table = plain(catalog)
    table.append(ROWS)
    assert catalog.tables["db", "t"]["location"] == table._store.paths.root


def test_a_snapshot_that_waited_for_the_catalog_is_not_too_old_for_it(
    catalog: IcebergRestStub,
) -> None:
    table = plain(catalog)
    catalog.before = lambda _: Reply(status=403)
    told(lambda: table.append(ROWS))
    (snapshot,) = written(table).snapshots.values()
    path = f"{table._store.paths.root}/metadata/v1.metadata.json"
    data = table._store.file_io.read(path)
    hour_ago = snapshot["timestamp-ms"] - 3_600_000
    old = data.replace(str(snapshot["timestamp-ms"]).encode(), str(hour_ago).encode())
    table._store.file_io.replace(path, old)
    catalog.before = lambda _: None
    table.create_tag("good")
    (found,) = registered(table, catalog).snapshots.values()
    assert found["timestamp-ms"] > snapshot["timestamp-ms"] - 60_000
    check_same(table, catalog)


def test_tokens_of_all_kinds_are_sent_and_never_shown(catalog: IcebergRestStub) -> None:
    issued: list[Seen] = []

    def guarded(request: Seen) -> Reply | None:
        if request.path == "/v1/oauth/tokens":
            issued.append(request)
            return Reply(body={"access_token": f"{CANARY}{len(issued)}", "token_type": "bearer"})
        allowed = {f"Bearer {CANARY}0", f"Bearer {CANARY}2", f"Basic {CANARY}"}
        if request.headers.get("authorization") in allowed:
            return None
        return Reply(status=401, body={"error": {"message": f"token={CANARY}"}})

    catalog.before = guarded
    ways = {
        "a": {"token": f"{CANARY}0"},
        "b": {"credential": f"me:{CANARY}", "scope": "all"},
        "c": {"header.Authorization": f"Basic {CANARY}"},
    }
    for name, way in ways.items():
        table = append_table(
            COLUMNS, options={**options_of(catalog, **way), "metadata.iceberg.table": name}
        )
        assert told(lambda t=table: t.append(ROWS)) == []  # type: ignore[misc]
    assert [one.body for one in issued] == [
        f"grant_type=client_credentials&client_id=me&client_secret={CANARY}&scope=all".encode()
    ] * 2
    assert {name for _, name in catalog.tables} == {*ways}
    wrong = append_table(COLUMNS, options=options_of(catalog, token=f"{CANARY}9"))
    (message,) = told(lambda: wrong.append(ROWS))
    assert "401 Unauthorized" in message
    assert CANARY not in message
    assert b64encode(CANARY.encode()).decode() not in message


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"metadata.iceberg.rest.uri": ""}, "'metadata.iceberg.rest.uri' is missing"),
        ({"metadata.iceberg.rest.uri": f"http://me:{CANARY}@host"}, "contains credentials"),
        ({"metadata.iceberg.rest.rest.sigv4-enabled": "true"}, "Authentication 'sigv4'"),
        ({"metadata.iceberg.rest.rest.auth.type": "google"}, "Authentication 'google'"),
    ],
)
def test_a_catalog_that_cannot_be_opened_is_told_before_the_commit(
    catalog: IcebergRestStub, changes: Mapping[str, str], says: str
) -> None:
    strict = plain(catalog, changes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PaimonWarning)
        with pytest.raises(IcebergMetadataWarning, match="do not register them"):
            strict.append(ROWS)
    assert list(strict.snapshots) == []
    table = plain(catalog, changes)
    (message,) = told(lambda: table.append(ROWS))
    assert says in message
    assert CANARY not in message
    assert written(table).rows() == rows_of(table.to_arrow())
    assert told(lambda: table.append(ROWS)) == []  # once per table
    assert catalog.stub.seen == []


def test_a_table_outside_of_a_database_needs_the_name_of_one(catalog: IcebergRestStub) -> None:
    table = append_table(COLUMNS)
    io = table._store.file_io
    for status in io.walk(table._store.paths.root):
        assert io.create(status.path.replace("/db.db/", "/db/"), io.read(status.path))
    path = table.path.replace("/db.db/", "/db/")
    (message,) = told(lambda: pe.open_table(path, options=options_of(catalog)).append(ROWS))
    assert "metadata.iceberg.database" in message
    named = {**options_of(catalog), "metadata.iceberg.database": "db"}
    assert told(lambda: pe.open_table(path, options=named).append(ROWS)) == []
    assert list(catalog.tables) == [("db", "t")]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"access_token": 17}'])
def test_an_answer_without_a_token_is_a_warning(catalog: IcebergRestStub, body: bytes) -> None:
    catalog.before = lambda request: (
        Reply(body=body) if request.path == "/v1/oauth/tokens" else None
    )
    table = append_table(COLUMNS, options=options_of(catalog, credential=f"me:{CANARY}"))
    (message,) = told(lambda: table.append(ROWS))
    assert "the response has no access_token" in message
    assert CANARY not in message
    assert table.count() == 2


def test_metadata_that_lacks_a_schema_is_a_warning(catalog: IcebergRestStub) -> None:
    table = plain(catalog)
    catalog.before = lambda _: Reply(status=403)
    told(lambda: table.append(ROWS))
    path = f"{table._store.paths.root}/metadata/v1.metadata.json"
    metadata = json.loads(table._store.file_io.read(path))
    table._store.file_io.replace(path, json.dumps({**metadata, "schemas": []}).encode())
    catalog.before = lambda _: None
    (message,) = told(lambda: table.create_tag("good"))
    assert "must contain schema 0" in message


DEEP = (
    b'{"metadata": {"format-version": 2, "table-uuid": "u", "schemas": [{"schema-id": 0, "fields": '
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"metadata": {"snapshots": 1}}',
        b"\xff",
        DEEP + 900 * b"[" + 900 * b"]" + b"}]}}",
    ],
)
def test_a_response_that_is_not_a_table_is_a_warning(catalog: IcebergRestStub, body: bytes) -> None:
    catalog.before = lambda request: (
        Reply(body=body) if request.path.endswith("/tables/t") else None
    )
    table = plain(catalog)
    (message,) = told(lambda: table.append(ROWS))
    assert "the response of the server is invalid" in message
    assert table.count() == 2
