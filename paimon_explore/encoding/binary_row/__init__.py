"""BinaryRow: the row format of partitions, keys and statistics, and its hash.

`row_encoder` and `decoder` convert columns; `single_row_encoder` encodes small numbers of rows;
`row_layout` has what they share.
"""
