"""Creates the authentication of catalog options.

Spec: concepts/rest/bear and concepts/rest/dlf. Without `token.provider` it follows from the other
options: `token` means `bear`, any `dlf.` option means `dlf`.
"""

import re
import threading
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from paimon_explore.data_types.local_time import system_clock, utc_moment
from paimon_explore.errors import InvalidInputError
from paimon_explore.metastore.rest.auth.auth_provider import (
    AuthProvider,
    BearerAuth,
    SignedRequest,
    TokenLifetime,
)
from paimon_explore.metastore.rest.auth.dlf_signers import DefaultSigner, DlfSigner, OpenApiSigner
from paimon_explore.metastore.rest.auth.dlf_token import (
    DlfToken,
    DlfTokenLoader,
    EcsRoleLoader,
    TokenFileLoader,
    constant_token,
)
from paimon_explore.threads import free_in_forks


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
        self._lock = free_in_forks(threading.Lock())

    def __repr__(self) -> str:
        """Without the keys."""
        return f"DlfAuth({type(self._signer).__name__})"

    def __getstate__(self) -> dict[str, object]:
        """All but the lock."""
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore with a new lock."""
        self.__dict__.update(state)
        self._lock = free_in_forks(threading.Lock())

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return the headers that sign a request."""
        token = self._fresh()
        now = utc_moment(self._clock())
        return self._signer.headers(request, token, now)

    def renew(self) -> bool:
        """Load the keys again; False if they are constant.

        Another thread may have loaded them since the refused request was signed.
        """
        if self._loader is None:
            return False
        with self._lock:
            self._load()
        return True

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


_ECS_URL = "http://100.100.100.200/latest/meta-data/Ram/security-credentials/"
_REGION = re.compile(r"(?:pre-)?([a-z]+-[a-z]+(?:-\d+)?)")
_PROVIDERS = "Token providers: 'bear' (option 'token') and 'dlf' (options 'dlf.…')."


def auth_provider(
    options: Mapping[str, str], uri: str, fetch: Callable[[str], bytes]
) -> AuthProvider:
    """Return the authentication of catalog options.

    Args:
        options: the catalog options.
        uri: the base URI of the server.
        fetch: returns the body of a URL, for the metadata service of ECS hosts.

    Raises:
        InvalidInputError: no or unusable credentials.
    """
    provider = options.get("token.provider") or _implied(options)
    if provider == "bear":
        token = options.get("token", "")
        if not token:
            raise InvalidInputError("The catalog option 'token' is missing.", hint=_PROVIDERS)
        return BearerAuth(one_line("token", token))
    if provider == "dlf":
        return _dlf(options, uri, fetch)
    if provider is None:
        raise InvalidInputError("A REST catalog needs credentials.", hint=_PROVIDERS)
    raise InvalidInputError(f"The token provider {provider!r} is unknown.", hint=_PROVIDERS)


def _implied(options: Mapping[str, str]) -> str | None:
    if "token" in options:
        return "bear"
    return "dlf" if any(key.startswith("dlf.") for key in options) else None


def _dlf(options: Mapping[str, str], uri: str, fetch: Callable[[str], bytes]) -> DlfAuth:
    signer = _signer(options, uri)
    loader = _loader(options, fetch)
    if loader is not None:
        return DlfAuth(signer, loader=loader)
    key, secret = options.get("dlf.access-key-id"), options.get("dlf.access-key-secret")
    if key is None or secret is None:
        raise InvalidInputError(
            "The token provider 'dlf' needs keys.",
            hint="Set 'dlf.access-key-id' and 'dlf.access-key-secret', or 'dlf.token-path', or "
            "set 'dlf.token-loader' to 'ecs'.",
        )
    token = constant_token(key, secret, options.get("dlf.security-token"))
    return DlfAuth(signer, token=token)


def _loader(options: Mapping[str, str], fetch: Callable[[str], bytes]) -> DlfTokenLoader | None:
    path = options.get("dlf.token-path")
    kind = options.get("dlf.token-loader") or ("local_file" if path is not None else None)
    match kind:
        case None:
            return None
        case "local_file":
            if not path:
                raise InvalidInputError(
                    "The catalog option 'dlf.token-path' is missing, the path of the file with the "
                    "token, which 'dlf.token-loader' = 'local_file' requires."
                )
            return TokenFileLoader(path)
        case "ecs":
            url = options.get("dlf.token-ecs-metadata-url", _ECS_URL)
            role = options.get("dlf.token-ecs-role-name")
            return EcsRoleLoader(url=url, role=role, fetch=fetch)
        case _:
            raise InvalidInputError(
                f"The DLF token loader {kind!r} is unknown.",
                hint="Token loaders: 'local_file' and 'ecs'.",
            )


def _signer(options: Mapping[str, str], uri: str) -> DlfSigner:
    implied = "openapi" if "dlfnext" in uri.lower() else "default"
    match options.get("dlf.signing-algorithm", implied):
        case "default":
            return DefaultSigner(options.get("dlf.region") or _region(uri))
        case "openapi":
            return OpenApiSigner(host=urlsplit(uri).netloc)
        case other:
            raise InvalidInputError(
                f"The DLF signing algorithm {other!r} is unknown.",
                hint="Algorithms: 'default' and 'openapi'.",
            )


def _region(uri: str) -> str:
    found = _REGION.search(uri)
    if found is None:
        raise InvalidInputError(
            "The region of DLF is unknown.", hint="Set the option 'dlf.region', e.g. 'cn-hangzhou'."
        )
    return found[1]


def one_line(key: str, text: str) -> str:
    """Return the value of a header, which must not contain line breaks.

    Raises:
        InvalidInputError: it cannot be sent.
    """
    if not text.isascii() or not text.isprintable():
        raise InvalidInputError(
            f"The catalog option {key!r} must consist of printable ASCII characters."
        )
    return text
