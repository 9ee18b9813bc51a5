"""The handshake, typed responses, paging, and the errors of each status."""

import pickle
import re
from collections.abc import Callable

import pytest

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
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metastore.rest.error_mapping import Subject
from paimon_explore.metastore.rest.rest_client import RestClient
from support.http_stub import HttpStub, Reply, Seen, http_stub

CONFIG = {"defaults": {"prefix": "my prefix", "warehouse": "other"}, "overrides": {"x": "1"}}
TABLE = Subject(kind="table", name="t", where="db")


def with_config(reply: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
    return lambda seen: Reply(body=CONFIG) if seen.path == "/v1/config" else reply(seen)


def client(stub: HttpStub, **options: str) -> RestClient:
    return RestClient({"uri": stub.url, "token": "t", "max-retries": "0", **options})


def names(page: JsonObject) -> list[str]:
    return list((page.optional_texts("items") or {}).values())


def test_the_configuration_of_the_server_is_merged() -> None:
    with http_stub(lambda _: Reply(body=CONFIG)) as stub:
        opened = client(stub, warehouse="my wh", x="0", **{"header.X-Team": "a"})
    assert stub.seen[0].query == {"warehouse": "my wh"}
    assert stub.seen[0].headers["x-team"] == "a"
    assert opened.options["warehouse"] == "my wh"
    assert opened.options["x"] == "1"
    assert opened.paths.table("db", "t$branch_b") == (
        "/v1/my+prefix/databases/db/tables/t%24branch_b"
    )
    assert "t" not in repr(opened).replace(stub.url, "").replace("RestClient", "")


def test_headers_of_the_configuration_are_sent_from_then_on() -> None:
    config = {"defaults": {"header.X-Route": "r1", "prefix": None}}
    with http_stub(lambda _: Reply(body=config)) as stub:
        opened = pickle.loads(pickle.dumps(client(stub)))  # noqa: S301 - ours
        opened.get(opened.paths.of("databases"), "list", TABLE)
    assert "x-route" not in stub.seen[0].headers
    assert stub.seen[1].headers["x-route"] == "r1"
    assert stub.seen[1].path == "/v1/databases"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>hello</html>",
        b'{"defaults": {"prefix": "p"',
        b"[]",
        b"null",
        b'{"defaults": []}',
        b'{"defaults": {"prefix": 5}}',
        b'{"overrides": {"prefix": {}}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_garbage_instead_of_the_configuration_is_refused(body: bytes) -> None:
    with (
        http_stub(lambda _: Reply(body=body)) as stub,
        pytest.raises(InvalidResponseError, match=r"Cannot load the configuration.*option 'uri'"),
    ):
        client(stub)


def test_a_uri_is_needed() -> None:
    with pytest.raises(InvalidInputError, match="needs the option 'uri'"):
        RestClient({"token": "t"})


def error(kind: str | None, name: str | None, message: str, code: int) -> dict[str, object]:
    return {"resourceType": kind, "resourceName": name, "message": message, "code": code}


@pytest.mark.parametrize(
    ("status", "body", "expected", "message"),
    [
        (400, error(None, None, "No such type.", 400), InvalidInputError, r"refused to .*type\."),
        (401, b"", AccessDeniedError, "401 Unauthorized. Check the token"),
        (403, error("TABLE", "t", "no", 403), AccessDeniedError, "403 Forbidden: no. Ask"),
        (404, error("TABLE", "t", "gone", 404), NotFoundError, "Table 't' does not exist in db"),
        (404, error("DATABASE", "db", "", 404), NotFoundError, "Database 'db' does not exist"),
        (404, error("SNAPSHOT", "7", "", 404), NotFoundError, "Snapshot '7' does not exist in db"),
        (404, b"<html>", NotFoundError, "Table 't' .* did not say what is missing"),
        (404, error("TABLE", "t", "", 501), UnsupportedFeatureError, "is not supported"),
        (409, error("TABLE", "t", "", 409), AlreadyExistsError, "Table 't' already exists in db"),
        (409, error("COLUMN", "c", "", 409), AlreadyExistsError, "Column 'c' already exists"),
        (500, error(None, None, "boom", 500), StorageError, "500 Internal Server Error: boom"),
        (
            500,
            b"stack trace with password=x",
            StorageError,
            "HTTP 500 Internal Server Error. Check the server",
        ),
        (501, error(None, None, "", 501), UnsupportedFeatureError, "load table"),
        (429, b"", StorageError, "429 Too Many Requests. Try again later"),
        (503, b"", StorageError, "503 Service Unavailable. Check the server, and try again"),
        (302, b"", StorageError, "HTTP 302 Found. Check the catalog option 'uri'"),
        (405, b"<html>", StorageError, "HTTP 405 Method Not Allowed. Check the catalog option"),
        (418, b"", StorageError, "HTTP 418"),
        (599, error(None, None, "token=abc", 7), StorageError, "HTTP 599"),
        (500, b'{"message": 5, "code": "x"}', StorageError, "HTTP 500"),
    ],
)
def test_each_status_has_its_error(
    status: int, body: object, expected: type[PaimonError], message: str
) -> None:
    reply = Reply(status=status, body=body, headers={"x-acs-request-id": "r1"} if body else {})
    with http_stub(with_config(lambda _: reply)) as stub:
        opened = client(stub)
        with pytest.raises(expected) as caught:
            opened.get("/v1/t", "load table 'db.t'", TABLE)
    assert type(caught.value) is expected
    text = str(caught.value).replace(" (request id r1)", "")
    assert re.search(message, text), text
    assert "password" not in text
    assert "abc" not in text
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args  # noqa: S301 - ours


def test_a_redirect_is_told_with_its_target_and_without_secrets() -> None:
    target = "https://user:hunter2@other.example/login"
    reply = Reply(status=307, headers={"Location": f"{target}?token=hunter3"})
    with http_stub(with_config(lambda _: reply)) as stub:
        opened = client(stub)
        with pytest.raises(
            StorageError, match=r"307.*redirects to .*other\.example/login'"
        ) as caught:
            opened.get("/v1/t", "load it", TABLE)
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(body=b"<html>Log in</html>"), "the response of the server is invalid"),
        (Reply(status=504), "504 Gateway Timeout. The change may have taken effect"),
        (Reply(status=500), "500 Internal Server Error. The change may have taken effect"),
        (Reply(status=429), "429 Too Many Requests. Try again later"),
    ],
)
def test_a_change_that_may_have_failed_is_not_taken_for_done(reply: Reply, message: str) -> None:
    with http_stub(with_config(lambda _: reply)) as stub:
        opened = client(stub)
        for act in (
            lambda: opened.post("/v1/t", "change it", TABLE, body={}),
            lambda: opened.delete("/v1/t", "delete it", TABLE),
        ):
            with pytest.raises(StorageError, match=message):
                act()


def paged(pages: dict[str, tuple[list[str], str | None]]) -> Callable[[Seen], Reply]:
    def reply(seen: Seen) -> Reply:
        items, token = pages[seen.query.get("pageToken", "")]
        body = {"items": {str(i): name for i, name in enumerate(items)}, "nextPageToken": token}
        return Reply(body=body)

    return with_config(reply)


def test_pages_are_requested_when_they_are_reached() -> None:
    pages = {"": (["a", "b"], "b"), "b": (["c", "d"], "d"), "d": (["e"], None)}
    with http_stub(paged(pages)) as stub:
        opened = client(stub)
        found = opened.pages("/v1/l", "list", TABLE, names, page_size=2)
        assert len(stub.seen) == 1  # the configuration
        assert [next(found), next(found)] == ["a", "b"]
        assert len(stub.seen) == 2
        assert list(found) == ["c", "d", "e"]
    assert [seen.query for seen in stub.seen[1:]] == [
        {"maxResults": "2"},
        {"maxResults": "2", "pageToken": "b"},
        {"maxResults": "2", "pageToken": "d"},
    ]


@pytest.mark.parametrize("token", ["", None])
def test_an_empty_token_is_the_end(token: str | None) -> None:
    with http_stub(paged({"": (["a"], token)})) as stub:
        assert list(client(stub).pages("/v1/l", "list", TABLE, names)) == ["a"]


def test_an_empty_page_is_the_end() -> None:
    with http_stub(paged({"": (["a"], "a"), "a": ([], "a")})) as stub:
        assert list(client(stub).pages("/v1/l", "list", TABLE, names)) == ["a"]


def test_a_server_that_pages_in_a_circle_is_told() -> None:
    with (
        http_stub(paged({"": (["a"], "x"), "x": (["b"], "y"), "y": (["c"], "x")})) as stub,
        pytest.raises(InvalidResponseError, match="'x' was returned twice"),
    ):
        list(client(stub).pages("/v1/l", "list", TABLE, names))


def test_half_a_page_is_not_a_page() -> None:
    reply = Reply(body={"items": {"0": "a", "1": "b"}, "nextPageToken": None}, sent=0.6)
    with (
        http_stub(with_config(lambda _: reply)) as stub,
        pytest.raises(StorageError, match="connection was lost before the response was complete"),
    ):
        list(client(stub).pages("/v1/l", "list", TABLE, names))


@pytest.mark.parametrize("body", [{"items": ["a"]}, {"items": {"0": 1}}, {"nextPageToken": 5}])
def test_a_page_of_something_else_is_refused(body: object) -> None:
    with (
        http_stub(with_config(lambda _: Reply(body=body))) as stub,
        pytest.raises(
            InvalidResponseError, match=r"response of the server is invalid: (items|next)"
        ),
    ):
        list(client(stub).pages("/v1/l", "list", TABLE, names))


def test_a_change_may_have_an_empty_response_and_a_read_may_not() -> None:
    with http_stub(with_config(lambda _: Reply())) as stub:
        opened = client(stub)
        assert opened.post("/v1/c", "change", TABLE, body={"a": "ä"}).values == {}
        opened.delete("/v1/c", "drop", TABLE)
        with pytest.raises(InvalidResponseError):
            opened.get("/v1/c", "load", TABLE)
    assert [seen.method for seen in stub.seen[1:]] == ["POST", "DELETE", "GET"]
    assert stub.seen[1].json == {"a": "ä"}
