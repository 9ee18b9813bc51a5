"""A small Iceberg REST catalog on loopback, with the checks of Iceberg's own.

with iceberg_rest_stub() as catalog:
    ...  # tables with the option metadata.iceberg.rest.uri = catalog.url
    catalog.tables["db", "t"]  # the metadata of a table
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from support.http_stub import HttpStub, Reply, Seen, http_stub

Metadata = dict[str, Any]
PREFIX = "a/b"
"""The prefix of paths, which the catalog tells its clients."""


class RefusedError(Exception):
    """A refusal: the status and the message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status, self.message = status, message


def check(holds: object, message: str, status: int = 400) -> None:
    if not holds:
        raise RefusedError(status, message)


@dataclass
class IcebergRestStub:
    """The catalog.

    Attributes:
        stub: the server.
        namespaces: the names of the namespaces.
        tables: the metadata of tables, by namespace and name.
        log: the requests as texts; for commits the kinds of updates.
        before: called before each request; may return a reply in place of the catalog's.
        needs_location: whether tables are only created with a location.
    """

    stub: HttpStub = field(default_factory=lambda: HttpStub(""))
    namespaces: set[str] = field(default_factory=set)
    tables: dict[tuple[str, str], Metadata] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    before: Callable[[Seen], Reply | None] = lambda _: None
    needs_location: bool = False

    @property
    def url(self) -> str:
        return self.stub.url

    def answer(self, request: Seen) -> Reply:
        given = self.before(request)
        if given is not None:
            return given
        if request.path == "/v1/config":
            return Reply(body={"defaults": {}, "overrides": {"prefix": PREFIX}})
        try:
            return Reply(body=self._answer(request))
        except RefusedError as refused:
            error = {"message": refused.message, "type": "Error", "code": refused.status}
            return Reply(status=refused.status, body={"error": error})

    def _answer(self, request: Seen) -> object:
        _, _, rest = request.path.partition(f"/v1/{PREFIX}/namespaces")
        parts = rest.strip("/").split("/") if rest else []
        body = json.loads(request.body) if request.body else {}
        match (request.method, parts):
            case ("POST", []):
                (name,) = body["namespace"]
                check(name not in self.namespaces, "namespace exists", 409)
                self.namespaces.add(name)
                return {"namespace": [name]}
            case ("GET", [namespace]):
                check(namespace in self.namespaces, "no such namespace", 404)
                return {"namespace": [namespace]}
            case ("POST", [namespace, "tables"]):
                return self._staged(namespace, body)
            case ("GET", [namespace, "tables", name]):
                check((namespace, name) in self.tables, "no such table", 404)
                return {"metadata": self.tables[namespace, name]}
            case ("DELETE", [namespace, "tables", name]):
                self.log.append("drop")
                check(self.tables.pop((namespace, name), None), "no such table", 404)
                return {}
            case ("POST", [namespace, "tables", name]):
                check(namespace in self.namespaces, "no such namespace", 404)
                self.log.append(" ".join(one["action"] for one in body["updates"]))
                return self._commit((namespace, name), body)
            case _:
                raise RefusedError(404, f"no route {request.method} {request.path}")

    def _staged(self, namespace: str, body: Metadata) -> object:
        check((namespace, body["name"]) not in self.tables, "table exists", 409)
        check(body["stage-create"], "must be staged")
        check("location" in body or not self.needs_location, "a location is needed")
        location = body.get("location", f"/catalog/{namespace}/{body['name']}")
        version = int(body["properties"]["format-version"])
        return {
            "metadata": {
                "table-uuid": str(uuid4()),
                "format-version": version,
                "location": location,
                "schemas": [body["schema"]],
                "current-schema-id": 0,
                "current-snapshot-id": -1,
                "partition-specs": [{"spec-id": 0, "fields": []}],
                "default-spec-id": 0,
            }
        }

    def _commit(self, key: tuple[str, str], body: Metadata) -> object:
        known = self.tables.get(key)
        table = copy.deepcopy(known) if known is not None else new_table()
        for one in body["requirements"]:
            match one["type"]:
                case "assert-create":
                    check(known is None, "table exists", 409)
                case "assert-table-uuid":
                    check(known and known["table-uuid"] == one["uuid"], "other table", 409)
                case "assert-ref-snapshot-id":
                    main = table["refs"].get("main", {}).get("snapshot-id")
                    check(main == one["snapshot-id"], "changed meanwhile", 409)
                case other:
                    raise RefusedError(400, f"unknown requirement {other}")
        for update in body["updates"]:
            apply(table, update)
        check(table["location"], "no location")
        check(table["current-schema-id"] is not None, "no schema")
        self.tables[key] = table
        return {"metadata": table}


def new_table() -> Metadata:
    return {
        "format-version": 1,
        "table-uuid": None,
        "location": None,
        "last-sequence-number": 0,
        "schemas": [],
        "current-schema-id": None,
        "partition-specs": [],
        "default-spec-id": None,
        "snapshots": [],
        "current-snapshot-id": None,
        "refs": {},
        "properties": {},
    }


def apply(table: Metadata, update: Mapping[str, Any]) -> None:
    """Change the metadata of a table by an update."""
    known = (apply_to_table, apply_to_schemas, apply_to_snapshots, apply_to_references)
    check(any(one(table, update) for one in known), f"unknown update {update['action']}")


def apply_to_table(table: Metadata, update: Mapping[str, Any]) -> bool:
    match update["action"]:
        case "assign-uuid":
            table["table-uuid"] = update["uuid"]
        case "upgrade-format-version":
            check(update["format-version"] >= table["format-version"], "downgrade")
            table["format-version"] = update["format-version"]
        case "set-location":
            table["location"] = update["location"]
        case "set-properties":
            table["properties"] |= update["updates"]
        case action:
            return action in {"add-sort-order", "set-default-sort-order"}
    return True


def apply_to_schemas(table: Metadata, update: Mapping[str, Any]) -> bool:
    match update["action"]:
        case "add-schema":
            number = len(table["schemas"])
            check(update["schema"]["schema-id"] == number, "schema ids must be consecutive")
            known = [one["fields"] for one in table["schemas"]]
            check(update["schema"]["fields"] not in known, "the schema is known")
            table["schemas"].append(update["schema"])
        case "set-current-schema":
            check(update["schema-id"] in range(len(table["schemas"])), "unknown schema")
            table["current-schema-id"] = update["schema-id"]
        case "add-spec":
            number = len(table["partition-specs"])
            table["partition-specs"].append({**update["spec"], "spec-id": number})
        case "set-default-spec":
            check(update["spec-id"] == -1, "must be the last added spec")
            table["default-spec-id"] = len(table["partition-specs"]) - 1
        case _:
            return False
    return True


def apply_to_snapshots(table: Metadata, update: Mapping[str, Any]) -> bool:
    match update["action"]:
        case "add-snapshot":
            snapshot = update["snapshot"]
            check(snapshot["sequence-number"] > table["last-sequence-number"], "old snapshot")
            check(snapshot["schema-id"] in range(len(table["schemas"])), "unknown schema")
            table["last-sequence-number"] = snapshot["sequence-number"]
            table["snapshots"].append(snapshot)
        case "remove-snapshots":
            gone = set(update["snapshot-ids"])
            kept = [one for one in table["snapshots"] if one["snapshot-id"] not in gone]
            table["snapshots"] = kept
            table["refs"] = {k: v for k, v in table["refs"].items() if v["snapshot-id"] not in gone}
        case _:
            return False
    return True


def apply_to_references(table: Metadata, update: Mapping[str, Any]) -> bool:
    match update["action"]:
        case "set-snapshot-ref":
            number = update["snapshot-id"]
            check(number in {one["snapshot-id"] for one in table["snapshots"]}, "no snapshot")
            table["refs"][update["ref-name"]] = dict(update)
            if update["ref-name"] == "main":
                table["current-snapshot-id"] = number
        case "remove-snapshot-ref":
            del table["refs"][update["ref-name"]]
        case _:
            return False
    return True


@contextmanager
def iceberg_rest_stub() -> Iterator[IcebergRestStub]:
    """Run the catalog."""
    catalog = IcebergRestStub()
    with http_stub(catalog.answer) as stub:
        catalog.stub = stub
        yield catalog
