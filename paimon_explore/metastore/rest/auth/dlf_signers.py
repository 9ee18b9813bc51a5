"""The two request signatures of DLF: `default` (version 4, HMAC-SHA256) and `openapi` (HMAC-SHA1).

Spec: concepts/rest/dlf, and Paimon's `DLFDefaultSigner` and `DLFOpenApiSigner`.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Protocol
from urllib.parse import unquote_plus
from uuid import uuid4

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.rest.auth.auth_provider import SignedRequest
from paimon_explore.metastore.rest.auth.dlf_token import DlfToken
from paimon_explore.metastore.rest.resource_paths import encoded

_JSON = "application/json"
_ALGORITHM = "DLF4-HMAC-SHA256"
_PRODUCT = "DlfNext"
_REQUEST_TYPE = "aliyun_v4_request"
_SECRET_PREFIX = "aliyun_v4"  # noqa: S105 - a constant of the algorithm
_UNSIGNED = "UNSIGNED-PAYLOAD"
_OPENAPI_VERSION = "2026-01-18"


class DlfSigner(Protocol):
    """Signs requests; can be pickled."""

    def headers(self, request: SignedRequest, token: DlfToken, now: datetime) -> Mapping[str, str]:
        """Return the headers of a request, including its signature.

        Args:
            request: the request.
            token: the keys.
            now: the current time in UTC.
        """


@dataclass(frozen=True, slots=True)
class DefaultSigner:
    """The signature `DLF4-HMAC-SHA256`.

    Attributes:
        region: the region of the service, such as `cn-hangzhou`.
    """

    region: str

    def headers(self, request: SignedRequest, token: DlfToken, now: datetime) -> Mapping[str, str]:
        """Return the headers of a request, including its signature."""
        signed = {
            "x-dlf-date": now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"),
            "x-dlf-content-sha256": _UNSIGNED,
            "x-dlf-version": "v1",
        }
        if request.body:
            signed["Content-Type"] = _JSON
            signed["Content-MD5"] = _md5(request.body)
        if token.security_token is not None:
            signed["x-dlf-security-token"] = token.security_token
        return {**signed, "Authorization": self._authorization(request, token, signed)}

    def _authorization(
        self, request: SignedRequest, token: DlfToken, signed: Mapping[str, str]
    ) -> str:
        time = signed["x-dlf-date"]
        scope = f"{time[:8]}/{self.region}/{_PRODUCT}/{_REQUEST_TYPE}"
        digest = hashlib.sha256(_canonical(request, signed).encode()).hexdigest()
        key = (_SECRET_PREFIX + token.access_key_secret).encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"{_ALGORITHM}\n{time}\n{scope}\n{digest}"
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        return f"{_ALGORITHM} Credential={token.access_key_id}/{scope},Signature={signature}"


def _canonical(request: SignedRequest, signed: Mapping[str, str]) -> str:
    """Return the canonical request: method, path, sorted parameters, sorted headers, payload."""
    pairs = ((key.strip(), encoded(value)) for key, value in sorted(request.parameters.items()))
    query = "&".join(f"{key}={value}" if value else key for key, value in pairs)
    headers = sorted((key.lower(), value.strip()) for key, value in signed.items())
    lines = [f"{key}:{value}" for key, value in headers]
    return "\n".join((request.method, request.path, query, *lines, _UNSIGNED))


def _nonce() -> str:
    return str(uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiSigner:
    """The signature of Alibaba Cloud's OpenAPI endpoints (`dlfnext.….aliyuncs.com`).

    Attributes:
        host: the host of the service, with a port if the URI has one.
        nonce: returns a new unique text per request.
    """

    host: str
    nonce: Callable[[], str] = _nonce

    def headers(self, request: SignedRequest, token: DlfToken, now: datetime) -> Mapping[str, str]:
        """Return the headers of a request, including its signature."""
        headers = {
            "Date": format_datetime(now.astimezone(UTC), usegmt=True),
            "Accept": _JSON,
            "Host": self.host,
            "x-acs-signature-method": "HMAC-SHA1",
            "x-acs-signature-nonce": self.nonce(),
            "x-acs-signature-version": "1.0",
            "x-acs-version": _OPENAPI_VERSION,
        }
        if request.body:
            headers["Content-MD5"] = _md5(request.body)
            headers["Content-Type"] = _JSON
        if token.security_token is not None:
            headers["x-acs-security-token"] = token.security_token
        text = _openapi_text(request, headers)
        key = token.access_key_secret.encode()
        signature = b64encode(hmac.digest(key, text.encode(), "sha1")).decode()
        return {**headers, "Authorization": f"acs {token.access_key_id}:{signature}"}


def _openapi_text(request: SignedRequest, headers: Mapping[str, str]) -> str:
    """Return the text to sign: method, standard headers, `x-acs-` headers, decoded resource."""
    standard = [headers.get(key, "") for key in ("Accept", "Content-MD5", "Content-Type", "Date")]
    own = sorted(key for key in headers if key.startswith("x-acs-"))
    pairs = sorted(request.parameters.items())
    query = "&".join(f"{key}={value}" if value else key for key, value in pairs)
    resource = unquote_plus(request.path) + (f"?{query}" if pairs else "")
    lines = [f"{key}:{headers[key].strip()}" for key in own]
    return "\n".join((request.method, *standard, *lines, resource))


def _md5(body: str) -> str:
    digest = hashlib.md5(body.encode(), usedforsecurity=False).digest()
    return b64encode(digest).decode()
