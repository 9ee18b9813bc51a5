"""BLOB files (`.blob`): the values of one BLOB column.

`blob_file` reads and writes them; `blob_collections` adds arrays and maps of BLOB.
"""
