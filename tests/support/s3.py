"""A bucket of a server on this machine that speaks S3."""

import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Place:
    """Where tables go.

    Attributes:
        location: of the warehouse.
        options: of the storage.
    """

    location: str
    options: Mapping[str, str]


class _OneByOne:
    """Answers one request after the other: a store decides a conditional put in one step."""

    def __init__(self) -> None:
        self._app = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()

    def __call__(self, environment: "WSGIEnvironment", start: "StartResponse") -> list[bytes]:
        with self._lock:
            return list(self._app(environment, start))


@contextmanager
def s3_place(bucket: str) -> Iterator[S3Place]:
    """A server with an empty bucket, for as long as the block lasts."""
    server = make_server("127.0.0.1", 0, _OneByOne(), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}"
        request = urllib.request.Request(f"{endpoint}/{bucket}", method="PUT")  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=20):  # noqa: S310 - loopback
            pass
        options = {"s3.endpoint": endpoint, "s3.access-key": "k", "s3.secret-key": "s"}
        yield S3Place(location=f"s3://{bucket}/w", options=options)
    finally:
        server.shutdown()
        thread.join()
