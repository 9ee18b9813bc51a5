"""Compares two tables, branches or snapshots: schema, options, files and rows.

`Table.compare`, `pe.compare` and the explorer use `table_comparison`.
"""
