"""Compares two tables, branches or snapshots: schema, options, files and rows.

`pe.compare` and the explorer use `table_comparison`.
"""
