"""Splits: live files grouped into units of reading.

`split_generator` makes `DataSplit` values, which contain everything that readers need.
"""
