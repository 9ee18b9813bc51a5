"""Conversion of input rows (Arrow, pandas, Polars, Python) to batches of the table's columns.

`table_batches` is the entry point; `safe_cast` is the conversion policy.
"""
