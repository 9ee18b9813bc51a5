"""Maps the error responses of a REST catalog to exceptions.

| status | exception |
| --- | --- |
| 400 | `InvalidInputError` |
| 401, 403 | `AccessDeniedError` |
| 404 | `NotFoundError` of the resource that the server names |
| 409 | `AlreadyExistsError` of the resource that the server names |
| 501 | `UnsupportedFeatureError` |
| any other | `StorageError` |

The body of an error response is untrusted: its message is only shown, and a body that is not the
error object of the specification is not shown at all, because it may contain secrets.
"""

import re
from http import HTTPStatus
from types import MappingProxyType

from paimon_explore.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    FormatError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import parse_object
from paimon_explore.metastore.rest.http_client import UNKNOWN_OUTCOME, Request, Response
from paimon_explore.sanitize import MASK

_KINDS = frozenset(
    {"database", "table", "column", "snapshot", "partition", "branch", "tag", "view", "dialect"}
    | {"function", "definition"}
)
_STATUSES = range(400, 600)
_MAX_MESSAGE = 1000
_MAX_SHOWN = 200
_SECRET = re.compile(
    r"(\b[\w.-]*(?:password|secret|token|authorization|signature)\s*[=:]\s*(?:bearer\s+)?)[^\s,;]+",
    re.IGNORECASE,
)
_HINTS = MappingProxyType(
    {
        401: "Check the token or the keys of the catalog, and that they have not expired.",
        403: "Ask the owner of the catalog for the permission.",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a request is about, for errors.

    Attributes:
        kind: database, table, view and so on.
        name: its name.
        where: where it is: a database or table; empty for the catalog.
    """

    kind: str
    name: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """The error object of a response; empty texts if the body is something else."""

    kind: str = ""
    name: str = ""
    message: str = ""
    code: int | None = None


def error_body(data: bytes) -> ErrorBody:
    """Parse the body of an error response."""
    try:
        answer = parse_object(data, "response")
        source = answer.optional_object("error") or answer  # as Iceberg's catalogs nest it
        kind = (source.optional_text("resourceType") or "").lower()
        code = source.optional_integer("code")
        return ErrorBody(
            kind=kind if kind in _KINDS else "",
            name=source.optional_text("resourceName") or "",
            message=_without_secrets(source.optional_text("message") or ""),
            code=code if code in _STATUSES else None,
        )
    except FormatError:
        return ErrorBody()


def _without_secrets(message: str) -> str:
    return _SECRET.sub(rf"\1{MASK}", message[:_MAX_MESSAGE])


def status_error(response: Response, request: Request, subject: Subject) -> PaimonError:
    """Return the exception of an error response.

    Args:
        response: the response.
        request: the request.
        subject: what it is about.
    """
    action = request.action
    body = error_body(response.body)
    status = body.code or response.status
    told = f": {body.message}" if body.message else ""
    number = f" (request id {response.request_id})" if response.request_id else ""
    reason = f"the server answered HTTP {_phrase(status)}{told}{number}"
    if status in _HINTS:
        return AccessDeniedError(action, response.url, reason, hint=_HINTS[status])
    match status:
        case 400:
            text = f"The REST catalog refused to {action}{told}{number}"
            return InvalidInputError(text if text.endswith(".") else f"{text}.")
        case 404:
            return _not_found(body, subject, response.url)
        case 409:
            return AlreadyExistsError(*_resource(body, subject))
        case 501:
            return UnsupportedFeatureError(f"the request to {action}", f"REST catalog{told}")
        case _:
            hint = _hint(response, status, repeatable=request.repeatable)
            return StorageError(f"{action} at", response.url, reason, hint=hint)


def _hint(response: Response, status: int, *, repeatable: bool) -> str:
    """Return what to do after a response that is neither a result nor a refusal."""
    if response.location and status < HTTPStatus.BAD_REQUEST:
        target = response.location[:_MAX_SHOWN]
        return f"It redirects to {target!r}; the option 'uri' must be the address of the catalog."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "Try again later, or increase the catalog option 'max-retries'."
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return "Check the catalog option 'uri'."
    return "Check the server, and try again later." if repeatable else UNKNOWN_OUTCOME


def _not_found(body: ErrorBody, subject: Subject, url: str) -> NotFoundError:
    kind, name, where = _resource(body, subject)
    if body != ErrorBody():
        return NotFoundError(kind, name, where)
    hint = f"The server did not say what is missing at {url}; check the catalog option 'uri'."
    return NotFoundError(kind, name, where, hint=hint)


def _resource(body: ErrorBody, subject: Subject) -> tuple[str, str, str]:
    """Return kind, name and place of the resource that the server names, else of the subject."""
    if body.kind in ("", subject.kind):
        return subject.kind, subject.name, subject.where
    return body.kind, body.name or "?", "" if body.kind == "database" else subject.where


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
