"""`RestIcebergCatalog`: Iceberg tables in an Iceberg REST catalog.

A registration reads the table from the catalog and sends the updates that lead from there to the
new metadata, on condition that the table has not changed meanwhile. A table that does not exist is
created together with its snapshots, in one request. A table whose history the metadata does not
continue, as after a rollback, is dropped and created again, as Java Paimon does; the catalog is
told to keep its files.

Spec: Iceberg's OpenAPI document of the REST catalog; iceberg/rest-catalog.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlencode

from paimon_explore.commit.iceberg.schema_json import Json
from paimon_explore.commit.iceberg.table_metadata import parse_metadata
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import (
    AlreadyExistsError,
    FormatError,
    InvalidInputError,
    InvalidResponseError,
    NotFoundError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject, parse_object
from paimon_explore.metadata.options.iceberg_options import (
    ICEBERG_DELETE_AFTER_COMMIT,
    ICEBERG_PREVIOUS_VERSIONS_MAX,
    ICEBERG_PROPERTIES_PREFIX,
    ICEBERG_REST_PREFIX,
    ICEBERG_TABLE,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metastore.iceberg.table_updates import (
    CatalogTable,
    changes,
    continues,
    creation,
    empty_table,
    is_of_another_table,
    parse_catalog_table,
)
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.metastore.rest.auth.auth_options import one_line
from paimon_explore.metastore.rest.auth.auth_provider import (
    AuthProvider,
    BearerAuth,
    SignedRequest,
)
from paimon_explore.metastore.rest.error_mapping import Subject, status_error
from paimon_explore.metastore.rest.http_client import (
    HttpClient,
    Request,
    import_httpx,
    normalized_uri,
)
from paimon_explore.metastore.rest.http_settings import http_settings
from paimon_explore.metastore.rest.resource_paths import encoded
from paimon_explore.metastore.rest.rest_client import RestClient, checked_response
from paimon_explore.store.iceberg_catalog import ExportedTable, NewestMetadata

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
            raise status_error(response, request, Subject(kind="server", name=self.client.uri))
        with suppress(FormatError):  # its message may contain the token
            token = parse_object(response.body, response.url).values.get("access_token")
            if isinstance(token, str) and token:
                return token
        reason = "the response has no access_token"
        raise InvalidResponseError(f"{_ACTION} at", response.url, reason)


_ATTEMPTS = 5
_URI = "uri"
_RESERVED = frozenset(
    {"format-version", "uuid", "snapshot-count", "current-snapshot-summary", "current-schema"}
    | {"current-snapshot-id", "current-snapshot-timestamp-ms", "default-partition-spec"}
    | {"default-sort-order"}
)
"""Properties that Iceberg refuses to set."""


class RestIcebergCatalog:
    """The Iceberg table of one table in an Iceberg REST catalog.

    Args:
        table: the table.
        wanted: its name in the catalog.

    Raises:
        InvalidInputError: no URI, or a wrong option.
        UnsupportedFeatureError: another kind of authentication, or httpx is not installed.
    """

    def __init__(self, table: ExportedTable, wanted: Identifier) -> None:
        self._wanted = wanted
        self._options = _with_prefix(table.options, ICEBERG_REST_PREFIX)
        if not self._options.get(_URI):
            raise InvalidInputError(
                f"The option '{ICEBERG_REST_PREFIX}{_URI}' is missing.",
                hint="It looks like 'https://host:port'.",
            )
        self._uri = normalized_uri(self._options[_URI])
        check_authentication(self._options)
        import_httpx()
        self._properties = _properties(table.options)
        self._location = table.root

    @property
    def place(self) -> str:
        """The table and the server."""
        return f"{self._wanted.full_name} in the Iceberg REST catalog at {self._uri}"

    def register(self, newest: NewestMetadata) -> None:
        """Bring the table in the catalog to the state of the newest metadata file."""
        client = RestClient(self._options, authenticate=iceberg_authentication)
        try:
            for _ in range(_ATTEMPTS):
                with suppress(AlreadyExistsError):  # changed by another client meanwhile
                    self._register(_Requests(client, self._wanted), newest)
                    return
        finally:
            client.close()
        reason = "other clients changed the table at the same time"
        raise StorageError("update the Iceberg table at", self._uri, reason)

    def _register(self, requests: "_Requests", newest: NewestMetadata) -> None:
        known, found = requests.load(), newest()
        if found is None:
            return
        path, data = found
        new = parse_metadata(data, path)
        if known is not None and is_of_another_table(known, new):
            raise InvalidInputError(
                f"The catalog has another table {self._wanted.full_name}, at {known.location}.",
                hint=f"Drop it there, or set the option {ICEBERG_TABLE.key!r} to another name.",
            )
        if known is not None and not continues(known, new):
            requests.drop()
            known = None
        now_ms = system_clock()
        if known is not None:
            updates = changes(known, new, self._properties, now_ms)
            if updates:
                requests.commit(_unchanged(known), updates)
            return
        ready = requests.prepare(new.format_version, self._location)
        start = empty_table(ready, new)
        updates = [*creation(ready, new), *changes(start, new, self._properties, now_ms)]
        requests.commit([{"type": "assert-create"}], updates)


class _Requests:
    """Requests about one table."""

    def __init__(self, client: RestClient, wanted: Identifier) -> None:
        self._client = client
        self._wanted = wanted
        self._subject = Subject(kind="table", name=wanted.table, where=wanted.database)
        prefix = client.options.get("prefix", "").strip("/")
        self._namespaces = f"/v1/{prefix}/namespaces" if prefix else "/v1/namespaces"
        self._namespace = f"{self._namespaces}/{encoded(wanted.database)}"
        self._tables = f"{self._namespace}/tables"
        self._table = f"{self._tables}/{encoded(wanted.table)}"

    def load(self) -> CatalogTable | None:
        """Return the table, if it exists."""
        try:
            found = self._client.get(self._table, self._does("load"), self._subject)
        except NotFoundError:
            return None
        return _parsed(found, self._does("load"))

    def prepare(self, format_version: int, location: str) -> CatalogTable:
        """Return the empty table that the catalog is ready to create, and create its namespace.

        Args:
            format_version: the format version.
            location: its folder, for catalogs that do not choose one.
        """
        self._create_namespace()
        body: dict[str, Json] = {
            "name": self._wanted.table,
            "schema": {"type": "struct", "schema-id": 0, "fields": []},
            "stage-create": True,
            "properties": {"format-version": str(format_version)},
        }
        try:
            return self._prepared(body)
        except InvalidInputError:
            return self._prepared({**body, "location": _of_s3(location)})

    def _create_namespace(self) -> None:
        name = self._wanted.database
        subject = Subject(kind="namespace", name=name)
        try:
            self._client.get(self._namespace, f"load namespace {name!r}", subject)
        except NotFoundError:
            body = {"namespace": [name], "properties": {}}
            with suppress(AlreadyExistsError):
                action = f"create namespace {name!r}"
                self._client.post(self._namespaces, action, subject, body=body)

    def _prepared(self, body: Mapping[str, Json]) -> CatalogTable:
        action = self._does("create")
        found = self._client.post(self._tables, action, self._subject, body=body)
        return _parsed(found, action)

    def commit(self, requirements: list[Json], updates: list[Json]) -> None:
        """Change or create the table."""
        body = {
            "identifier": {"namespace": [self._wanted.database], "name": self._wanted.table},
            "requirements": requirements,
            "updates": updates,
        }
        self._client.post(self._table, self._does("update"), self._subject, body=body)

    def drop(self) -> None:
        """Drop the table; its files remain."""
        with suppress(NotFoundError):
            self._client.delete(self._table, self._does("drop"), self._subject)

    def _does(self, verb: str) -> str:
        return f"{verb} Iceberg table {self._wanted.full_name!r}"


def _parsed(response: JsonObject, action: str) -> CatalogTable:
    with checked_response(action, response.path):
        metadata = response.optional_object("metadata")
        if metadata is None:
            raise response.error("metadata", "must be present")
        try:
            return parse_catalog_table(metadata)
        except RecursionError:
            raise response.error("metadata", "must not be nested deeply") from None


def _unchanged(known: CatalogTable) -> list[Json]:
    """Return the requirements that the table is as it was read."""
    return [
        {"type": "assert-table-uuid", "uuid": known.uuid},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": known.current},
    ]


def _properties(options: TableOptions) -> dict[str, str]:
    """Return the properties of the Iceberg table that the options of a table ask for."""
    given = _with_prefix(options, ICEBERG_PROPERTIES_PREFIX)
    previous = options.value(ICEBERG_PREVIOUS_VERSIONS_MAX)
    deletes = options.value(ICEBERG_DELETE_AFTER_COMMIT)
    return {
        "write.metadata.previous-versions-max": str(previous),
        "write.metadata.delete-after-commit.enabled": str(deletes).lower(),
        **{key: value for key, value in given.items() if key not in _RESERVED},
    }


def _with_prefix(options: TableOptions, prefix: str) -> dict[str, str]:
    return {k.removeprefix(prefix): v for k, v in options.items() if k.startswith(prefix)}


def _of_s3(location: str) -> str:
    """Return a location with the scheme of S3 that Iceberg's catalogs know."""
    kind, separator, rest = location.partition("://")
    return f"s3://{rest}" if separator and kind in ("s3a", "s3n") else location
