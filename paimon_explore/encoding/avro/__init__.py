"""Vectorized reader and writer of Avro object container files.

`reader` and `writer` are the entry points; the other modules decode and encode column by column.
"""
