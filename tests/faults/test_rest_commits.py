"""Commits through a REST catalog whose replies are lost."""

from contextlib import suppress
from pathlib import Path

import pytest

from paimon_explore import Catalog
from paimon_explore.commit.commit_trace import recording
from paimon_explore.errors import (
    AccessDeniedError,
    CommitOutcomeUnknownError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
)
from support.committing import PATIENT, Round, check_appends, rounds
from support.depth import DEEP
from support.http_stub import Reply, Seen
from support.losing_proxy import losing_proxy
from support.rest_catalog_stub import RestCatalogStub, rest_catalog_stub

PROCESSES, COMMITS = (8, 25) if DEEP else (3, 5)
COLUMNS = {"id": "BIGINT NOT NULL", "by": "INT"}


def options_of(url: str) -> dict[str, str]:
    return {
        "metastore": "rest",
        "uri": url,
        "warehouse": "wh",
        "token": "t",
        "timeout": "60 s",
        "max-retries": "2",
    }


def test_no_commit_is_lost_or_doubled_when_replies_are_lost(tmp_path: Path) -> None:
    with (
        rest_catalog_stub(str(tmp_path / "w")) as stub,
        losing_proxy(stub.url, rate=0.3, seed=7) as proxy,
    ):
        catalog = Catalog(options=options_of(stub.url))
        catalog.create_database("db")
        catalog.create_table("db.t", {"a": "BIGINT"}, options=PATIENT)
        plan = [Round(options=options_of(proxy.url), table="db.t", commits=COMMITS)]
        ((_, reported),) = rounds(tmp_path / "plan", plan, PROCESSES)
        check_appends(catalog.table("db.t"), reported, PROCESSES * COMMITS)
        assert min(proxy.lost["request"], proxy.lost["reply"], proxy.lost["gateway"]) > 0


def served(stub: RestCatalogStub) -> Catalog:
    catalog = Catalog(options={**options_of(stub.url), "max-retries": "0"})
    catalog.create_database("db")
    catalog.create_table("db.t", COLUMNS).append([{"id": 1, "by": 0}])
    return catalog


def manifests(stub: RestCatalogStub) -> list[str]:
    return sorted(path.name for path in Path(stub.location).rglob("manifest-*"))


REFUSALS: dict[str, tuple[Reply, type[PaimonError]]] = {
    "401": (Reply(status=401), AccessDeniedError),
    "403": (Reply(status=403), AccessDeniedError),
    "400": (Reply(status=400), InvalidInputError),
    "404": (Reply(status=404), NotFoundError),
}


@pytest.mark.parametrize(("reply", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_a_refused_commit_writes_nothing(
    tmp_path: Path, reply: Reply, expected: type[PaimonError]
) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = served(stub)
        before = manifests(stub)
        stub.script = [("/commit", False, reply)]
        with pytest.raises(expected):
            catalog.table("db.t").append([{"id": 2, "by": 0}])
        assert manifests(stub) == before
        assert catalog.table("db.t").count() == 1
        catalog.table("db.t").append([{"id": 2, "by": 0}])
        assert catalog.table("db.t").count() == 2


LOSSES = {
    "closed": Reply(nothing=True),
    "half a reply": Reply(body={"success": True}, sent=0.5),
    "500": Reply(status=500),
    "503": Reply(status=503),
    "504": Reply(status=504),
    "garbage": Reply(body=b"<html>"),
    "no answer to the question": Reply(body={}),
    "an answer of the wrong type": Reply(body={"success": "yes"}),
    "empty": Reply(),
}


@pytest.mark.parametrize("carried_out", [True, False], ids=["carried out", "not carried out"])
@pytest.mark.parametrize("reply", LOSSES.values(), ids=LOSSES)
def test_a_commit_without_a_clear_reply_takes_effect_once(
    tmp_path: Path, reply: Reply, *, carried_out: bool
) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        table = served(stub).table("db.t")
        stub.script = [("/commit", carried_out, reply)]
        snapshot = table.append([{"id": 2, "by": 0}])
        assert snapshot is not None
        assert snapshot.id == 2
        latest = stub.tables["db", "t"].latest
        assert latest is not None
        assert latest["uuid"] == snapshot.uuid
        assert table.to_arrow().sort_by("id")["id"].to_pylist() == [1, 2]
        assert table.maintenance.fsck() == []


@pytest.mark.parametrize("carried_out", [True, False], ids=["carried out", "not carried out"])
@pytest.mark.parametrize("answered", range(3))
@pytest.mark.parametrize("refusal", [reply for reply, _ in REFUSALS.values()], ids=REFUSALS)
def test_a_refusal_after_a_lost_reply_leaves_the_outcome_unknown_and_keeps_the_files(
    tmp_path: Path, refusal: Reply, answered: int, *, carried_out: bool
) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = served(stub)
        table = catalog.table("db.t")
        requests = 0

        def refusing(seen: Seen) -> Reply:
            nonlocal requests
            requests += requests > 0 or "/commit" in seen.path
            if requests == 1:
                if carried_out:
                    stub.carry_out(seen)
                return Reply(nothing=True)
            return refusal if requests > 1 + answered else stub.carry_out(seen)

        stub.answer = refusing
        with suppress(CommitOutcomeUnknownError):  # else it was found, or repeated, in time
            assert table.append([{"id": 2, "by": 0}]) is not None
        stub.answer = None
        found = catalog.table("db.t")
        is_there = len(found.snapshots) == 2
        assert is_there or not carried_out
        assert found.to_arrow().sort_by("id")["id"].to_pylist() == ([1, 2] if is_there else [1])
        assert found.maintenance.fsck() == []


@pytest.mark.parametrize("carried_out", [True, False], ids=["carried out", "not carried out"])
def test_a_lost_reply_to_the_first_commit(tmp_path: Path, *, carried_out: bool) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        table = served(stub).create_table("db.new", COLUMNS)
        stub.lose_next("/commit", carried_out=carried_out)
        with recording() as trace:
            assert table.append([{"id": 2, "by": 0}]) == table.snapshots[1]
        assert max(event.attempt for _, event in trace) == (1 if carried_out else 2)
        assert table.to_arrow()["id"].to_pylist() == [2]


@pytest.mark.parametrize("carried_out", [True, False], ids=["carried out", "not carried out"])
def test_a_lost_reply_of_a_server_that_drops_uuids(tmp_path: Path, *, carried_out: bool) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        stub.drops_uuids = True
        table = served(stub).table("db.t")
        stub.lose_next("/commit", carried_out=carried_out)
        snapshot = table.append([{"id": 2, "by": 0}])
        assert snapshot is not None
        assert snapshot.id == 2
        assert table.to_arrow().sort_by("id")["id"].to_pylist() == [1, 2]
        assert table.maintenance.fsck() == []


def test_a_server_that_stays_silent_leaves_the_outcome_unknown_and_keeps_the_files(
    tmp_path: Path,
) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = served(stub)
        table = catalog.table("db.t")
        before = manifests(stub)
        stub.silent_from = "/commit"
        with pytest.raises(CommitOutcomeUnknownError):
            table.append([{"id": 2, "by": 0}])
        assert set(before) < set(manifests(stub))


def test_a_commit_on_an_older_snapshot_is_repeated_on_the_latest(tmp_path: Path) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = served(stub)
        stub.script = [("/commit", False, Reply(body={"success": False}))]
        snapshot = catalog.table("db.t").append([{"id": 2, "by": 0}])
        assert snapshot is not None
        assert snapshot.id == 2
        assert catalog.table("db.t").count() == 2


def test_the_server_is_told_the_change_of_each_partition(tmp_path: Path) -> None:
    with rest_catalog_stub(str(tmp_path)) as stub:
        catalog = served(stub)
        table = catalog.create_table("db.p", {"id": "INT", "dt": "STRING"}, partition_by="dt")
        table.append([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}, {"id": 3, "dt": "b"}])
        told = stub.tables["db", "p"].statistics
        found = {one["spec"]["dt"]: one for one in told}
        assert {dt: (one["recordCount"], one["fileCount"]) for dt, one in found.items()} == {
            "a": (1, 1),
            "b": (2, 1),
        }
