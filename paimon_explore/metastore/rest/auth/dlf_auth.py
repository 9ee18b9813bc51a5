"""Authentication at DLF: signs requests with keys that are loaded again before they expire."""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from paimon_explore.commit.commit_timing import system_clock
from paimon_explore.metastore.rest.auth.auth_provider import SignedRequest
from paimon_explore.metastore.rest.auth.dlf_signers import DlfSigner
from paimon_explore.metastore.rest.auth.dlf_token import DlfToken, DlfTokenLoader
from paimon_explore.metastore.rest.token_expiry import TokenLifetime


class DlfAuth:
    """Signs requests.

    Args:
        signer: the signature algorithm.
        token: constant keys; None if they are loaded.
        loader: loads temporary keys; None for constant ones.
        clock: returns epoch milliseconds.
    """

    def __init__(
        self,
        signer: DlfSigner,
        *,
        token: DlfToken | None = None,
        loader: DlfTokenLoader | None = None,
        clock: Callable[[], int] = system_clock,
    ) -> None:
        self._signer = signer
        self._token = token
        self._loader = loader
        self._clock = clock
        self._lifetime: TokenLifetime | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        """Without the keys."""
        return f"DlfAuth({type(self._signer).__name__})"

    def __getstate__(self) -> dict[str, object]:
        """All but the lock."""
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore with a new lock."""
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return the headers that sign a request."""
        token = self._fresh()
        now = datetime.fromtimestamp(self._clock() / 1000, UTC)
        return self._signer.headers(request, token, now)

    def renew(self) -> bool:
        """Load the keys again; False if they are constant or unchanged."""
        if self._loader is None:
            return False
        with self._lock:
            before = self._token
            return self._load() != before

    def _fresh(self) -> DlfToken:
        with self._lock:
            token = self._token
            due = self._lifetime is not None and self._lifetime.is_due(self._clock())
            if token is None or (due and self._loader is not None):
                token = self._load()
            return token

    def _load(self) -> DlfToken:
        assert self._loader is not None  # noqa: S101 - constant keys are given
        self._token = token = self._loader.load()
        expires = token.expires_at_millis
        self._lifetime = None if expires is None else TokenLifetime(self._clock(), expires)
        return token
