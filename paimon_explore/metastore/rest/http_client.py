"""Sends requests to a REST catalog: time-outs, retries, and limits of what a server may answer.

A request is sent again with backoff if the server has not acted on it (the connection could not be
opened, or the server answered 429, too many requests), or if the caller declares that a repeat is
safe and the failure may be temporary. A request that changes something is otherwise sent once:
whether it took effect is for the caller to look up.
"""

import os
import random
import time
import weakref
from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from paimon_explore.errors import (
    InvalidInputError,
    StorageError,
    needs_extra,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.rest.auth.auth_provider import AuthProvider, SignedRequest
from paimon_explore.metastore.rest.http_settings import HttpSettings, backoff_seconds
from paimon_explore.metastore.rest.resource_paths import encoded

if TYPE_CHECKING:
    import httpx

MAX_RESPONSE_BYTES = 256 * 1024 * 1024
"""Maximum size of a decoded response body."""

UNKNOWN_OUTCOME = "The change may have taken effect: check before you repeat it."

_UNREACHED = "Check the catalog option 'uri', and that the server is running."
_TEMPORARY = frozenset({502, 503, 504})
_UNAUTHORIZED = 401
_FIRST_RETRIES = 2
"""Retries of a connection to a server that was never reached: its URI is probably wrong."""
_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to the server.

    Attributes:
        method: the HTTP method.
        path: the encoded path below the base URI.
        action: what the request does, for errors: "load table 'db.t'".
        parameters: the query parameters.
        body: the JSON text; empty for none.
        repeatable: whether the request may be sent again although the server may have seen it.
    """

    method: str
    path: str
    action: str
    parameters: Mapping[str, str]
    body: str = ""
    repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The response of the server.

    Attributes:
        status: the HTTP status.
        body: the decoded body.
        url: the URL without query, for errors.
        request_id: the server's id of the request; empty if it has none.
        retry_after: the seconds that the server asks to wait before a retry, if any.
        location: where a redirect leads, without the query; empty for none.
    """

    status: int
    body: bytes
    url: str
    request_id: str = ""
    retry_after: float | None = None
    location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A request without a complete response.

    Attributes:
        reason: what happened.
        unsent: whether the server has certainly not seen the request.
    """

    reason: str
    unsent: bool


class HttpClient:
    """A client of one server; can be pickled and used by several threads.

    Args:
        uri: the base URI; `http://` is assumed without a scheme.
        settings: time-outs and retries.
        headers: headers of all requests.
        sleep: waits for seconds.
    """

    def __init__(
        self,
        uri: str,
        settings: HttpSettings,
        headers: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.uri = normalized_uri(uri)
        self.headers = {"User-Agent": "paimon-explore", **(headers or {})}
        self.auth: AuthProvider | None = None
        self._settings = settings
        self._sleep = sleep
        self._opened: tuple[int, httpx.Client] | None = None
        self._is_reached = False

    def __repr__(self) -> str:
        """The server."""
        return f"HttpClient({self.uri!r})"

    def __getstate__(self) -> dict[str, object]:
        """All but the connections."""
        return {**self.__dict__, "_opened": None}

    def send(self, request: Request) -> Response:
        """Send a request; the status of the response may be an error.

        Raises:
            StorageError: the server cannot be reached, or did not answer completely.
        """
        retry, renewed = 0, False
        while True:
            result = self._attempt(request)
            if not renewed and self._renews(result):
                renewed = True
                continue
            self._is_reached |= isinstance(result, Response) or not result.unsent
            allowed = self._settings.max_retries
            allowed = allowed if self._is_reached else min(allowed, _FIRST_RETRIES)
            if retry >= allowed or not _may_repeat(request, result):
                return self._final(request, result)
            asked = result.retry_after if isinstance(result, Response) else None
            self._sleep(backoff_seconds(retry, random.random(), asked))  # noqa: S311 - jitter
            retry += 1

    def fetch(self, url: str) -> bytes:
        """Return the body of a URL of another service, without authentication.

        Raises:
            StorageError: the service cannot be reached or answered with an error.
        """
        client = HttpClient(url, self._settings, sleep=self._sleep)
        response = client.send(
            Request(
                method="GET",
                path="/" if url.endswith("/") else "",
                action="read",
                parameters={},
                repeatable=True,
            )
        )
        if response.status != _OK:
            raise StorageError("read", url, f"the service answered HTTP {response.status}")
        return response.body

    def _renews(self, result: "Response | _Failure") -> bool:
        refused = isinstance(result, Response) and result.status == _UNAUTHORIZED
        return refused and self.auth is not None and self.auth.renew()

    def _final(self, request: Request, result: "Response | _Failure") -> Response:
        if isinstance(result, Response):
            return result
        hint = (
            f"{_UNREACHED}{_proxy_hint(self.uri)}"
            if result.unsent
            else "Check the server; the catalog options 'timeout' and 'max-retries' can be raised."
            if request.repeatable
            else UNKNOWN_OUTCOME
        )
        operation = f"{request.action} at"
        raise StorageError(operation, self.uri + request.path, result.reason, hint=hint)

    def _attempt(self, request: Request) -> "Response | _Failure":
        httpx = import_httpx()
        try:
            return self._exchange(request)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
            raise InvalidInputError(
                f"Cannot {request.action} at {self.uri}: the request is invalid: {_text(error)}.",
                hint="Check the catalog options 'uri', 'token' and 'header.…'.",
            ) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            reason = f"the server cannot be reached: {_text(error)}"
            return _Failure(reason=reason, unsent=True)
        except httpx.TimeoutException:
            return _Failure(reason="the server did not answer in time", unsent=False)
        except httpx.TransportError as error:
            reason = f"the connection was lost before the response was complete: {_text(error)}"
            return _Failure(reason=reason, unsent=False)
        except httpx.DecodingError:
            return _Failure(reason="the response cannot be decompressed", unsent=False)

    def _exchange(self, request: Request) -> Response:
        client = self._client()
        url = self.uri + request.path
        headers = {**self.headers, **self._signed(request)}
        if request.body:
            headers.setdefault("Content-Type", "application/json")
        query = "&".join(f"{key}={encoded(value)}" for key, value in request.parameters.items())
        content = _encoded_body(request)
        address = f"{url}?{query}" if query else url
        with client.stream(request.method, address, headers=headers, content=content) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES:
                    reason = f"the response has more than {MAX_RESPONSE_BYTES:,} bytes"
                    raise StorageError(f"{request.action} at", url, reason)
            found = response.headers
            return Response(
                status=response.status_code,
                body=bytes(body),
                url=url,
                request_id=next((v for k, v in found.items() if "request-id" in k.lower()), ""),
                retry_after=_seconds(found.get("retry-after", "")),
                location=found.get("location", "").partition("?")[0],
            )

    def _signed(self, request: Request) -> Mapping[str, str]:
        if self.auth is None:
            return {}
        return self.auth.headers(
            SignedRequest(
                method=request.method,
                path=request.path,
                parameters=request.parameters,
                body=request.body,
            )
        )

    def _client(self) -> "httpx.Client":
        """Return the connections of this process: they must not be shared with a parent process."""
        process = os.getpid()
        if self._opened is None or self._opened[0] != process:
            httpx = import_httpx()
            limits = self._settings
            timeout = httpx.Timeout(limits.read_timeout, connect=limits.connect_timeout)
            encrypted = self.uri.startswith("https:")  # else loading certificates takes 0.1 s
            try:
                opened = httpx.Client(timeout=timeout, verify=encrypted)
            except (httpx.InvalidURL, ImportError, ValueError, OSError) as error:
                raise InvalidInputError(
                    f"Cannot connect to {self.uri}: {_text(error)}.",
                    hint="Check the environment variables of proxies (HTTP_PROXY, HTTPS_PROXY, "
                    "ALL_PROXY) and certificates (SSL_CERT_FILE, SSL_CERT_DIR).",
                ) from error
            weakref.finalize(self, opened.close)
            self._opened = (process, opened)
        return self._opened[1]

    def close(self) -> None:
        """Close the connections; a later request opens them again."""
        opened, self._opened = self._opened, None
        if opened is not None and opened[0] == os.getpid():
            opened[1].close()


def _encoded_body(request: Request) -> bytes | None:
    try:
        return request.body.encode() or None
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"Cannot {request.action}: a text in the request is not valid Unicode."
        ) from error


def _may_repeat(request: Request, result: Response | _Failure) -> bool:
    if isinstance(result, Response):
        is_unseen = result.status == HTTPStatus.TOO_MANY_REQUESTS
        return is_unseen or (request.repeatable and result.status in _TEMPORARY)
    return request.repeatable or result.unsent


def normalized_uri(uri: str) -> str:
    """Return the base URI with a scheme and without a trailing slash.

    Raises:
        InvalidInputError: it has no host, another scheme than HTTP, or contains credentials.

    >>> normalized_uri("localhost:8080/")
    'http://localhost:8080'
    """
    text = uri.strip()
    text = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(text)
        valid = bool(parts.hostname) and parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        valid = False
        parts = None
    if parts is None or not valid or parts.query or parts.fragment:
        raise InvalidInputError(
            f"The catalog option 'uri' is not the URI of a REST catalog: {uri!r}.",
            hint="It looks like 'https://host:port'.",
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidInputError(
            "The catalog option 'uri' contains credentials.",
            hint="Pass the options 'token.provider' and 'token' instead.",
        )
    return text.rstrip("/")


def import_httpx() -> ModuleType:
    """Return the package httpx.

    Raises:
        UnsupportedFeatureError: it is not installed.
    """
    with needs_extra("rest", "a REST catalog"):
        import httpx  # noqa: PLC0415 - loaded only for REST catalogs
    return httpx


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__


def _proxy_hint(uri: str) -> str:
    """Return which variable of the environment sends requests to a proxy, if any."""
    parts = urlsplit(uri)
    found = [one for one in (parts.scheme, "all") if one in getproxies()]
    if not found or proxy_bypass(parts.hostname or ""):
        return ""
    return f" Requests go through the proxy of the environment variable {found[0].upper()}_PROXY."


def _seconds(text: str) -> float | None:
    return float(text) if text.strip().isdecimal() else None
