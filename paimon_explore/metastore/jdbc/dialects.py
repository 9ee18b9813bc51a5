"""The databases that can hold a catalog: how to connect, and where their SQL differs.

JDBC addresses (`jdbc:postgresql://host/db?user=me`) are translated to the parameters of the Python
drivers, which are imported on first use: `sqlite3`, `psycopg` and `pymysql`.
"""

import re
import sqlite3
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from ssl import CERT_NONE, SSLContext, create_default_context
from typing import Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, needs_extra
from paimon_explore.frozen_dataclass import dataclass

_SQLITE_DUPLICATE = frozenset(
    {sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE}
)
_SQLITE_WAIT_S = 30.0
"""How long SQLite waits for the locks of other processes."""
_CONNECT_TIMEOUT_S = 10


class Cursor(Protocol):
    """The part of a DB-API cursor that is used."""

    @property
    def rowcount(self) -> int:
        """Number of changed rows."""

    def fetchall(self) -> Sequence[Sequence[object]]:
        """Return the rows of a query."""

    def close(self) -> None:
        """Close the cursor."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection that commits each statement by itself.

    Attributes:
        run: runs a statement with the placeholders of the driver.
        close: closes the connection.
    """

    run: Callable[[str, Sequence[object]], Cursor]
    close: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A kind of database.

    Attributes:
        name: the name in messages.
        placeholder: what stands for an argument.
        begin: the statement that starts a transaction that writes.
        table_exists: a query for the table whose name is its argument.
        lock_expired: the condition of an expired lock; None if there are no locks.
        connect: opens a connection from the rest of the address and the properties.
        errors: the classes of errors of the driver.
        is_duplicate: whether an error reports a violated unique constraint.
        is_busy: whether an error reports that another process holds a lock of the database.
    """

    name: str
    placeholder: str
    begin: str
    table_exists: str
    lock_expired: str | None
    connect: Callable[[str, Mapping[str, str]], Connection]
    errors: Callable[[], tuple[type[Exception], ...]]
    is_duplicate: Callable[[Exception], bool]
    is_busy: Callable[[Exception], bool]


_ADDRESS = re.compile(r"jdbc:([A-Za-z]+):(.*)", re.DOTALL)


def dialect_of(uri: str) -> tuple[Dialect, str]:
    """Return the dialect of a JDBC address, and the address without `jdbc:<protocol>:`.

    Raises:
        InvalidInputError: not a JDBC address.
        UnsupportedFeatureError: a database that is not supported.
    """
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        raise InvalidInputError(
            f"Option 'uri' must be a JDBC address, not {uri!r}.",
            hint="Addresses look like jdbc:postgresql://host:5432/db or jdbc:sqlite:/path/file.db.",
        )
    dialect = _DIALECTS.get(found[1].lower())
    if dialect is None:
        known = ", ".join(_DIALECTS)
        raise UnsupportedFeatureError(
            f"a JDBC catalog in {found[1]!r}", hint=f"Supported databases: {known}."
        )
    return dialect, found[2]


def absolute_address(uri: str) -> str:
    """Return a JDBC address that means the same in other processes: SQLite files by full path.

    >>> absolute_address("jdbc:sqlite:/data/catalog.db")
    'jdbc:sqlite:/data/catalog.db'
    """
    dialect, rest = dialect_of(uri)
    path, mark, query = rest.partition("?")
    if dialect is not _SQLITE or path.startswith(("file:", ":")) or not path:
        return uri
    return f"jdbc:sqlite:{Path(path).absolute()}{mark}{query}"


# ---------------------------------------------------------------- SQLite


def _connect_sqlite(address: str, properties: Mapping[str, str]) -> Connection:
    del properties  # of Java's driver
    path, _, _ = address.partition("?")
    is_uri = path.startswith("file:")
    opened = sqlite3.connect(
        address if is_uri else path or ":memory:",
        timeout=_SQLITE_WAIT_S,
        isolation_level=None,
        check_same_thread=False,
        uri=is_uri,
    )
    return Connection(opened.execute, opened.close)


def _is_duplicate_sqlite(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and error.sqlite_errorcode in _SQLITE_DUPLICATE


def _is_busy_sqlite(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


# ---------------------------------------------------------------- PostgreSQL

_POSTGRES_NAMES = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "loginTimeout": "connect_timeout",
    "options": "options",
}
"""Parameters of Java's driver and those of libpq; others tune Java's driver only."""


def _connect_postgres(address: str, properties: Mapping[str, str]) -> Connection:
    with needs_extra("jdbc-postgres", "a JDBC catalog in PostgreSQL"):
        import psycopg  # noqa: PLC0415 - optional
    given = _parameters(address, properties)
    settings = {
        _POSTGRES_NAMES[key]: value for key, value in given.items() if key in _POSTGRES_NAMES
    }
    settings.setdefault("connect_timeout", str(_CONNECT_TIMEOUT_S))
    if given.get("ssl", "false").lower() != "false":
        settings.setdefault("sslmode", "verify-full")  # as Java's driver
    if "currentSchema" in given:
        search = f"-c search_path={given['currentSchema']}"
        settings["options"] = f"{settings.get('options', '')} {search}".strip()
    base = address.partition("?")[0]
    if not base.startswith("//"):
        base = f"//localhost/{base}"
    where = psycopg.conninfo.make_conninfo(f"postgresql:{base}", **settings)
    connection = psycopg.connect(where, autocommit=True, prepare_threshold=None)
    # acquired_at of locks is a timestamp without time zone; Java's driver uses the local zone
    offset = datetime.now().astimezone().strftime("%z")
    connection.execute(f"SET TIME ZONE INTERVAL '{offset[:3]}:{offset[3:5]}' HOUR TO MINUTE")
    return Connection(connection.execute, connection.close)


def _postgres_errors() -> tuple[type[Exception], ...]:
    import psycopg  # noqa: PLC0415 - optional

    return (psycopg.Error,)


def _is_duplicate_postgres(error: Exception) -> bool:
    import psycopg  # noqa: PLC0415 - optional

    return isinstance(error, psycopg.Error) and error.sqlstate == "23505"


# ---------------------------------------------------------------- MySQL

_MYSQL_PORT = 3306
_MYSQL_DUPLICATE = 1062
_MYSQL_LOST = 2013
_GARBAGE = (IndexError, struct.error, ValueError, TypeError, AssertionError)
"""What the driver raises if a server answers with something else than MySQL's protocol."""
_MYSQL_TLS = frozenset({"REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"})
_MYSQL_BUSY = frozenset({1205, 1213})
"""Lock wait timeout and deadlock."""


def _connect_mysql(address: str, properties: Mapping[str, str]) -> Connection:
    with needs_extra("jdbc-mysql", "a JDBC catalog in MySQL"):
        import pymysql  # noqa: PLC0415 - optional
    parts = urlsplit(address)
    given = _parameters(address, properties)
    user = given.get("user") or (None if parts.username is None else unquote(parts.username))
    try:
        connection = pymysql.connect(
            host=parts.hostname or "localhost",
            port=parts.port or _MYSQL_PORT,
            database=unquote(parts.path.lstrip("/")),
            user=user,
            password=given.get("password") or unquote(parts.password or ""),
            autocommit=True,
            connect_timeout=_CONNECT_TIMEOUT_S,
            charset="utf8mb4",
            ssl=_tls(given),
        )
    except _GARBAGE as error:
        message = "the server does not speak the protocol of MySQL"
        raise pymysql.OperationalError(_MYSQL_LOST, message) from error

    def run(sql: str, arguments: Sequence[object]) -> Cursor:
        cursor = connection.cursor()
        cursor.execute(sql, tuple(arguments) or None)
        return cursor

    return Connection(run, connection.close)


def _tls(given: Mapping[str, str]) -> SSLContext | None:
    encrypted = given.get("useSSL", "false").lower() == "true"
    mode = given.get("sslMode", "REQUIRED" if encrypted else "").upper()
    if mode not in _MYSQL_TLS:
        return None
    context = create_default_context()
    context.check_hostname = mode == "VERIFY_IDENTITY"
    if mode == "REQUIRED":
        context.verify_mode = CERT_NONE
    return context


def _mysql_errors() -> tuple[type[Exception], ...]:
    import pymysql  # noqa: PLC0415 - optional

    return (pymysql.MySQLError,)


def _is_duplicate_mysql(error: Exception) -> bool:
    return error.args[:1] == (_MYSQL_DUPLICATE,)


def _is_busy_mysql(error: Exception) -> bool:
    return bool(error.args) and error.args[0] in _MYSQL_BUSY


# ---------------------------------------------------------------- all


def _parameters(address: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of an address; properties (`jdbc.user`) override them."""
    query = address.partition("?")[2]
    return {**dict(parse_qsl(query, keep_blank_values=True)), **properties}


_SQLITE = Dialect(
    name="SQLite",
    placeholder="?",
    begin="BEGIN IMMEDIATE",
    table_exists="SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
    lock_expired="strftime('%s', 'now') - strftime('%s', acquired_at) > expire_time_seconds",
    connect=_connect_sqlite,
    errors=lambda: (sqlite3.Error,),
    is_duplicate=_is_duplicate_sqlite,
    is_busy=_is_busy_sqlite,
)
_POSTGRES = Dialect(
    name="PostgreSQL",
    placeholder="%s",
    begin="BEGIN",
    table_exists="SELECT 1 FROM information_schema.tables "
    "WHERE table_schema = ANY(current_schemas(false)) AND table_name = ?",
    lock_expired="EXTRACT(EPOCH FROM AGE(NOW(), acquired_at)) > expire_time_seconds",
    connect=_connect_postgres,
    errors=_postgres_errors,
    is_duplicate=_is_duplicate_postgres,
    is_busy=lambda _: False,
)
_MYSQL = Dialect(
    name="MySQL",
    placeholder="%s",
    begin="START TRANSACTION",
    table_exists="SELECT 1 FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_name = ?",
    lock_expired="TIMESTAMPDIFF(SECOND, acquired_at, NOW()) > expire_time_seconds",
    connect=_connect_mysql,
    errors=_mysql_errors,
    is_duplicate=_is_duplicate_mysql,
    is_busy=_is_busy_mysql,
)
_MARIADB = replace(_MYSQL, name="MariaDB", lock_expired=None)  # Java has no locks there
_DIALECTS = {"sqlite": _SQLITE, "postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MARIADB}
