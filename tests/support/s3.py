"""A bucket of a server on this machine that speaks S3."""

import io
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from moto.moto_server.werkzeug_app import create_backend_app
from moto.s3.models import S3Backend, s3_backends
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class _Gate:
    """Holds requests of a pattern back until so many of them have arrived; then it stays open."""

    def __init__(self, pattern: str, count: int) -> None:
        self._pattern = re.compile(pattern)
        self._missing = count
        self._lock = threading.Lock()
        self._open = threading.Event()
        self.alone: list[str] = []
        """The requests for which the others did not come."""

    def pass_through(self, line: str) -> None:
        """Wait for the others."""
        if not self._pattern.search(line):
            return
        with self._lock:
            self._missing -= 1
            if self._missing <= 0:
                self._open.set()
        if not self._open.wait(_PATIENCE_S):
            self.alone.append(line)
            self._open.set()


@dataclass(slots=True)
class Requests:
    """What a store was asked for, and which requests have to arrive together.

    Attributes:
        log: each request as `GET name`, `GET name bytes=0-9`, `LIST folder/` and so on, without the
            table's folder.
        refusal: the code of the error for an access key, such as `ExpiredToken`; None: it is valid.
    """

    log: list[str] = field(default_factory=list)
    refusal: Callable[[str], str | None] = lambda _: None
    _gates: list[_Gate] = field(default_factory=list)
    _failing: re.Pattern[str] | None = None

    def counts(self) -> dict[str, int]:
        """How often each method was used since the last `clear`, sorted by method."""
        return dict(sorted(Counter(line.split()[0] for line in self.log).items()))

    def clear(self) -> None:
        """Forget the requests so far."""
        self.log.clear()

    @contextmanager
    def together(self, count: int, pattern: str) -> Iterator[None]:
        """Hold back the first requests of a pattern until so many of them have arrived.

        Raises:
            AssertionError: they did not arrive within some seconds.
        """
        gate = _Gate(pattern, count)
        self._gates.append(gate)
        try:
            yield
        finally:
            self._gates.remove(gate)
        assert not gate.alone, f"{gate.alone[0]} came alone"

    @contextmanager
    def failing(self, pattern: str) -> Iterator[None]:
        """Requests of a pattern have no effect and are answered with an error of the server."""
        self._failing = re.compile(pattern)
        try:
            yield
        finally:
            self._failing = None

    def arrive(self, line: str) -> None:
        """Note a request; returns when it may be answered."""
        self.log.append(line)
        assert self._failing is None or not self._failing.search(line), f"{line} fails"
        for gate in list(self._gates):
            gate.pass_through(line)


_PATIENCE_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Place:
    """Where tables go.

    Attributes:
        location: of the warehouse.
        options: of the storage.
        requests: what it was asked for.
    """

    location: str
    options: Mapping[str, str]
    requests: Requests = field(default_factory=Requests)


class _OneByOne:
    """Answers one request after the other: a store decides a conditional put in one step."""

    def __init__(self, requests: Requests, *, ignores_conditions: bool) -> None:
        self._ignores_conditions = ignores_conditions
        self._app = create_backend_app("s3")
        self._lock = threading.Lock()
        self._requests = requests

    def __call__(self, environment: "WSGIEnvironment", start: "StartResponse") -> list[bytes]:
        self._requests.arrive(_line(environment))
        key = environment.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2]
        code = self._requests.refusal(key.partition("/")[0]) if key else None
        if code is not None:
            status = "400 Bad Request" if code == "ExpiredToken" else "403 Forbidden"
            start(status, [("Content-Type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>Refused.</Message></Error>".encode()]
        if self._ignores_conditions:
            environment.pop("HTTP_IF_NONE_MATCH", None)
        with self._lock:
            return list(self._app(environment, start))


class _Handler(WSGIRequestHandler):
    disable_nagle_algorithm = True  # else a body waits 40 ms for the client's ACK of the headers


def _line(environment: "WSGIEnvironment") -> str:
    """A request as a line of `Requests.log`."""
    method, path = environment["REQUEST_METHOD"], environment["PATH_INFO"]
    query = parse_qs(environment["QUERY_STRING"])
    if "list-type" in query:
        method, path = "LIST", query.get("prefix", ["/"])[0]
    elif "delete" in parse_qs(environment["QUERY_STRING"], keep_blank_values=True):
        body = environment["wsgi.input"].read(int(environment["CONTENT_LENGTH"]))
        environment["wsgi.input"] = io.BytesIO(body)
        method, path = "DELETE", " ".join(re.findall("<Key>(.*?)</Key>", body.decode()))
    line = f"{method} {path.partition('.db/')[2].partition('/')[2] or path}"
    return f"{line} {environment['HTTP_RANGE']}" if "HTTP_RANGE" in environment else line


def objects_of(bucket: str) -> dict[str, bytes]:
    """What a bucket of this process holds."""
    return {name: found.value for name, found in _backend().buckets[bucket].keys.items()}


def _backend() -> S3Backend:
    """What all servers of this process share."""
    return s3_backends["123456789012"]["aws"]


@contextmanager
def s3_place(
    bucket: str, objects: Mapping[str, bytes] | None = None, *, ignores_conditions: bool = False
) -> Iterator[S3Place]:
    """A server with a bucket, for as long as the block lasts.

    Args:
        bucket: its name; what it holds stays as long as the process.
        objects: what it gets at first.
        ignores_conditions: whether a conditional put replaces an existing object.
    """
    if bucket not in _backend().buckets:
        _backend().create_bucket(bucket, "us-east-1")
    for name, content in (objects or {}).items():
        _backend().put_object(bucket, name, content)
    requests = Requests()
    app = _OneByOne(requests, ignores_conditions=ignores_conditions)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        options = {"s3.endpoint": endpoint, "s3.access-key": "k", "s3.secret-key": "s"}
        yield S3Place(location=f"s3://{bucket}/w", options=options, requests=requests)
    finally:
        server.shutdown()
        thread.join()
