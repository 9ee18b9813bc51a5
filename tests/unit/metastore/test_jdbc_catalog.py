"""JDBC catalogs in SQLite: locks, failures in the middle of an act, and bad input."""

import pickle
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from paimon_explore import Catalog
from paimon_explore.errors import (
    AlreadyExistsError,
    CommitError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.metastore.jdbc.jdbc_database import DuplicateRowError, JdbcDatabase
from paimon_explore.table.catalog.catalog import iter_table_names

COLUMNS = {"a": "BIGINT"}
HIDDEN = "hunter2-hunter2"


def options(folder: Path, **more: str) -> dict[str, str]:
    found = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{folder / 'catalog.db'}"}
    found["warehouse"] = str(folder / "warehouse")
    return {**found, **{key.replace("_", "-"): value for key, value in more.items()}}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    """A catalog with locks that are soon given up."""
    found = {**options(tmp_path, lock_acquire_timeout="1 s"), "lock.enabled": "true"}
    made = Catalog(options=found)
    made.create_database("db")
    yield made
    made.close()


@contextmanager
def rows(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database, as another process sees it."""
    opened = sqlite3.connect(folder / "catalog.db", isolation_level=None)
    yield opened
    opened.close()


def lock(folder: Path, acquired: str, expires_after: int) -> None:
    insert = "INSERT INTO paimon_distributed_locks VALUES ('jdbc.db.t', datetime('now', ?), ?)"
    with rows(folder) as opened:
        opened.execute(insert, (acquired, expires_after))


def locks(folder: Path) -> list[tuple[object, ...]]:
    with rows(folder) as opened:
        return opened.execute("SELECT * FROM paimon_distributed_locks").fetchall()


# ---------------------------------------------------------------- locks


def test_nothing_is_committed_while_another_process_holds_the_lock(
    catalog: Catalog, tmp_path: Path
) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    table.append([{"a": 1}])
    files = {str(path) for path in tmp_path.rglob("manifest*/*")}
    lock(tmp_path, "+0 seconds", 480)
    hasty = {**options(tmp_path, lock_acquire_timeout="200 ms"), "lock.enabled": "true"}
    other = Catalog(options=hasty)
    table = other.table("db.t")
    with pytest.raises(CommitError, match=r"Nothing was committed.*'jdbc.db.t'.* more than 0\.2 s"):
        table.append([{"a": 2}])
    with pytest.raises(CommitError, match="the catalog's lock could not be acquired"):
        table.add_column("b", "INT")
    with pytest.raises(StorageError, match="lock-acquire-timeout"):
        other.rename_table("db.t", "db.u")
    other.close()
    assert [snapshot.id for snapshot in table.snapshots] == [1]
    assert table.schema.id == 0
    assert {str(path) for path in tmp_path.rglob("manifest*/*")} == files
    assert len(locks(tmp_path)) == 1


def test_the_lock_of_a_process_that_died_expires(catalog: Catalog, tmp_path: Path) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    lock(tmp_path, "-10 seconds", 5)
    table.append([{"a": 1}])
    assert table.count() == 1
    assert locks(tmp_path) == []


def test_without_locks_rows_of_locks_are_neither_read_nor_written(tmp_path: Path) -> None:
    catalog = Catalog(options=options(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", COLUMNS)
    assert table._store.environment is not None
    assert table._store.environment.lock() is None
    table.append([{"a": 1}])
    with rows(tmp_path) as opened:
        names = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert ("paimon_distributed_locks",) not in names
    catalog.close()


def test_threads_share_a_catalog(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", COLUMNS, options={"commit.max-retries": 1000})
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda value: table.append([{"a": value}]), range(12)))
    assert sorted(row["a"] for row in table.to_arrow().to_pylist()) == list(range(12))


def test_tables_and_catalogs_are_pickled_without_connections(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    data = pickle.dumps((catalog, table))
    again, same = pickle.loads(data)  # noqa: S301 - our own
    same.append([{"a": 1}])
    assert again.table("db.t").count() == 1
    assert again.tables("db") == ["t"]
    assert same._store.environment == table._store.environment
    again.close()


def test_options_of_a_spark_job_keep_the_catalog_of_a_table(catalog: Catalog) -> None:
    plan = pytest.importorskip("paimon_explore.spark.read_plan")
    table = catalog.create_table("db.t", COLUMNS)
    changed = plan.table_with_options(table, {"write-only": "true"})
    assert changed._store.environment == table._store.environment
    assert changed.name == "db.t"
    assert changed._dynamic_options["write-only"] == "true"


def test_tables_are_listed_page_by_page(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rows(tmp_path) as opened:
        names = [("jdbc", "db", f"t{number:05}") for number in range(2_500)]
        opened.execute("BEGIN")
        opened.executemany("INSERT INTO paimon_tables VALUES (?, ?, ?)", names)
        opened.execute("COMMIT")
    queries: list[str] = []
    fetch = JdbcDatabase.fetch

    def counted(self: JdbcDatabase, sql: str, *arguments: object) -> list[tuple[object, ...]]:
        queries.append(sql)
        return fetch(self, sql, *arguments)

    monkeypatch.setattr(JdbcDatabase, "fetch", counted)
    listed = iter_table_names(catalog, "db")
    assert next(listed) == "t00000"
    assert len([query for query in queries if "ORDER BY table_name" in query]) == 1
    assert len(list(listed)) == 2_499
    assert len([query for query in queries if "ORDER BY table_name" in query]) == 3
    assert catalog.tables("db", "t0249%") == [f"t0249{digit}" for digit in range(10)]


# ---------------------------------------------------------------- failures in the middle


def test_a_table_that_cannot_be_registered_leaves_no_files(
    catalog: Catalog, tmp_path: Path
) -> None:
    with rows(tmp_path) as opened:
        opened.execute(
            "CREATE TRIGGER full BEFORE INSERT ON paimon_table_properties "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
    with pytest.raises(PaimonError):
        catalog.create_table("db.t", COLUMNS, options={"bucket": 1, "bucket-key": "a"})
    assert catalog.tables("db") == []
    assert list(tmp_path.rglob("schema-0")) == []
    with rows(tmp_path) as opened:
        opened.execute("DROP TRIGGER full")
    catalog.create_table("db.t", COLUMNS, options={"bucket": 1, "bucket-key": "a"})
    assert catalog.tables("db") == ["t"]


def test_a_table_whose_folder_cannot_move_keeps_its_name(catalog: Catalog, tmp_path: Path) -> None:
    catalog.create_table("db.t", COLUMNS).append([{"a": 1}])
    in_the_way = tmp_path / "warehouse" / "db.db" / "u"
    in_the_way.mkdir()
    (in_the_way / "file").touch()
    with pytest.raises(StorageError, match="rename"):
        catalog.rename_table("db.t", "db.u")
    assert catalog.tables("db") == ["t"]
    assert catalog.table("db.t").count() == 1


def test_a_table_whose_name_the_database_does_not_change_keeps_its_folder(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = JdbcDatabase.execute

    def commit(self: JdbcDatabase, sql: str, *arguments: object) -> int:
        if sql == "COMMIT" and not reached:
            raise lost
        found = execute(self, sql, *arguments)
        if sql == "COMMIT":
            raise lost
        return found

    catalog.create_table("db.t", COLUMNS).append([{"a": 1}])
    lost, reached = StorageError("run a statement of", "the catalog database", "lost"), False
    with monkeypatch.context() as patch:
        patch.setattr(JdbcDatabase, "execute", commit)
        with pytest.raises(StorageError, match="lost"):
            catalog.rename_table("db.t", "db.u")
    assert catalog.tables("db") == ["t"]
    assert catalog.table("db.t").count() == 1
    reached = True
    with monkeypatch.context() as patch:
        patch.setattr(JdbcDatabase, "execute", commit)
        catalog.rename_table("db.t", "db.u")
    assert catalog.tables("db") == ["u"]
    assert catalog.table("db.u").count() == 1


def test_a_schema_that_the_database_refuses_is_taken_back(catalog: Catalog, tmp_path: Path) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    with rows(tmp_path) as opened:
        opened.execute(
            "CREATE TRIGGER full BEFORE INSERT ON paimon_table_properties "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
    with pytest.raises(PaimonError, match="the disk is full"):
        table.set_options({"x.y": "1"})
    assert "x.y" not in catalog.table("db.t").schema.options


def meanwhile(monkeypatch: pytest.MonkeyPatch, sql: str, act: Callable[[], object]) -> None:
    """Act as another process directly before a statement runs for the first time."""
    execute, acts = JdbcDatabase.execute, [act]

    def interrupted(self: JdbcDatabase, text: str, *arguments: object) -> int:
        if acts and sql in text:
            acts.pop()()
        return execute(self, text, *arguments)

    monkeypatch.setattr(JdbcDatabase, "execute", interrupted)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Catalog]:
    """The catalog of another process: without locks, nothing keeps the two apart."""
    with closing(Catalog(options=options(tmp_path, catalog_key="unlocked"))) as made:
        made.create_database("db")
        yield made


@pytest.mark.parametrize("registers", [True, False])
def test_a_table_that_another_process_creates_at_the_same_time(
    other: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, registers: bool
) -> None:
    Catalog(tmp_path / "warehouse").create_database("db", if_not_exists=True)
    Catalog(tmp_path / "warehouse").create_table("db.t", COLUMNS)
    insert = "INSERT INTO paimon_tables VALUES ('unlocked', 'db', 't')"
    with rows(tmp_path) as opened:
        pauses: list[Callable[[], object]] = [lambda: None] * 9
        if registers:
            pauses[1] = lambda: opened.execute(insert)
        monkeypatch.setattr(time, "sleep", lambda _: pauses.pop(0)())
        if registers:
            other.create_table("db.t", COLUMNS, if_not_exists=True)
            return
        with pytest.raises(InvalidInputError, match="not registered"):
            other.create_table("db.t", COLUMNS, if_not_exists=True)


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_name_that_another_process_takes_during_a_rename_exists(
    other: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    other.create_table("db.t", COLUMNS)
    other.create_view("db.v", "SELECT 1", COLUMNS)
    begin = "BEGIN" if kind == "table" else "UPDATE paimon_views"
    copy = {
        "table": "INSERT INTO paimon_tables VALUES ('unlocked', 'db', 'new')",
        "view": "INSERT INTO paimon_views VALUES ('unlocked', 'db', 'new', '{}')",
    }[kind]
    with rows(tmp_path) as opened:
        meanwhile(monkeypatch, begin, lambda: opened.execute(copy))
        with pytest.raises(AlreadyExistsError, match="'new' already exists"):
            (other.rename_table if kind == "table" else other.rename_view)(
                f"db.{kind[0]}", "db.new"
            )
    assert other.table("db.t").count() == 0


def test_a_table_that_another_process_drops_during_a_rename_is_missing(
    other: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.create_table("db.t", COLUMNS)
    with rows(tmp_path) as opened:
        meanwhile(monkeypatch, "BEGIN", lambda: opened.execute("DELETE FROM paimon_tables"))
        with pytest.raises(NotFoundError, match="'t'"):
            other.rename_table("db.t", "db.u")
    assert (tmp_path / "warehouse/db.db/t").exists()


def test_a_view_is_replaced_at_once(other: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    other.create_view("db.v", "SELECT 1", COLUMNS)
    other.create_table("db.t", COLUMNS)
    execute, statements = JdbcDatabase.execute, []

    def noted(self: JdbcDatabase, sql: str, *arguments: object) -> int:
        statements.append(sql.partition(" ")[0])
        return execute(self, sql, *arguments)

    monkeypatch.setattr(JdbcDatabase, "execute", noted)
    for _ in range(2):
        other.create_view("db.v", "SELECT 2", COLUMNS, replace=True)
    assert "DELETE" not in statements
    assert other.view("db.v").query == "SELECT 2"
    with pytest.raises(AlreadyExistsError, match="'t'"):
        other.create_view("db.t", "SELECT 2", COLUMNS, replace=True)


def test_rows_that_another_process_inserts_are_replaced(
    other: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals, execute = [DuplicateRowError()] * 3, JdbcDatabase.execute

    def beaten(self: JdbcDatabase, sql: str, *arguments: object) -> int:
        if "INSERT" in sql and refusals:
            raise refusals.pop()
        return execute(self, sql, *arguments)

    table = other.create_table("db.t", COLUMNS)
    monkeypatch.setattr(JdbcDatabase, "execute", beaten)
    other.alter_database("db", {"k": "1"})
    assert other.database("db").properties == {"k": "1"}
    refusals += [DuplicateRowError()] * 3
    table.set_options({"x.y": "1"})
    assert other.table("db.t").schema.options["x.y"] == "1"
    refusals += [DuplicateRowError()] * 99
    with pytest.raises(StorageError, match="change the same rows"):
        other.alter_database("db", {"k": "2"})


def test_a_table_that_another_process_creates_in_a_dropped_database_remains(
    other: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rows(tmp_path) as opened:
        insert = "INSERT INTO paimon_tables VALUES ('unlocked', 'db', 't')"
        meanwhile(
            monkeypatch,
            "DELETE FROM paimon_database_properties",
            lambda: opened.execute(insert),
        )
        other.drop_database("db")
    assert other.tables("db") == ["t"]


def test_a_folder_with_a_table_that_is_not_registered_is_not_replaced(
    catalog: Catalog, tmp_path: Path
) -> None:
    Catalog(tmp_path / "warehouse").create_database("db", if_not_exists=True)
    Catalog(tmp_path / "warehouse").create_table("db.t", COLUMNS).append([{"a": 1}])
    with pytest.raises(InvalidInputError, match="not registered in the catalog"):
        catalog.create_table("db.t", COLUMNS)
    assert catalog.tables("db") == []
    assert Catalog(tmp_path / "warehouse").table("db.t").count() == 1


def test_a_registered_table_without_files_is_told(catalog: Catalog, tmp_path: Path) -> None:
    catalog.create_table("db.t", COLUMNS)
    (tmp_path / "warehouse/db.db/t/schema/schema-0").unlink()
    with pytest.raises(NotFoundError, match="'t'"):
        catalog.table("db.t")
    catalog.drop_table("db.t")
    assert catalog.tables("db") == []


def test_names_that_look_like_sql_are_names(catalog: Catalog) -> None:
    name = "t'; DROP TABLE paimon_tables; --"
    catalog.create_table(f"db.{name}", COLUMNS).append([{"a": 1}])
    assert catalog.tables("db") == [name]
    assert catalog.table(f"db.{name}").count() == 1


def test_text_that_is_not_unicode_is_refused(catalog: Catalog) -> None:
    text = "a\ud800"
    acts: list[Callable[[], object]] = [
        lambda: catalog.database_exists(text),
        lambda: catalog.tables(text),
        lambda: catalog.drop_database(text, if_exists=True),
        lambda: catalog.create_database("new", comment=text),
        lambda: catalog.alter_database("db", {text: "x"}),
        lambda: catalog.table_exists(f"db.{text}"),
        lambda: catalog.drop_table(f"db.{text}", if_exists=True),
        lambda: catalog.create_view(f"db.{text}", "SELECT 1", {"x": "INT"}),
        lambda: catalog.view(f"db.{text}"),
    ]
    for act in acts:
        with pytest.raises(InvalidInputError, match=r"not Unicode: 'a\\ud800'|'.*a\\ud800'"):
            act()
    assert catalog.databases() == ["db"]
    assert list(catalog.tables("db")) == catalog.views("db") == []


def test_a_file_of_sqlite_is_found_from_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    catalog = Catalog(options={**options(tmp_path), "uri": "jdbc:sqlite:catalog.db"})
    catalog.create_database("db")
    data = pickle.dumps(catalog)
    catalog.close()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    again = pickle.loads(data)  # noqa: S301 - our own
    assert again.databases() == ["db"]
    again.close()


def test_catalogs_with_different_keys_share_a_database(tmp_path: Path) -> None:
    one = Catalog(options=options(tmp_path, catalog_key="one"))
    two = Catalog(
        options={**options(tmp_path, catalog_key="two"), "warehouse": str(tmp_path / "2")}
    )
    one.create_database("db")
    one.create_table("db.t", COLUMNS)
    assert two.databases() == []
    two.create_database("db")
    assert two.tables("db") == []
    one.close()
    two.close()


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("wrong", "kind", "told"),
    [
        ({"uri": ""}, InvalidInputError, "requires option 'uri'"),
        ({"warehouse": ""}, InvalidInputError, "requires option 'warehouse'"),
        ({"uri": "postgresql://host/db"}, InvalidInputError, "'uri' must be a JDBC address"),
        ({"uri": "jdbc:oracle:thin:@x"}, UnsupportedFeatureError, "'oracle'.*sqlite, postgresql"),
        ({"lock.enabled": "maybe"}, InvalidInputError, "'lock.enabled' must be 'true' or 'false'"),
        (
            {"uri": "jdbc:mariadb://h/db", "lock.enabled": "true"},
            InvalidInputError,
            "MariaDB has no locks",
        ),
        ({"lock-acquire-timeout": "soon"}, InvalidInputError, "'lock-acquire-timeout' must be"),
    ],
)
def test_wrong_options_are_told(
    tmp_path: Path, wrong: dict[str, str], kind: type[PaimonError], told: str
) -> None:
    with pytest.raises(kind, match=told):
        Catalog(options={**options(tmp_path), **wrong})
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    uri = f"jdbc:postgresql://127.0.0.1:{port}/db?user=me&password={HIDDEN}"
    for address in (uri, uri.replace("postgresql", "mysql")):
        catalog = Catalog(options={**options(tmp_path), "uri": address})
        with pytest.raises(StorageError, match="Cannot connect to the catalog database") as told:
            catalog.create_database("db")
        assert "jdbc.password" in str(told.value)
        assert "Cannot connect" in repr(catalog)
        assert HIDDEN not in f"{told.value}{told.value.__cause__}{catalog.options()}{catalog!r}"
    assert list(tmp_path.iterdir()) == []


GARBAGE = [
    b"",
    b"HTTP/1.1 500 Internal Server Error\r\n\r\n",
    bytes(50),
    b"N" + b"R\0\0\0\x08\0\0\0\0garbage",
    b"\x0a\0\0\0\x0a5.7\0",
    b"\x4a\0\0\0\x0a8.0\0" + b"\1" * 70,
    bytes(range(256)),
]
"""Answers of a server that is no database: nothing, other protocols, and half a greeting."""


@contextmanager
def server(answer: bytes) -> Iterator[int]:
    """A server that gives one answer to everything; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, suppress(OSError):
                        connection.sendall(answer)
                        connection.settimeout(0.05)
                        with suppress(OSError):
                            connection.recv(1000)
                        connection.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("answer", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("database", ["postgresql", "mysql"])
def test_a_server_that_answers_garbage_is_told(
    tmp_path: Path, database: str, answer: bytes
) -> None:
    with server(answer) as port:
        uri = f"jdbc:{database}://127.0.0.1:{port}/db?user=me"
        catalog = Catalog(options={**options(tmp_path), "uri": uri})
        with pytest.raises(StorageError, match="Cannot connect to the catalog database"):
            catalog.create_database("db")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StorageError, match="not a database"):
        Catalog(options=options(tmp_path)).databases()
    missing = {**options(tmp_path), "uri": f"jdbc:sqlite:{tmp_path}/nowhere/catalog.db"}
    with pytest.raises(StorageError, match="unable to open database file"):
        Catalog(options=missing).databases()


def test_tables_of_another_program_are_told(tmp_path: Path) -> None:
    with rows(tmp_path) as opened:
        opened.execute("CREATE TABLE paimon_tables (x INT)")
    with pytest.raises(StorageError, match=r"no such column.*SELECT DISTINCT database_name"):
        Catalog(options=options(tmp_path)).databases()


def test_a_view_that_is_no_json_is_told(catalog: Catalog, tmp_path: Path) -> None:
    with rows(tmp_path) as opened:
        opened.execute("INSERT INTO paimon_views VALUES ('jdbc', 'db', 'v', '{\"fields\": 1')")
    with pytest.raises(PaimonError, match=r"view db\.v"):
        catalog.view("db.v")


@pytest.mark.parametrize(
    ("database", "module", "extra"),
    [("postgresql", "psycopg", "jdbc-postgres"), ("mysql", "pymysql", "jdbc-mysql")],
)
def test_a_missing_driver_is_told_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    catalog = Catalog(options={**options(tmp_path), "uri": f"jdbc:{database}://h/db"})
    with pytest.raises(UnsupportedFeatureError, match=rf"{module}.*paimon-explore\[{extra}\]"):
        catalog.databases()
