"""The JDBC metastore: databases, tables and views in tables of SQLite, PostgreSQL or MySQL.

The tables are those of Java's JdbcCatalog, so that Java, pypaimon and this package share a catalog.
`jdbc_metastore` implements the protocol, `jdbc_database` runs SQL, `dialects` knows the databases.
"""
