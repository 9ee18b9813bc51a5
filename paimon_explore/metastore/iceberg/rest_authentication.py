"""Authentication at an Iceberg REST catalog, by the option names of Iceberg's clients.

| option | authentication |
| --- | --- |
| `token` | a bearer token |
| `credential` | OAuth2 client credentials, `id:secret` |
| neither | none, or that of `header.<name>` |

The OAuth2 server is that of `oauth2-server-uri`, by default the catalog; `scope`, `audience` and
`resource` are sent to it.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlencode

from paimon_explore.errors import FormatError, InvalidResponseError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import parse_object
from paimon_explore.metastore.rest.auth.auth_options import one_line
from paimon_explore.metastore.rest.auth.auth_provider import (
    AuthProvider,
    BearerAuth,
    SignedRequest,
)
from paimon_explore.metastore.rest.error_mapping import Subject, status_error
from paimon_explore.metastore.rest.http_client import HttpClient, Request
from paimon_explore.metastore.rest.http_settings import http_settings

_TOKENS = "/v1/oauth/tokens"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_ACTION = "request a token"
_OK = 200


def check_authentication(options: Mapping[str, str]) -> None:
    """Check that the options ask for a kind of authentication that this package has.

    Raises:
        UnsupportedFeatureError: they ask for another one.
    """
    signs = options.get("rest.sigv4-enabled", "").strip().lower() == "true"
    kind = "sigv4" if signs else options.get("rest.auth.type", "none").strip().lower()
    if kind not in ("none", "oauth2"):
        raise UnsupportedFeatureError(f"authentication {kind!r} at an Iceberg REST catalog")


def iceberg_authentication(
    options: Mapping[str, str], uri: str, fetch: Callable[[str], bytes]
) -> AuthProvider | None:
    """Return the authentication of options; None if they have none.

    Raises:
        InvalidInputError: a token that cannot be sent.
    """
    del fetch
    if options.get("token"):
        return BearerAuth(one_line("token", options["token"]))
    credential = options.get("credential")
    if not credential:
        return None
    name, _, secret = credential.rpartition(":")
    form = {
        "grant_type": "client_credentials",
        **({"client_id": name} if name else {}),
        "client_secret": secret,
        "scope": options.get("scope", "catalog"),
        **{key: options[key] for key in ("audience", "resource") if key in options},
    }
    server = options.get("oauth2-server-uri") or uri + _TOKENS
    client = HttpClient(server, http_settings(options), _FORM)
    return _ClientCredentials(client=client, form=urlencode(form), known={})


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClientCredentials:
    """Tokens that an OAuth2 server issues for credentials.

    Attributes:
        client: the server.
        form: the encoded request.
        known: the current token, if any.
    """

    client: HttpClient
    form: str
    known: dict[str, str]

    def __repr__(self) -> str:
        """The form and the token are secret."""
        return f"_ClientCredentials({self.client!r})"

    def headers(self, request: SignedRequest) -> Mapping[str, str]:  # noqa: ARG002 - the same for all
        """Return the header with the token, which the first request obtains."""
        if not self.known:
            self.known["Authorization"] = f"Bearer {one_line('token', self._token())}"
        return self.known

    def renew(self) -> bool:
        """Forget the token: the next request obtains another one."""
        self.known.clear()
        return True

    def _token(self) -> str:
        request = Request(
            method="POST", path="", action=_ACTION, parameters={}, body=self.form, repeatable=True
        )
        response = self.client.send(request)
        if response.status != _OK:
            subject = Subject(kind="server", name=self.client.uri)
            raise status_error(response, _ACTION, subject)
        with suppress(FormatError):  # its message may contain the token
            token = parse_object(response.body, response.url).values.get("access_token")
            if isinstance(token, str) and token:
                return token
        reason = "the response has no access_token"
        raise InvalidResponseError(f"{_ACTION} at", response.url, reason)
