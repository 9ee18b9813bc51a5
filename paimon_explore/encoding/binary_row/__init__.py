"""BinaryRow: the row format of partitions, keys and statistics, and its hash.

`encoder` and `decoder` work on columns; `single_row_encoder` encodes a few rows.
"""
