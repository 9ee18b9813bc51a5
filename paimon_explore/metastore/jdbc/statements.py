"""The tables of a JDBC catalog; names, columns and types are those of Java's JdbcCatalog.

`?` is the placeholder of every statement; `dialects` replaces it.
"""

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
