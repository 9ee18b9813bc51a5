"""Avro object container files as Arrow columns.

`reader` and `writer` are the entry points; the other modules decode and encode column by column.
"""
