"""Tags, branches, automatic tags and rollback.

These operations change which snapshots are referenced; they rewrite no data files.
"""
