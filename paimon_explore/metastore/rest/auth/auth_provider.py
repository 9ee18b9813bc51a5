"""The interface of authentication, bearer tokens, and when a token is renewed.

Java renews a token that expires within the next hour. A token that lives only a few minutes is
renewed at half of its life, so that it is not loaded for each request.
"""

from collections.abc import Mapping
from typing import Protocol

from paimon_explore.frozen_dataclass import dataclass

_SAFE_MILLIS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """The parts of a request that a signature covers.

    Attributes:
        method: the HTTP method.
        path: the encoded path, without the base URI.
        parameters: the query parameters, not encoded.
        body: the body as text; empty for none.
    """

    method: str
    path: str
    parameters: Mapping[str, str]
    body: str = ""


class AuthProvider(Protocol):
    """Authentication of requests; can be pickled."""

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return the headers that authenticate a request."""

    def renew(self) -> bool:
        """Load new credentials after the server refused the current ones; False if impossible."""


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """A constant bearer token."""

    token: str

    def __repr__(self) -> str:
        """The token is secret."""
        return "BearerAuth(******)"

    def headers(self, request: SignedRequest) -> Mapping[str, str]:  # noqa: ARG002 - the same for all
        """Return the header with the token."""
        return {"Authorization": f"Bearer {self.token}"}

    def renew(self) -> bool:
        """Return False: the token is constant."""
        return False


@dataclass(frozen=True, slots=True)
class TokenLifetime:
    """The lifetime of a token, epoch milliseconds."""

    received_at: int
    expires_at: int

    def is_due(self, now: int) -> bool:
        """Return whether the token should be renewed.

        >>> TokenLifetime(0, 10_000).is_due(4_000), TokenLifetime(0, 10_000).is_due(6_000)
        (False, True)
        >>> TokenLifetime(0, 8_000_000).is_due(4_300_000)
        False
        """
        margin = min(_SAFE_MILLIS, max(self.expires_at - self.received_at, 0) // 2)
        return now >= self.expires_at - margin
