"""Writes of DataFrames and distributed compaction, committed once by the driver.

`write_table` is the entry point of `pe.spark.write`.
"""
