"""Conversions of scans: lazy scans of Polars and DuckDB, and parts that other processes read."""
