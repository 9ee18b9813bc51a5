"""Creates the authentication of catalog options.

Spec: concepts/rest/bear and concepts/rest/dlf. Without `token.provider` it follows from the other
options: `token` means `bear`, any `dlf.` option means `dlf`.
"""

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from paimon_explore.errors import InvalidInputError
from paimon_explore.metastore.rest.auth.auth_provider import AuthProvider, BearerAuth
from paimon_explore.metastore.rest.auth.dlf_auth import DlfAuth
from paimon_explore.metastore.rest.auth.dlf_signers import DefaultSigner, DlfSigner, OpenApiSigner
from paimon_explore.metastore.rest.auth.dlf_token import (
    DlfTokenLoader,
    EcsRoleLoader,
    TokenFileLoader,
    constant_token,
)

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
                raise InvalidInputError("The catalog option 'dlf.token-path' is missing.")
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
