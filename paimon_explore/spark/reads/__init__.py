"""Reads of tables as DataFrames: tasks, counts, native Parquet reads.

`read_table` is the entry point of `pe.spark.read`.
"""
