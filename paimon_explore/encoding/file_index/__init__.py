"""File indexes: bloom filters, bitmaps, bit-sliced indexes and range bitmaps of data files.

An index returns the rows of its data file that may satisfy a condition on one column; a bloom
filter returns whether any row may. `container` bundles the indexes of a data file.

Spec: concepts/spec/fileindex.
"""
