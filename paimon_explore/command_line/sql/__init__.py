"""SQL on the tables of a catalog: by DuckDB if it is installed, else by single-table scans."""
