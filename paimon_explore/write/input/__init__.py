"""Rows of callers (Arrow, pandas, Polars, Python) as batches of the table columns.

`table_batches` is the entry point; `safe_cast` is the conversion policy.
"""
