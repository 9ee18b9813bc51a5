"""Splits: how live files are grouped into units of reading.

`split_generator` makes `DataSplit` values; readers need nothing else.
"""
