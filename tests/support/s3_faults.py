"""A proxy on this machine that fails some of the requests to an S3 server, for tests of retries.

    with s3_place("bucket") as place, s3_faults(place, rate=0.2, seed=1) as faulty:
        catalog = Catalog(faulty.location, faulty.options)

Other processes reach the proxy by the same location and options. The same objects are reached
without faults by those of `place`.
"""

import http.client
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.s3 import S3Place

_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})
_BODIES = {
    500: b"<Error><Code>InternalError</Code><Message>We encountered an internal error. Please try "
    b"again.</Message></Error>",
    503: b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>",
}


class S3Fault(Enum):
    """How a request fails; AFTER means that the server has carried it out."""

    RESET_BEFORE = "connection reset, not carried out"
    RESET_AFTER = "connection reset, carried out"
    ERROR_BEFORE = "500 InternalError, not carried out"
    ERROR_AFTER = "500 InternalError, carried out"
    SLOW_DOWN = "503 SlowDown, not carried out"
    STALL_BEFORE = "no reply for some time, then closed; not carried out"
    STALL_AFTER = "no reply for some time, then closed; carried out"
    CUT = "carried out; the connection is closed after half of the reply's body"
    STALL_CUT = "carried out; half of the reply's body, nothing for some time, then closed"


QUICK = tuple(fault for fault in S3Fault if "STALL" not in fault.name)
"""All faults but those that wait."""


@dataclass(slots=True, eq=False)
class FaultyS3:
    """The proxy, as tests see it. All but the location may be changed while it runs.

    Attributes:
        location: of the warehouse.
        options: storage options that lead through the proxy.
        rate: share of the requests that fail, 0 to 1.
        kinds: the faults to choose from.
        stall_seconds: how long a stalled request waits before the connection is closed.
        script: faults of the next requests, in order; None lets one through. Goes before `rate`.
        only: HTTP methods that may fail; all if empty.
        key_part: only requests whose path contains it may fail.
        requests: number of requests so far, by method.
        faults: number of faults so far, by kind.
        log: (method, path with query, fault or None) of all requests.
    """

    location: str
    options: Mapping[str, str]
    rate: float
    kinds: Sequence[S3Fault]
    stall_seconds: float
    random: random.Random
    script: list[S3Fault | None] = field(default_factory=list)
    only: frozenset[str] = frozenset()
    key_part: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    faults: Counter[S3Fault] = field(default_factory=Counter)
    log: list[tuple[str, str, S3Fault | None]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_fault(self, method: str, path: str) -> S3Fault | None:
        """Decide what becomes of a request, and count it."""
        with self.lock:
            fault: S3Fault | None = None
            if (not self.only or method in self.only) and self.key_part in path:
                if self.script:
                    fault = self.script.pop(0)
                elif self.random.random() < self.rate:
                    fault = self.random.choice(self.kinds)
            self.requests[method] += 1
            if fault is not None:
                self.faults[fault] += 1
            self.log.append((method, path, fault))
            return fault


@contextmanager
def s3_faults(
    place: S3Place,
    *,
    rate: float = 0.0,
    seed: int = 1,
    kinds: Sequence[S3Fault] = QUICK,
    stall_seconds: float = 2.0,
) -> Iterator[FaultyS3]:
    """A proxy before the server of a place, for as long as the block lasts.

    Args:
        place: of the server that carries out the requests.
        rate: share of the requests that fail, 0 to 1.
        seed: of the choices.
        kinds: the faults to choose from.
        stall_seconds: how long a stalled request waits before the connection is closed.
    """
    upstream = place.options["s3.endpoint"].partition("://")[2]
    server = _Proxy(("127.0.0.1", 0), _Handler)
    endpoint = f"http://127.0.0.1:{server.server_port}"
    faulty = FaultyS3(
        location=place.location,
        options={**place.options, "s3.endpoint": endpoint},
        rate=rate,
        kinds=kinds,
        stall_seconds=stall_seconds,
        random=random.Random(seed),  # noqa: S311 - repeatable, no secret
    )
    server.upstream, server.faulty = upstream, faulty
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield faulty
    finally:
        server.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    upstream: str
    faulty: FaultyS3

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.ended = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is what this proxy is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    status: int
    reason: str
    headers: Sequence[tuple[str, str]]
    length: str | None
    body: bytes


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Proxy

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path.startswith("http://"):  # of a client that uses this as its HTTP proxy
            self.path = "/" + self.path[len("http://") :].partition("/")[2]
        fault = self.server.faulty.next_fault(self.command, self.path)
        if fault is S3Fault.RESET_BEFORE:
            self._reset()
        elif fault is S3Fault.ERROR_BEFORE:
            self._send(_error(500))
        elif fault is S3Fault.SLOW_DOWN:
            self._send(_error(503))
        elif fault is S3Fault.STALL_BEFORE:
            self._stall()
        else:
            self._reply_after(self._forward(body), fault)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def _reply_after(self, reply: _Reply, fault: S3Fault | None) -> None:
        """Answer, or fail, a request that was carried out."""
        if fault is S3Fault.ERROR_AFTER:
            self._send(_error(500))
        elif fault is S3Fault.STALL_AFTER:
            self._stall()
        elif fault is S3Fault.RESET_AFTER or (fault is not None and len(reply.body) < 2):
            self._reset()
        elif fault is not None:
            self._send(reply, part=len(reply.body) // 2)
            self.close_connection = True
            if fault is S3Fault.STALL_CUT:
                self._wait()
        else:
            self._send(reply)

    def _forward(self, body: bytes) -> _Reply:
        connection = http.client.HTTPConnection(self.server.upstream, timeout=60)
        try:
            connection.putrequest(
                self.command, self.path, skip_host=True, skip_accept_encoding=True
            )
            for name, value in self.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    connection.putheader(name, value)
            if body or self.command in ("PUT", "POST"):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            found = connection.getresponse()
            return _Reply(
                status=found.status,
                reason=found.reason,
                headers=[pair for pair in found.getheaders() if pair[0].lower() not in _HOP_BY_HOP],
                length=found.getheader("Content-Length"),
                body=found.read(),
            )
        finally:
            connection.close()

    def _send(self, reply: _Reply, part: int | None = None) -> None:
        """Send a reply, or so many bytes of its body."""
        self.send_response_only(reply.status, reply.reason)
        for name, value in reply.headers:
            self.send_header(name, value)
        is_head = self.command == "HEAD"
        length = (reply.length or "0") if is_head else str(len(reply.body))
        if reply.status not in (204, 304):
            self.send_header("Content-Length", length)
        self.end_headers()
        if not is_head:
            self.wfile.write(reply.body[:part])
        self.wfile.flush()

    def _stall(self) -> None:
        self._wait()
        self._reset()

    def _wait(self) -> None:
        """Wait until the client gives up, the time is over or the proxy ends."""
        end = time.monotonic() + self.server.faulty.stall_seconds
        while not self.server.ended.is_set() and time.monotonic() < end:
            self.connection.settimeout(0.1)
            with suppress(TimeoutError):
                if not self.connection.recv(1):
                    break

    def _reset(self) -> None:
        """Close the connection so that the client sees a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Nothing: `FaultyS3.log` has it."""


def _error(status: int) -> _Reply:
    return _Reply(
        status=status,
        reason="Error",
        headers=[("Content-Type", "application/xml")],
        length=None,
        body=_BODIES[status],
    )
