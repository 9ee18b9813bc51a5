"""The REST catalog's protocol: configuration of the server, typed responses, and paging."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from paimon_explore.errors import FormatError, InvalidInputError, InvalidResponseError
from paimon_explore.metadata.json_object import JsonObject, parse_object
from paimon_explore.metastore.rest.auth.auth_options import auth_provider
from paimon_explore.metastore.rest.auth.auth_provider import AuthProvider
from paimon_explore.metastore.rest.error_mapping import Subject, status_error
from paimon_explore.metastore.rest.http_client import HttpClient, Request
from paimon_explore.metastore.rest.http_settings import http_settings
from paimon_explore.metastore.rest.resource_paths import CONFIG, ResourcePaths

_Item = TypeVar("_Item")

Authenticate: TypeAlias = Callable[
    [Mapping[str, str], str, Callable[[str], bytes]], AuthProvider | None
]

_HEADER_PREFIX = "header."
_SUCCESS = frozenset({200, 202, 204})
_NEXT_PAGE = "nextPageToken"


class RestClient:
    """A connection to a REST catalog; can be pickled.

    The first request asks the server for its configuration: its defaults are below the options of
    the user, its overrides above them.

    Args:
        options: the catalog options; `uri` and credentials are needed.
        authenticate: returns the authentication of the options.

    Raises:
        InvalidInputError: options are missing or wrong.
        AccessDeniedError: the server refused the credentials.
        StorageError: the server cannot be reached, or is not a REST catalog.
    """

    def __init__(
        self, options: Mapping[str, str], *, authenticate: Authenticate = auth_provider
    ) -> None:
        uri = options.get("uri", "")
        if not uri:
            raise InvalidInputError(
                "A REST catalog needs the option 'uri'.", hint="Pass uri='https://host:port'."
            )
        self._http = HttpClient(uri, http_settings(options), _headers(options))
        self._http.auth = authenticate(options, self._http.uri, self._http.fetch)
        self.options = self._configured(options)
        self._http.headers.update(_headers(self.options))
        self.paths = ResourcePaths(self.options.get("prefix", ""))

    def __repr__(self) -> str:
        """The server."""
        return f"RestClient({self._http.uri!r})"

    @property
    def uri(self) -> str:
        """The base URI of the server."""
        return self._http.uri

    def close(self) -> None:
        """Close the connections; a later request opens them again."""
        self._http.close()

    def _configured(self, options: Mapping[str, str]) -> dict[str, str]:
        warehouse = options.get("warehouse", "")
        parameters = {"warehouse": warehouse} if warehouse else {}
        subject = Subject(kind="warehouse", name=warehouse, where=self.uri)
        action = "load the configuration of the catalog"
        source = self.get(CONFIG, action, subject, parameters=parameters)
        with checked_response(action, source.path):
            defaults = source.texts("defaults")
            overrides = source.texts("overrides")
        return {**defaults, **options, **overrides}

    def get(
        self,
        path: str,
        action: str,
        subject: Subject,
        *,
        parameters: Mapping[str, str] | None = None,
    ) -> JsonObject:
        """Return the object at a path; repeated on temporary failures.

        Args:
            path: the encoded path.
            action: what the request does, for errors: "load table 'db.t'".
            subject: what it is about, for errors.
            parameters: query parameters.
        """
        request = Request(
            method="GET", path=path, action=action, parameters=parameters or {}, repeatable=True
        )
        return self._object(request, subject)

    def load(
        self, path: str, action: str, subject: Subject, parse: Callable[[JsonObject], _Item]
    ) -> _Item:
        """Return the parsed object at a path; takes the arguments of `get`."""
        source = self.get(path, action, subject)
        with checked_response(action, source.path):
            return parse(source)

    def post(
        self,
        path: str,
        action: str,
        subject: Subject,
        *,
        body: Mapping[str, object],
        repeatable: bool = False,
    ) -> JsonObject:
        """Send an object; return the object of the response, which is empty if it has no body.

        Args:
            path: the encoded path.
            action: what the request does, for errors.
            subject: what it is about, for errors.
            body: the object.
            repeatable: whether the request only reads, so that it may be repeated.
        """
        request = Request(
            method="POST",
            path=path,
            action=action,
            parameters={},
            body=json.dumps(body, ensure_ascii=False, separators=(",", ":")),
            repeatable=repeatable,
        )
        return self._object(request, subject, may_be_empty=True)

    def delete(self, path: str, action: str, subject: Subject) -> None:
        """Delete the resource at a path."""
        request = Request(method="DELETE", path=path, action=action, parameters={})
        self._object(request, subject, may_be_empty=True)

    def pages(
        self,
        path: str,
        action: str,
        subject: Subject,
        read: Callable[[JsonObject], Sequence[_Item]],
        *,
        parameters: Mapping[str, str] | None = None,
        page_size: int | None = None,
    ) -> Iterator[_Item]:
        """Yield the items of a list; a page is requested when it is reached.

        Args:
            path: the encoded path.
            action: what the requests do, for errors.
            subject: what they are about, for errors.
            read: returns the items of a page.
            parameters: query parameters.
            page_size: the maximum number of items per page; None for the default of the server.

        Raises:
            InvalidResponseError: a page is not what the protocol requires.
        """
        query = {**(parameters or {}), **({"maxResults": str(page_size)} if page_size else {})}
        seen: set[str] = set()
        while True:
            page = self.get(path, action, subject, parameters=query)
            with checked_response(action, page.path):
                items = read(page)
                token = page.optional_text(_NEXT_PAGE)
            yield from items
            if not token or not items:
                return
            if token in seen:
                reason = f"{_NEXT_PAGE} {token[:80]!r} was returned twice"
                raise InvalidResponseError(f"{action} at", page.path, reason)
            seen.add(token)
            query["pageToken"] = token

    def _object(
        self, request: Request, subject: Subject, *, may_be_empty: bool = False
    ) -> JsonObject:
        response = self._http.send(request)
        if response.status not in _SUCCESS:
            raise status_error(response, request, subject)
        if may_be_empty and not response.body.strip():
            return JsonObject(path=response.url, values={})
        with checked_response(request.action, response.url):
            return parse_object(response.body, response.url)


@contextmanager
def checked_response(action: str, url: str) -> Iterator[None]:
    """Raise `InvalidResponseError` for a response that breaks the rules of its values.

    The message names the rule, but for responses with secrets it must not show values: those are
    read without this function.
    """
    try:
        yield
    except FormatError as error:
        reason = f"the response of the server is invalid: {_rule_of(error)}"
        hint = "Check that the option 'uri' is that of a REST catalog."
        raise InvalidResponseError(f"{action} at", url, reason, hint=hint) from None


def _rule_of(error: FormatError) -> str:
    where, rule = getattr(error, "where", ""), getattr(error, "rule", "")
    return f"{where} {rule}" if where else error.message


def _headers(options: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of options `header.<name>`."""
    prefix = _HEADER_PREFIX
    return {k.removeprefix(prefix): v for k, v in options.items() if k.startswith(prefix)}
