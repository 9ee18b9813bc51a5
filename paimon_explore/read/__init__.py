"""Reading of splits: data files, schema evolution, deletion vectors, merge on read, changelogs.

May import `scan` and below; does not know `write` or `commit`.
"""
