"""The rows of a JDBC catalog: databases, tables with copies of their options, and views."""

from collections.abc import Iterator, Mapping, Sequence

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.metastore.jdbc.jdbc_database import JdbcDatabase

TABLES = "paimon_tables"
DATABASE_PROPERTIES = "paimon_database_properties"
TABLE_PROPERTIES = "paimon_table_properties"
VIEWS = "paimon_views"
LOCKS = "paimon_distributed_locks"

EXISTS = "exists"
"""Property that every database has, so that a database without tables has a row."""
LOCATION = "location"
COMMENT = "comment"

_NAME = "VARCHAR(255) NOT NULL"

CREATE = {
    TABLES: f"CREATE TABLE {TABLES}(catalog_key {_NAME},database_name {_NAME},table_name {_NAME},"
    " PRIMARY KEY (catalog_key, database_name, table_name))",
    DATABASE_PROPERTIES: f"CREATE TABLE {DATABASE_PROPERTIES}(catalog_key {_NAME},"
    f"database_name {_NAME},property_key VARCHAR(255),property_value VARCHAR(1000),"
    "PRIMARY KEY (catalog_key, database_name, property_key))",
    TABLE_PROPERTIES: f"CREATE TABLE {TABLE_PROPERTIES}(catalog_key {_NAME},database_name {_NAME},"
    f"table_name {_NAME},property_key {_NAME},property_value VARCHAR(1000),"
    "PRIMARY KEY (catalog_key, database_name, table_name, property_key))",
    VIEWS: f"CREATE TABLE {VIEWS}(catalog_key {_NAME},database_name {_NAME},view_name {_NAME},"
    "view_schema TEXT NOT NULL, PRIMARY KEY (catalog_key, database_name, view_name))",
}
"""Statements that create the tables, by name."""

CREATE_LOCKS = (
    f"CREATE TABLE {LOCKS}(lock_id VARCHAR(%d) NOT NULL,"
    "acquired_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL,"
    "expire_time_seconds BIGINT DEFAULT 0 NOT NULL,PRIMARY KEY (lock_id))"
)
"""The table of locks; its parameter is the maximum length of a lock id."""

_PAGE = 1_000
_OF_DATABASE = "catalog_key = ? AND database_name = ?"
_OF_TABLE = f"{_OF_DATABASE} AND table_name = ?"
_OF_VIEW = f"{_OF_DATABASE} AND view_name = ?"
_HOLDING_DATABASES = (TABLES, DATABASE_PROPERTIES, VIEWS)
"""Tables whose rows make a database exist."""


@dataclass(frozen=True, slots=True)
class CatalogRows:
    """The rows of one catalog.

    Attributes:
        database: where they are.
        key: the option `catalog-key`, which separates the catalogs in one database.
    """

    database: JdbcDatabase
    key: str

    # ------------------------------------------------------------ databases

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""
        found: set[str] = set()
        for table in _HOLDING_DATABASES:
            query = f"SELECT DISTINCT database_name FROM {table} WHERE catalog_key = ?"
            found.update(str(row[0]) for row in self.database.fetch(query, self.key))
        return sorted(found)

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists."""
        return any(
            self.database.exists(
                f"SELECT database_name FROM {table} WHERE {_OF_DATABASE} LIMIT 1", self.key, name
            )
            for table in _HOLDING_DATABASES
        )

    def properties(self, name: str) -> dict[str, str]:
        """Return the properties of a database."""
        query = (
            f"SELECT property_key, property_value FROM {DATABASE_PROPERTIES} WHERE {_OF_DATABASE}"
        )
        rows = self.database.fetch(query, self.key, name)
        return {str(k): "" if v is None else str(v) for k, v in rows if k != EXISTS}

    def set_properties(self, name: str, properties: Mapping[str, str]) -> None:
        """Insert properties of a database."""
        columns = "database_name, property_key, property_value"
        for key, value in properties.items():
            self._insert(DATABASE_PROPERTIES, columns, name, key, value)

    def remove_properties(self, name: str, keys: Sequence[str]) -> None:
        """Delete properties of a database."""
        for key in keys:
            self._delete(DATABASE_PROPERTIES, f"{_OF_DATABASE} AND property_key = ?", name, key)

    def remove_database(self, name: str) -> None:
        """Delete the properties of a database; what others create meanwhile remains."""
        self._delete(DATABASE_PROPERTIES, _OF_DATABASE, name)

    def _insert(self, table: str, columns: str, *values: str) -> None:
        places = ",".join("?" for _ in (self.key, *values))
        insert = f"INSERT INTO {table} (catalog_key, {columns}) VALUES ({places})"
        self.database.execute(insert, self.key, *values)

    def _delete(self, table: str, where: str, *values: str) -> bool:
        delete = f"DELETE FROM {table} WHERE {where}"
        return self.database.execute(delete, self.key, *values) > 0

    # ------------------------------------------------------------ tables

    def tables(self, database: str) -> Iterator[str]:
        """Yield the names of a database's tables, page by page."""
        return self._names(TABLES, "table_name", database)

    def views(self, database: str) -> Iterator[str]:
        """Yield the names of a database's views, page by page."""
        return self._names(VIEWS, "view_name", database)

    def _names(self, table: str, column: str, database: str) -> Iterator[str]:
        query = (
            f"SELECT {column} FROM {table} WHERE {_OF_DATABASE} AND {column} > ? "
            f"ORDER BY {column} LIMIT {_PAGE}"
        )
        last = ""
        while True:
            page = [str(row[0]) for row in self.database.fetch(query, self.key, database, last)]
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1]

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a table exists."""
        query = f"SELECT table_name FROM {TABLES} WHERE {_OF_TABLE}"
        return self.database.exists(query, self.key, wanted.database, wanted.table)

    def insert_table(self, wanted: Identifier) -> None:
        """Insert a table; raises DuplicateRowError."""
        self._insert(TABLES, "database_name, table_name", wanted.database, wanted.table)

    def remove_table(self, wanted: Identifier) -> bool:
        """Delete a table and the copies of its options; False if there is no such row."""
        return self._delete(TABLES, _OF_TABLE, wanted.database, wanted.table)

    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        """Change the name of a table and of its copied options; False if it does not exist.

        Raises:
            DuplicateRowError: the target exists.
        """
        changed, _ = (
            self.database.execute(
                f"UPDATE {table} SET database_name = ?, table_name = ? WHERE {_OF_TABLE}",
                *(target.database, target.table, self.key, source.database, source.table),
            )
            for table in (TABLES, TABLE_PROPERTIES)
        )
        return changed > 0

    def copy_options(self, wanted: Identifier, options: Mapping[str, str]) -> None:
        """Replace the copies of a table's options."""
        self.remove_options(wanted)
        columns = "database_name, table_name, property_key, property_value"
        for key, value in options.items():
            self._insert(TABLE_PROPERTIES, columns, wanted.database, wanted.table, key, value)

    def remove_options(self, wanted: Identifier) -> None:
        """Delete the copies of a table's options."""
        self._delete(TABLE_PROPERTIES, _OF_TABLE, wanted.database, wanted.table)

    # ------------------------------------------------------------ views

    def view(self, wanted: Identifier) -> str | None:
        """Return the JSON of a view; None if there is no such view."""
        query = f"SELECT view_schema FROM {VIEWS} WHERE {_OF_VIEW}"
        rows = self.database.fetch(query, self.key, wanted.database, wanted.table)
        return str(rows[0][0]) if rows else None

    def insert_view(self, wanted: Identifier, schema: str) -> None:
        """Insert a view; raises DuplicateRowError."""
        columns = "database_name, view_name, view_schema"
        self._insert(VIEWS, columns, wanted.database, wanted.table, schema)

    def update_view(self, wanted: Identifier, schema: str) -> None:
        """Replace the JSON of a view."""
        update = f"UPDATE {VIEWS} SET view_schema = ? WHERE {_OF_VIEW}"
        self.database.execute(update, schema, self.key, wanted.database, wanted.table)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Change the name of a view."""
        self.database.execute(
            f"UPDATE {VIEWS} SET database_name = ?, view_name = ? WHERE {_OF_VIEW}",
            *(target.database, target.table, self.key, source.database, source.table),
        )

    def remove_view(self, wanted: Identifier) -> bool:
        """Delete a view; False if there is no such row."""
        return self._delete(VIEWS, _OF_VIEW, wanted.database, wanted.table)
