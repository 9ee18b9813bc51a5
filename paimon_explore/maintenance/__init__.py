"""Operations that rewrite or remove visible files: compaction, expiry, rollback, orphan removal.

May import `read`, `write`, `commit` and lower layers.
"""
