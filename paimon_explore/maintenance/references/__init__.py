"""Tags, branches, automatic tags and rollback.

Acts that change which snapshots are referenced; no data file is rewritten.
"""
