"""A proxy in front of a catalog server that loses some requests, and some replies.

    with losing_proxy(server_url, rate=0.2, seed=1) as proxy:
        Catalog(metastore="rest", uri=proxy.url, ...)

A lost request is not carried out; of a lost reply the request was. Either way the client only sees
that the connection was closed, or an error of a gateway.
"""

import http.client
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from support.http_stub import Reply, Seen, http_stub

_DROPPED = frozenset({"host", "connection", "content-length", "accept-encoding"})
_KINDS = ("reply", "request", "gateway")
_GATEWAY_TIMEOUT = Reply(status=504)


@dataclass
class LosingProxy:
    """The proxy, as tests see it.

    Attributes:
        url: what clients connect to.
        lost: number of losses so far, by kind.
    """

    url: str
    lost: Counter[str] = field(default_factory=Counter)


@contextmanager
def losing_proxy(server: str, *, rate: float, seed: int) -> Iterator[LosingProxy]:
    """Run the proxy; a share of the commits is lost."""
    upstream = urlsplit(server).netloc
    chance = random.Random(seed)  # noqa: S311 - repeatable, no secret
    lock = threading.Lock()
    proxy = LosingProxy("")

    def reply(seen: Seen) -> Reply:
        with lock:
            loses = seen.path.endswith("/commit") and chance.random() < rate
            kind = _KINDS[proxy.lost.total() % len(_KINDS)] if loses else ""
            proxy.lost.update([kind] if kind else [])
        if kind == "request":
            return Reply(nothing=True)
        answer = _forward(upstream, seen)
        if kind == "reply":
            return Reply(nothing=True)
        return _GATEWAY_TIMEOUT if kind == "gateway" else answer

    with http_stub(reply, one_at_a_time=False) as stub:
        proxy.url = stub.url
        yield proxy


def _forward(upstream: str, seen: Seen) -> Reply:
    connection = http.client.HTTPConnection(upstream, timeout=60)
    try:
        path = f"{seen.path}?{urlencode(seen.query)}" if seen.query else seen.path
        headers = {key: value for key, value in seen.headers.items() if key not in _DROPPED}
        connection.request(seen.method, path, body=seen.body or None, headers=headers)
        found = connection.getresponse()
        return Reply(status=found.status, body=found.read())
    finally:
        connection.close()
