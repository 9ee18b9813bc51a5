"""The history of a table: snapshots, lifetimes of data files, schema versions.

`timeline` lists the snapshots; `file_history` reads the data files of all snapshots.
"""
