"""Runs the SQL of a JDBC catalog.

There is one connection per process, shared by its threads; it is opened on first use, checked after
a pause, and replaced if it is broken. Each statement is committed by itself unless it is part of a
`transaction`.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress

from paimon_explore.errors import (
    InvalidInputError,
    PaimonError,
    StorageError,
    safe_cause,
    undo_on_error,
)
from paimon_explore.metastore.jdbc.dialects import Connection, Cursor, Dialect, dialect_of
from paimon_explore.threads import free_in_forks

_IDLE_S = 5.0
"""Pause after which the connection is checked before it is used."""
_REPLACEMENTS = 10

_INHERITED: list[Connection] = []
"""Connections of the parent process, which must not be closed: the server would end them there."""


class DuplicateRowError(Exception):
    """A statement violates a unique constraint."""


class BusyDatabaseError(StorageError):
    """Another process holds a lock of the database itself for too long."""


class JdbcDatabase:
    """A database by its JDBC address.

    Args:
        uri: its JDBC address.
        properties: properties of the connection, such as `user` and `password`.
        catalog_tables: the statements that create missing tables, by name.
    """

    def __init__(
        self, uri: str, properties: Mapping[str, str], catalog_tables: Mapping[str, str]
    ) -> None:
        self._open: Connection | None = None
        self._uri = uri
        self._properties = dict(properties)
        self._catalog_tables = dict(catalog_tables)
        self.dialect: Dialect
        self.dialect, self._address = dialect_of(uri)
        self._mutex = free_in_forks(threading.RLock())
        self._process = 0
        self._used = 0.0
        self._in_transaction = False

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the connection."""
        return (JdbcDatabase, (self._uri, self._properties, self._catalog_tables))

    def __eq__(self, other: object) -> bool:
        """Whether the other object is the same database with the same user."""
        if not isinstance(other, JdbcDatabase):
            return NotImplemented
        return (self._uri, self._properties) == (other._uri, other._properties)

    def __hash__(self) -> int:
        return hash(self._uri)

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        """Close the connection, which drivers would warn about; Python closes it at its end."""
        if self._open is not None and not ends():  # then modules are gone already
            self.close()

    def __repr__(self) -> str:
        """The kind of database; addresses may contain secrets."""
        return f"JdbcDatabase({self.dialect.name})"

    def fetch(self, sql: str, *arguments: object) -> list[tuple[object, ...]]:
        """Return the rows of a query; it is repeated once if the connection was broken."""
        with self._mutex:
            if self._open is not None and not self._in_transaction:
                with suppress(StorageError):
                    return self._fetch(sql, arguments)
            return self._fetch(sql, arguments)

    def _fetch(self, sql: str, arguments: tuple[object, ...]) -> list[tuple[object, ...]]:
        with self._translated(sql), closing(self._cursor(sql, arguments)) as cursor:
            return [tuple(row) for row in cursor.fetchall()]

    def _cursor(self, sql: str, arguments: tuple[object, ...]) -> Cursor:
        return self._connection().run(self._placeholders(sql), arguments)

    def exists(self, sql: str, *arguments: object) -> bool:
        """Return whether a query has a row."""
        return bool(self.fetch(sql, *arguments))

    def execute(self, sql: str, *arguments: object) -> int:
        """Run a statement and return the number of changed rows.

        Raises:
            DuplicateRowError: it violates a unique constraint.
            BusyDatabaseError: another process holds a lock of the database.
            StorageError: any other failure.
        """
        with self._mutex, self._translated(sql), closing(self._cursor(sql, arguments)) as cursor:
            return cursor.rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the statements of the block in one transaction."""
        with self._mutex:
            self.execute(self.dialect.begin)
            self._in_transaction = True
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._in_transaction = False

    def replace(self, change: Callable[[], None]) -> None:
        """Delete rows and insert others in one transaction.

        It is repeated if another process inserts the same rows at the same time.
        """
        for _ in range(_REPLACEMENTS):
            with suppress(DuplicateRowError), self.transaction():
                change()
                return
        raise BusyDatabaseError(
            "change",
            f"the catalog database {self._uri}",
            "other processes change the same rows at the same time",
            hint="Try again later.",
        )

    def _roll_back(self) -> None:
        try:
            self.execute("ROLLBACK")
        except StorageError:
            self.close()  # the database rolls back by itself

    def close(self) -> None:
        """Close the connection; the next statement opens it again."""
        with self._mutex:
            self._forget_inherited()
            if self._open is not None:
                with suppress(*self.dialect.errors()):
                    self._open.close()
            self._open = None

    def _forget_inherited(self) -> None:
        """Leave a connection of the parent process to it."""
        if self._open is not None and self._process != os.getpid():
            _INHERITED.append(self._open)
            self._open = None

    def _connection(self) -> Connection:
        self._forget_inherited()
        if self._open is not None and not self._in_transaction and self._is_idle():
            try:
                self._open.run("SELECT 1", ()).close()
            except self.dialect.errors():
                self.close()
        if self._open is None:
            self._open = self._connected()
        self._used = time.monotonic()
        return self._open

    def _is_idle(self) -> bool:
        return time.monotonic() - self._used > _IDLE_S

    def _connected(self) -> Connection:
        self._process = os.getpid()
        opened = self.dialect.connect(self._address, self._properties)
        with undo_on_error(opened.close):
            for name, create in self._catalog_tables.items():
                self._create_table(opened, name, create)
        return opened

    def _create_table(self, opened: Connection, name: str, create: str) -> None:
        exists = self._placeholders(self.dialect.table_exists)
        if opened.run(exists, (name,)).fetchall():
            return
        try:
            opened.run(create, ())
        except self.dialect.errors():
            if not opened.run(exists, (name,)).fetchall():  # else created by another process
                raise

    def _placeholders(self, sql: str) -> str:
        mark = self.dialect.placeholder
        return sql if mark == "?" else sql.replace("?", mark)

    @contextmanager
    def _translated(self, sql: str) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise InvalidInputError(
                f"A catalog database stores no text that is not Unicode: {error.object!r}."
            ) from error
        except Exception as error:
            if isinstance(error, PaimonError) or not isinstance(error, self.dialect.errors()):
                raise
            if self.dialect.is_duplicate(error):
                raise DuplicateRowError from error
            if self.dialect.is_busy(error):
                raise BusyDatabaseError(
                    "change",
                    f"the catalog database {self._uri}",
                    " ".join(str(error).split()),
                    hint="Another process reads or writes it for too long; try again later.",
                ) from safe_cause(error)
            was_connected = self._open is not None
            if not self._in_transaction:
                self.close()
            operation = "run a statement of" if was_connected else "connect to"
            raise StorageError(
                operation,
                f"the catalog database {self._uri}",
                " ".join(str(error).split()).rstrip(".?") or type(error).__name__,
                hint=_hint(sql, was_connected),
            ) from safe_cause(error)


def _hint(sql: str, was_connected: bool) -> str:  # noqa: FBT001 - one caller
    if was_connected:
        return f"The statement was: {sql.partition('(')[0].partition('?')[0].strip()} …"
    return "Check options 'uri', 'jdbc.user' and 'jdbc.password', and that the server is running."
