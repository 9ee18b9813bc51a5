"""SQL on the tables of a catalog: by DuckDB, or single-table scans if that is not installed."""
