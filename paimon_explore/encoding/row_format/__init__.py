"""The row format (`.row`): blocks of rows, compressed with Zstandard.

`row_file` reads and writes files; `row_block` converts blocks.
"""
