"""Integrity checks of a table (fsck).

`fsck` is the entry point; each check yields `Finding` values.
"""
