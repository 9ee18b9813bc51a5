"""A jupyter_server extension that serves the byte inspector to the file browser of JupyterLab.

Enabled by its configuration file in the wheel. Read-only: it serves files below the root directory
of the server, to users who may read contents.
"""

import asyncio
import base64
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.byte_session import ByteSession
from paimon_explore.inspection.byte_inspector.file_lookup import file_bytes
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.threads import free_in_forks
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.column_transfer import pack_columns
from paimon_explore.widgets.widget_requests import byte_answer, request_number

NAME = "paimon-explore"
_HANDLE = 1
_MAX_TEXT = 8000


class ServerApp(Protocol):
    """The part of the server interface that is used here."""

    web_app: web.Application


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """The extension points, for jupyter_server."""
    return [{"module": "paimon_explore.widgets.jupyter_server_handlers"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    """Add the two request handlers to a server."""
    base = str(app.web_app.settings["base_url"])
    app.web_app.add_handlers(
        ".*$",
        [
            (url_path_join(base, NAME, "api"), BytesHandler),
            (url_path_join(base, NAME, "bytes.js"), ScriptHandler),
        ],
    )


class ScriptHandler(JupyterHandler):
    """Serves the bundle of the byte inspector."""

    auth_resource = "contents"

    @web.authenticated
    @authorized
    def get(self) -> None:
        """Send the bundle."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.finish(bundle("bytes"))


class BytesHandler(APIHandler):
    """Serves answers of the byte inspector about a file."""

    auth_resource = "contents"

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Send the answer to one request about the file at a path."""
        message = _message(self.get_query_argument("message"))
        number = request_number(message)
        if number is None:
            raise web.HTTPError(400, "the parameter 'message' contains no valid request id")
        path = self.get_query_argument("path")
        root = str(getattr(self.contents_manager, "root_dir", ""))
        hidden = bool(getattr(self.contents_manager, "allow_hidden", False))
        key = (root, path, hidden, json.dumps({**message, "id": 0}, sort_keys=True))
        content = await asyncio.to_thread(
            _ANSWERS.get, key, lambda: _content(root, path, message, allow_hidden=hidden)
        )
        self.finish(json.dumps({"id": number, **content}))


class SharedAnswers:
    """Computes answers with bounded concurrency; equal concurrent requests share one answer."""

    def __init__(self, at_once: int) -> None:
        self._lock = free_in_forks(threading.Lock())
        self._places = threading.BoundedSemaphore(at_once)
        self._pending: dict[object, Future[dict[str, object]]] = {}
        self.waiting = 0
        """Number of requests that wait for the answer to an equal request."""

    def get(self, key: object, make: Callable[[], dict[str, object]]) -> dict[str, object]:
        """Compute the answer to a request, or wait for that to an equal one."""
        mine: Future[dict[str, object]] = Future()
        with self._lock:
            found = self._pending.setdefault(key, mine)
            self.waiting += found is not mine
        if found is not mine:
            try:
                return found.result()
            finally:
                with self._lock:
                    self.waiting -= 1
        try:
            with self._places:
                answer = make()
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(answer)
            return answer
        finally:
            with self._lock:
                del self._pending[key]


_ANSWERS = SharedAnswers(at_once=2)


def _message(text: str) -> dict[str, object]:
    if len(text) > _MAX_TEXT:
        raise web.HTTPError(
            400, f"the parameter 'message' must have at most {_MAX_TEXT} characters"
        )
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise web.HTTPError(400, "the parameter 'message' is not valid JSON") from error
    if not isinstance(found, dict):
        raise web.HTTPError(400, "the parameter 'message' must be a JSON object")
    return found


def _content(
    root: str, path: str, message: dict[str, object], *, allow_hidden: bool
) -> dict[str, object]:
    """The answer as JSON; errors become part of the answer."""
    try:
        file = resolve_path(root, path, allow_hidden=allow_hidden)
        found = _answer(file, message)
    except PaimonError as error:
        return {"ok": False, "error": problem_of(error).state()}
    except OSError as error:
        problem = Problem(
            kind=type(error).__name__, message=error.strerror or "The file cannot be read."
        )
        return {"ok": False, "error": problem.state()}
    specs, data = pack_columns(found.columns)
    packed = base64.b64encode(data).decode("ascii")
    return {"ok": True, "body": found.body, "columns": specs, "data": packed}


def resolve_path(root: str, path: str, *, allow_hidden: bool = False) -> Path:
    """Resolve a path relative to the root directory of the server.

    Raises:
        InvalidInputError: the path leads out of the root, is hidden, or is not a file.
    """
    parts = [part for part in path.split("/") if part]
    top = Path(root).resolve()
    file = top.joinpath(*parts).resolve() if root and "\0" not in path else top
    inside = file != top and file.is_relative_to(top)
    if not root or not inside or ".." in parts:
        raise InvalidInputError(f"{path[:200]!r} is not a file in the server's root directory.")
    names = file.relative_to(top).parts
    if not allow_hidden and any(name.startswith(".") for name in (*parts, *names)):
        raise InvalidInputError(f"{path[:200]!r} is a hidden file or folder.")
    if not file.is_file():
        raise InvalidInputError(f"{path[:200]!r} is not a file.")
    return file


def _answer(file: Path, message: dict[str, object]) -> Answer:
    status = file.stat()
    found = _mapped(str(file), status.st_mtime_ns, status.st_size)
    session = ByteSession(files={_HANDLE: found})
    if message.get("op") == "bytes":
        return Answer(body={**found.figures(), "handle": _HANDLE})
    return byte_answer(session, message)


@lru_cache(maxsize=4)
def _mapped(path: str, _modified_ns: int, _size: int) -> ByteLayout:
    """The layout of a file; cached until the file changes."""
    return file_bytes(path)
