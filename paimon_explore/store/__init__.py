"""Access to the metadata files of a table: snapshots, schemas, manifests, tags, branches.

One class per folder of the table; lists, loads and writes files through `FileIO`. Never reads data
files. May import `metadata` and below.
"""
