"""What a JDBC catalog in MySQL is sent, with a driver that records it."""

import sys
from pathlib import Path
from ssl import SSLContext
from types import ModuleType

import pytest

from paimon_explore import Catalog
from paimon_explore.errors import NotFoundError
from paimon_explore.metastore.jdbc.dialects import dialect_of

OF_TABLE = "catalog_key = %s AND database_name = %s AND table_name = %s"
PROPERTY = "catalog_key, database_name, table_name, property_key, property_value"


class MySQLError(Exception):
    """The error class of the driver."""


class Cursor:
    """A cursor without rows, unless tables are asked for."""

    def __init__(self, log: list[tuple[str, tuple[object, ...]]]) -> None:
        self._log = log
        self.rowcount = 1
        self._rows: list[tuple[object, ...]] = []

    def execute(self, query: str, args: tuple[object, ...] | None = None) -> int:
        self._log.append((query, args or ()))
        self._rows = [("db",)] if "FROM paimon_database_properties" in query else []
        return 1

    def fetchall(self) -> list[tuple[object, ...]]:
        return self._rows

    def close(self) -> None:
        pass


class Connection:
    def __init__(self, log: list[tuple[str, tuple[object, ...]]]) -> None:
        self._log = log

    def cursor(self) -> Cursor:
        return Cursor(self._log)

    def close(self) -> None:
        pass


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[object, ...]]]:
    """What the driver is asked to run."""
    found: list[tuple[str, tuple[object, ...]]] = []
    driver = ModuleType("pymysql")
    vars(driver).update(connect=lambda **_: Connection(found), MySQLError=MySQLError)
    monkeypatch.setitem(sys.modules, "pymysql", driver)
    return found


def test_mysql_is_sent_the_statements_of_javas_catalog(
    log: list[tuple[str, tuple[object, ...]]], tmp_path: Path
) -> None:
    catalog = Catalog(
        options={
            "metastore": "jdbc",
            "uri": "jdbc:mysql://host/db",
            "warehouse": str(tmp_path),
            "lock.enabled": "true",
        }
    )
    assert catalog.databases() == ["db"]
    created = [query.partition("(")[0] for query, _ in log if query.startswith("CREATE")]
    assert created == [
        "CREATE TABLE paimon_tables",
        "CREATE TABLE paimon_database_properties",
        "CREATE TABLE paimon_table_properties",
        "CREATE TABLE paimon_views",
        "CREATE TABLE paimon_distributed_locks",
    ]
    log.clear()
    with pytest.raises(NotFoundError):  # the driver keeps no rows
        catalog.create_table("db.t", {"a": "INT"}, options={"x.y": "z"})
    changes = [
        entry for entry in log if entry[0].split()[0] in ("INSERT", "DELETE", "START", "COMMIT")
    ]
    assert changes[:6] == [
        (
            "INSERT INTO paimon_distributed_locks (lock_id,expire_time_seconds) VALUES (%s,%s)",
            ("jdbc.db.t", 480),
        ),
        ("START TRANSACTION", ()),
        (
            "INSERT INTO paimon_tables (catalog_key, database_name, table_name) VALUES (%s,%s,%s)",
            ("jdbc", "db", "t"),
        ),
        (
            f"DELETE FROM paimon_table_properties WHERE {OF_TABLE}",  # noqa: S608
            ("jdbc", "db", "t"),
        ),
        (
            f"INSERT INTO paimon_table_properties ({PROPERTY}) VALUES (%s,%s,%s,%s,%s)",  # noqa: S608
            ("jdbc", "db", "t", "x.y", "z"),
        ),
        ("COMMIT", ()),
    ]
    assert changes[6] == (
        "DELETE FROM paimon_distributed_locks WHERE lock_id = %s",
        ("jdbc.db.t",),
    )


@pytest.mark.parametrize(
    ("address", "properties", "expected"),
    [
        ("//h/db", {}, ("h", 3306, "db", None, "", None)),
        ("//h:1/db?user=u&password=p%40", {}, ("h", 1, "db", "u", "p@", None)),
        ("//u:p@h/db?useSSL=true", {}, ("h", 3306, "db", "u", "p", False)),
        (
            "//h/db?user=u&sslMode=verify_identity",
            {"user": "other", "password": "x"},
            ("h", 3306, "db", "other", "x", True),
        ),
        ("//h/db?sslMode=DISABLED", {}, ("h", 3306, "db", None, "", None)),
    ],
)
def test_addresses_of_mysql_are_understood(
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    properties: dict[str, str],
    expected: tuple[str, int, str, str | None, str, bool | None],
) -> None:
    """The last value tells whether the name of the server is verified; None: no encryption."""
    given: dict[str, object] = {}

    def connect(**settings: object) -> Connection:
        given.update(settings)
        return Connection([])

    driver = ModuleType("pymysql")
    driver.__dict__["connect"] = connect
    monkeypatch.setitem(sys.modules, "pymysql", driver)
    dialect, rest = dialect_of(f"jdbc:mysql:{address}")
    dialect.connect(rest, properties)
    *login, tls = (given[name] for name in ("host", "port", "database", "user", "password", "ssl"))
    verified = tls.check_hostname if isinstance(tls, SSLContext) else tls
    assert (*login, verified) == expected
