"""Rewrites of live files other than compaction: rescale, file indexes, missing files, purge.

Each is one commit, which fails with a conflict if other commits changed the same files.
"""
