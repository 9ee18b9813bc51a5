"""Rows of a snapshot, a bucket or a file, a window at a time, and the fate of stored records.

Used by `Table.rows` and the explorer. May import `inspection.rendering`, `read` and below.
"""
