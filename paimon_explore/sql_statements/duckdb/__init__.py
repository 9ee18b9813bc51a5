"""DuckDB as the engine of SQL statements, in the same process.

Queries are translated from Spark's dialect by sqlglot. DuckDB reads tables by scans that take its
columns and filters, and it reads and writes nothing else: no files, no network.
"""
