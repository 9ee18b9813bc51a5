"""Lazy scans of other engines: Polars and DuckDB push columns and filters into a scan."""
