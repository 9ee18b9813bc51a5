"""What is sent, what is repeated, and how failures are told."""

import pickle
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from paimon_explore.errors import InvalidInputError, StorageError
from paimon_explore.metastore.rest import http_client
from paimon_explore.metastore.rest.auth.auth_provider import BearerAuth, SignedRequest
from paimon_explore.metastore.rest.http_client import HttpClient, Request, normalized_uri
from paimon_explore.metastore.rest.http_settings import HttpSettings, http_settings
from paimon_explore.metastore.rest.resource_paths import ResourcePaths
from support.http_stub import Reply, Seen, http_stub

SETTINGS = HttpSettings(connect_timeout=2, read_timeout=0.3, max_retries=2)


def get(path: str = "/v1/config", **parameters: str) -> Request:
    return Request(
        method="GET", path=path, action="load it", parameters=parameters, repeatable=True
    )


def post(*, repeatable: bool = False) -> Request:
    return Request(
        method="POST",
        path="/v1/x",
        action="change it",
        parameters={},
        body='{"a":"ä"}',
        repeatable=repeatable,
    )


def client(url: str, settings: HttpSettings = SETTINGS) -> HttpClient:
    return HttpClient(url, settings, {"X-Own": "1"}, sleep=lambda _: None)


def in_turn(replies: Sequence[Reply]) -> Callable[[Seen], Reply]:
    """Reply in turn; the last reply repeats."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def test_path_query_body_and_headers_arrive_as_given() -> None:
    with http_stub(lambda _: Reply(body={"a": 1}, headers={"X-Request-Id": "r7"})) as stub:
        opened = client(stub.url + "/base/")
        opened.auth = BearerAuth("t")
        found = opened.send(get("/v1/p/databases/my+db%24", pattern="a b%&=ü~", empty=""))
        opened.send(post())
    first, second = stub.seen
    assert (found.status, found.body, found.request_id) == (200, b'{"a": 1}', "r7")
    assert first.path == "/base/v1/p/databases/my+db%24"
    assert first.query == {"pattern": "a b%&=ü~", "empty": ""}
    assert first.headers["authorization"] == "Bearer t"
    assert first.headers["x-own"] == "1"
    assert "content-type" not in first.headers
    assert second.json == {"a": "ä"}
    assert second.headers["content-type"] == "application/json"


FAILURES = {
    "closed without a response": Reply(nothing=True),
    "half of the body": Reply(body={"a": "b" * 100}, sent=0.5),
    "no response in time": Reply(wait=0.8),
    "503": Reply(status=503),
    "429": Reply(status=429, headers={"Retry-After": "0"}),
    "502": Reply(status=502),
    "504": Reply(status=504),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_read_is_repeated_after_a_temporary_failure(failure: Reply) -> None:
    with http_stub(in_turn([failure, failure, Reply(body=b"{}")])) as stub:
        assert client(stub.url).send(get()).body == b"{}"
    assert len(stub.seen) == 3


def test_a_change_is_repeated_if_the_server_had_too_many_requests() -> None:
    with http_stub(in_turn([FAILURES["429"], Reply(body=b"{}")])) as stub:
        assert client(stub.url).send(post()).body == b"{}"
    assert len(stub.seen) == 2


@pytest.mark.parametrize("failure", [one for one in FAILURES if one != "429"])
def test_a_change_is_sent_once(failure: str) -> None:
    reply = FAILURES[failure]
    with http_stub(in_turn([reply, Reply(body=b"{}")])) as stub:
        if reply.status == 200:
            with pytest.raises(
                StorageError, match=r"Cannot change it at .*/v1/x: .*may have taken"
            ):
                client(stub.url).send(post())
        else:
            assert client(stub.url).send(post()).status == reply.status
    assert len(stub.seen) == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "ftp://127.0.0.1:1"),
        ("HTTP_PROXY", "http://user:hunter2@exa mple:x"),
        ("SSL_CERT_FILE", "/nonexistent/file"),
    ],
)
def test_a_wrong_environment_is_told(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidInputError, match=variable) as caught:
        client("https://127.0.0.1:1" if "SSL" in variable else "http://127.0.0.1:1").send(get())
    assert "hunter2" not in str(caught.value)


def test_a_proxy_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://user:hunter2@127.0.0.1:1")
    with pytest.raises(StorageError, match=r"through the proxy .* HTTP_PROXY\.") as caught:
        client("http://nowhere.invalid").send(get())
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("NO_PROXY", "nowhere.invalid")
    with pytest.raises(StorageError, match=r"that the server is running\.$"):
        client("http://nowhere.invalid").send(get())


def test_a_post_that_only_reads_is_repeated() -> None:
    with http_stub(in_turn([Reply(nothing=True), Reply(body=b"{}")])) as stub:
        assert client(stub.url).send(post(repeatable=True)).body == b"{}"
    assert len(stub.seen) == 2


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (Reply(nothing=True), "connection was lost"),
        (Reply(body={"a": "b"}, sent=0.5), "connection was lost before the response was complete"),
        (Reply(wait=0.8), "did not answer in time"),
        (Reply(body=b"{}", headers={"Content-Encoding": "gzip"}), "cannot be decompressed"),
    ],
)
def test_a_lasting_failure_is_told_after_the_retries(failure: Reply, message: str) -> None:
    with (
        http_stub(lambda _: failure) as stub,
        pytest.raises(
            StorageError, match=rf"Cannot load it at http://127.*/v1/config: .*{message}"
        ),
    ):
        client(stub.url).send(get())
    assert len(stub.seen) == 3


def test_a_status_that_is_not_temporary_is_not_repeated() -> None:
    with http_stub(lambda _: Reply(status=500)) as stub:
        assert client(stub.url).send(get()).status == 500
    assert len(stub.seen) == 1


@pytest.mark.parametrize("request_", [get(), post()], ids=["read", "change"])
def test_a_server_that_is_not_there_is_told(request_: Request) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    waits: list[float] = []
    opened = HttpClient(f"http://127.0.0.1:{port}", SETTINGS, sleep=waits.append)
    with pytest.raises(StorageError, match=r"cannot be reached: .*option 'uri'"):
        opened.send(request_)
    assert len(waits) == 2
    assert waits[0] < waits[1]


def test_a_server_that_was_reached_before_is_waited_for() -> None:
    waits: list[float] = []
    settings = HttpSettings(max_retries=4)
    with http_stub(lambda _: Reply(body=b"{}")) as stub:
        opened = HttpClient(stub.url, settings, sleep=waits.append)
        assert opened.send(get()).status == 200
    opened.close()
    with pytest.raises(StorageError, match="cannot be reached"):
        opened.send(get())
    assert len(waits) == 4
    never = HttpClient(stub.url, settings, sleep=waits.append)
    with pytest.raises(StorageError, match="cannot be reached"):
        never.send(get())
    assert len(waits) == 6


def test_a_request_that_cannot_be_sent_is_told() -> None:
    with http_stub(lambda _: Reply(body=b"{}")) as stub:
        wrong = HttpClient(stub.url, SETTINGS, {"X-Own": "a\r\nb"})
        with pytest.raises(InvalidInputError, match=r"the request is invalid.*'header\.…'"):
            wrong.send(get())
        lone = Request(method="POST", path="/v1", action="x", parameters={}, body='"\ud800"')
        with pytest.raises(InvalidInputError, match="not valid Unicode"):
            client(stub.url).send(lone)
        with pytest.raises(InvalidInputError, match="not valid Unicode"):
            ResourcePaths("p").database("\ud800")
    assert stub.seen == []


def test_a_redirect_is_not_followed() -> None:
    with http_stub(lambda _: Reply(status=302, headers={"Location": "http://other/"})) as stub:
        assert client(stub.url).send(get()).status == 302


def test_a_response_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_RESPONSE_BYTES", 1000)
    with (
        http_stub(lambda _: Reply(body=b" " * 1001)) as stub,
        pytest.raises(StorageError, match="more than 1,000 bytes"),
    ):
        client(stub.url).send(get())


def test_a_client_can_be_pickled() -> None:
    with http_stub(lambda _: Reply(body=b"{}")) as stub:
        opened = HttpClient(stub.url, SETTINGS)
        opened.send(get())
        copy = pickle.loads(pickle.dumps(opened))  # noqa: S301 - ours
        assert copy.send(get()).status == 200


@pytest.mark.parametrize(
    "uri", ["", "ftp://h", "http://", "http://h:99999", "http://h?a=b", "http://user:pw@h", "//h"]
)
def test_what_is_no_uri_is_refused(uri: str) -> None:
    with pytest.raises(InvalidInputError, match="option 'uri'") as caught:
        normalized_uri(uri)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("timeout", "long"),
        ("connect-timeout", "0 s"),
        ("max-retries", "-1"),
        ("max-retries", "many"),
    ],
)
def test_wrong_limits_are_refused(key: str, value: str) -> None:
    with pytest.raises(InvalidInputError, match=key):
        http_settings({key: value})


def test_limits_are_options() -> None:
    options = {
        "timeout": "2 min",
        "connect-timeout": "500 ms",
        "max-retries": "0",
    }
    expected = HttpSettings(connect_timeout=0.5, read_timeout=120, max_retries=0)
    assert http_settings(options) == expected


@dataclass
class RenewedAuth:
    """Keys that can be loaded again."""

    keys: list[str]
    loads: int = 0

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        assert request.method in ("GET", "POST")
        return {"Authorization": self.keys[self.loads]}

    def renew(self) -> bool:
        if self.loads == len(self.keys) - 1:
            return False
        self.loads += 1
        return True


def only_key(key: str) -> Callable[[Seen], Reply]:
    return lambda seen: Reply(status=200 if seen.headers["authorization"] == key else 401)


@pytest.mark.parametrize("request_", [get(), post()], ids=["read", "change"])
def test_a_refused_request_is_repeated_with_new_credentials(request_: Request) -> None:
    with http_stub(only_key("new")) as stub:
        opened = client(stub.url)
        opened.auth = RenewedAuth(["old", "new"])
        assert opened.send(request_).status == 200
        assert opened.send(request_).status == 200
    assert [seen.headers["authorization"] for seen in stub.seen] == ["old", "new", "new"]


def test_credentials_are_renewed_once_per_request() -> None:
    with http_stub(only_key("another")) as stub:
        opened = client(stub.url)
        opened.auth = RenewedAuth(["old", "new", "newer"])
        assert opened.send(get()).status == 401
    assert [seen.headers["authorization"] for seen in stub.seen] == ["old", "new"]


def test_the_url_of_another_service_is_read_as_it_is() -> None:
    with http_stub(lambda seen: Reply(body=seen.path.encode())) as stub:
        for path in ("/a/b", "/a/b/"):
            assert client(stub.url).fetch(stub.url + path) == path.encode()
