"""Global indexes: btree and bitmap index files over the row ids of a table.

`index_meta` decodes what the index manifest records of a file, `btree_file` and `bitmap_file` read
the files, `index_keys` converts values to keys. Both kinds of files are read by parts.
"""
