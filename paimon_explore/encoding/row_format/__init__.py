"""The row format (`.row`): blocks of rows, compressed with Zstandard.

`row_file` reads and writes files; `encoder` and `decoder` convert blocks.
"""
