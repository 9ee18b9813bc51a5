"""An HTTP server on this machine whose replies a test scripts.

with http_stub(lambda request: Reply(body={"databases": ["db"]})) as stub:
    RestClient({"uri": stub.url, "token": "t"})
stub.seen  # the requests
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Seen:
    """A request as the server got it; `path` is not decoded."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """A response.

    Attributes:
        status: the HTTP status.
        body: an object sent as JSON, or bytes.
        headers: further headers.
        wait: seconds before the response.
        sent: how much of the body is sent before the connection is closed, 0 to 1.
        nothing: close the connection without a response.
    """

    body: object = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    sent: float = 1.0
    nothing: bool = False


@dataclass
class HttpStub:
    """The server, as tests see it."""

    url: str
    seen: list[Seen] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.seen]


@contextmanager
def http_stub(reply: Callable[[Seen], Reply], *, one_at_a_time: bool = True) -> Iterator[HttpStub]:
    """Run the server; `reply` is called for one request at a time, or by several threads."""
    lock: AbstractContextManager[object] = threading.Lock() if one_at_a_time else nullcontext()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = (
            True  # else a body waits 40 ms for the client's ACK of the headers
        )

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            size = int(self.headers.get("Content-Length") or 0)
            request = Seen(
                method=self.command,
                path=parts.path,
                query=dict(parse_qsl(parts.query, keep_blank_values=True)),
                headers={key.lower(): value for key, value in self.headers.items()},
                body=self.rfile.read(size),
            )
            with lock:
                stub.seen.append(request)
                found = reply(request)
            time.sleep(found.wait)
            if found.nothing:
                self.close_connection = True
                return
            body = found.body if isinstance(found.body, bytes) else json.dumps(found.body).encode()
            self.send_response(found.status)
            for key, value in {"Content-Type": "application/json", **found.headers}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: int(len(body) * found.sent)])
            self.close_connection = self.close_connection or found.sent < 1

        do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - names of the base class

        def handle(self) -> None:
            with suppress(ConnectionError):
                super().handle()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub = HttpStub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
