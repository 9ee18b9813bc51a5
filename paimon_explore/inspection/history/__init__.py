"""What happened to a table over time: snapshots, lifetimes of data files, schema versions.

`timeline` is the entry point; `file_history` reads the data files of all snapshots.
"""
