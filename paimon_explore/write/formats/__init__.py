"""Writers of data files, one module per file format.

`format_writers` chooses the writer by file format.
"""
