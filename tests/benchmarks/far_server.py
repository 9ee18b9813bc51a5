"""A store that speaks S3 and answers each request late: a process of its own.

    python -m benchmarks.far_server

prints its endpoint and runs until its input ends. Requests to `/-/` control it: `/-/delay/200` sets
the delay in milliseconds, `/-/counts` returns how often each method was used since then.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_CONTROL = "/-/"


class _LateStore:
    """The application: delays run at the same time, the store itself does one thing at a time."""

    def __init__(self) -> None:
        self._app = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._delay_s = 0.0

    def __call__(self, environment: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        if path.startswith(_CONTROL):
            start("200 OK", [("Content-Type", "application/json")])
            return [self._controlled(path.removeprefix(_CONTROL))]
        time.sleep(self._delay_s)
        with self._lock:
            is_list = "list-type" in environment["QUERY_STRING"]
            self._counts["LIST" if is_list else environment["REQUEST_METHOD"]] += 1
            return list(self._app(environment, start))

    def _controlled(self, command: str) -> bytes:
        name, _, value = command.partition("/")
        with self._lock:
            found = dict(self._counts)
            if name == "delay":
                self._delay_s = float(value) / 1000
                self._counts.clear()
        return json.dumps(found).encode()


def main() -> None:
    """Serve until the input ends."""
    server = make_server("127.0.0.1", 0, _LateStore(), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
