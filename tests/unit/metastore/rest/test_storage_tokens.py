"""Storage tokens of a REST catalog that expire in the middle of reads and commits."""

import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidResponseError, StorageError
from paimon_explore.metastore.rest.token_file_io import TokenFileIO
from support.http_stub import Reply
from support.rest_catalog_stub import RestCatalogStub, in_an_hour, rest_catalog_stub
from support.s3 import S3Place, s3_place

ROWS = [{"id": number, "v": "x" * 10} for number in range(20)]


@dataclass
class Vendor:
    """Hands out keys; only the last one is valid, for some requests to the storage.

    Attributes:
        uses: how many requests a key is good for.
        code: the error of a key that is not valid any more.
    """

    place: S3Place
    uses: int
    code: str = "ExpiredToken"
    handed_out: int = 0
    left: int = 0
    refused: int = 0

    def token(self) -> tuple[dict[str, str], int]:
        self.handed_out += 1
        self.left = self.uses
        key = {"s3.access-key": f"key-{self.handed_out}", "s3.secret-key": "s", "akId": "other"}
        return {**key, "s3.endpoint": self.place.options["s3.endpoint"]}, in_an_hour()

    def refusal(self, key: str) -> str | None:
        if key == "k":  # of the server itself
            return None
        if key != f"key-{self.handed_out}" or self.left <= 0:
            self.refused += 1
            return self.code
        self.left -= 1
        return None


@contextmanager
def vended(uses: int, bucket: str) -> Iterator[tuple[pe.Catalog, RestCatalogStub, Vendor]]:
    with (
        s3_place(bucket) as place,
        rest_catalog_stub(place.location, place.options) as stub,
    ):
        vendor = Vendor(place, uses)
        place.requests.refusal = vendor.refusal
        stub.token = vendor.token
        stub.config["data-token.enabled"] = "true"
        catalog = pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
        catalog.create_database("db")
        yield catalog, stub, vendor


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[pe.Catalog, RestCatalogStub, Vendor]]:
    """A table with four snapshots; its keys are valid for very many requests at first."""
    with vended(1_000_000, "reads") as (catalog, stub, vendor):
        columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
        table = catalog.create_table("db.t", columns, options={"target-file-size": "1 kb"})
        for start in range(0, 20, 5):
            table.append(ROWS[start : start + 5])
        yield catalog, stub, vendor


@pytest.mark.parametrize("code", ["ExpiredToken", "InvalidAccessKeyId", "AccessDenied"])
def test_a_token_that_expires_in_the_middle_of_a_read_is_renewed(
    served: tuple[pe.Catalog, RestCatalogStub, Vendor], code: str
) -> None:
    catalog, _, vendor = served
    vendor.uses, vendor.code = 1_000, code
    for left in range(8):
        vendor.left, before = left, vendor.handed_out
        table = catalog.table("db.t").to_arrow()
        assert sorted(table.to_pylist(), key=lambda row: row["id"]) == ROWS
        assert vendor.handed_out == before + 1


def test_a_token_that_expires_in_the_middle_of_a_commit_is_renewed() -> None:
    with vended(1_000, "commits") as (catalog, stub, vendor):
        table = catalog.create_table("db.t", {"id": "BIGINT NOT NULL", "v": "STRING"})
        for left, row in enumerate(ROWS[:5]):
            vendor.left, before = left, vendor.handed_out
            table.append([row])
            assert vendor.handed_out == before + 1
        latest = stub.tables["db", "t"].latest
        assert latest is not None
        assert latest["id"] == 5
        assert catalog.table("db.t").count() == 5
        assert [found.id for found in catalog.table("db.t").snapshots] == [*range(1, 6)]


def test_a_file_that_is_open_is_read_on_with_new_keys(
    served: tuple[pe.Catalog, RestCatalogStub, Vendor],
) -> None:
    catalog, _, vendor = served
    vendor.uses = vendor.left = 1_000
    store = catalog.table("db.t")._store
    path = store.paths.schema(0)
    content = store.file_io.read(path)
    with store.file_io.open(path) as stream:
        first = stream.read(10)
        vendor.left = 0
        rest = stream.read()
    assert first + rest == content
    with store.file_io.open_sized(path, len(content)) as stream:  # type: ignore[attr-defined]
        assert stream.read() == content


def test_a_token_that_stays_refused_is_an_error(
    served: tuple[pe.Catalog, RestCatalogStub, Vendor],
) -> None:
    catalog, _, vendor = served
    vendor.uses, vendor.code = 0, "AccessDenied"
    vendor.left = 0
    before = vendor.handed_out
    with pytest.raises(StorageError, match="AccessDenied"):
        catalog.table("db.t").to_arrow()
    assert vendor.handed_out == before + 2
    vendor.uses = vendor.left = 1_000


def files(stub: RestCatalogStub, token: Callable[[], object]) -> TokenFileIO:
    stub.token = token  # type: ignore[assignment]
    catalog = pe.Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
    if not catalog.database_exists("db"):
        catalog.create_database("db")
        catalog.create_table("db.t", {"id": "INT"})
    found = catalog.table("db.t")._store.file_io
    assert isinstance(found, TokenFileIO)
    return found


def test_a_token_is_renewed_before_it_expires() -> None:
    with rest_catalog_stub("memory://tokens/w") as stub:
        stub.config["data-token.enabled"] = "true"
        now = [time.time_ns() // 1_000_000]
        asked = []

        def token() -> tuple[dict[str, str], int]:
            asked.append(now[0])
            return {}, now[0] + 10_000

        file_io = files(stub, token)
        file_io._clock = lambda: now[0]
        file_io._current = None
        asked.clear()
        path = "memory://tokens/w/x"
        for passed in (0, 1_000, 3_000, 2_000, 1_000):
            now[0] += passed
            file_io.replace(path, b"x")
        assert len(asked) == 2  # at the first use, and at half of its life
        assert pickle.loads(pickle.dumps(stub.url)) == stub.url  # noqa: S301 - ours


def test_a_storage_with_a_token_can_be_pickled() -> None:
    with rest_catalog_stub("memory://pickled/w") as stub:
        stub.config["data-token.enabled"] = "true"
        file_io = files(stub, lambda: ({"s3.secret-key": "hidden"}, in_an_hour()))
        copy = pickle.loads(pickle.dumps(file_io))  # noqa: S301 - ours
        assert copy.list("memory://pickled/w/db.db/t") == file_io.list("memory://pickled/w/db.db/t")
        assert "hidden" not in repr(file_io)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "invalid"),
        ({"token": "secret-1"}, "no valid value of 'token'"),
        ({"token": {"s3.secret-key": ["secret-1"]}}, "no valid value of 'token.s3.secret-key'"),
        ({"token": {"s3.secret-key": "secret-1"}}, "no valid value of 'expiresAtMillis'"),
        (
            {"token": {"a": "secret-1"}, "expiresAtMillis": "soon"},
            "no valid value of 'expiresAtMillis'",
        ),
    ],
)
def test_garbage_instead_of_a_token_is_refused_without_showing_it(
    body: object, message: str
) -> None:
    with rest_catalog_stub("memory://garbage/w") as stub:
        stub.config["data-token.enabled"] = "true"
        file_io = files(stub, lambda: ({}, 0))
        stub.script = [("/token", False, Reply(body=body))]
        with pytest.raises(InvalidResponseError, match=message) as caught:
            file_io.read("memory://garbage/w/x")
        assert "secret-1" not in str(caught.value)
