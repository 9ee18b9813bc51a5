"""The interface of authentication, and bearer tokens."""

from collections.abc import Mapping
from typing import Protocol

from paimon_explore.frozen_dataclass import dataclass


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
