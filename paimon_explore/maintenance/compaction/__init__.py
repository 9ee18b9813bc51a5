"""Compaction of append and primary-key tables.

`compact` is the entry point; `auto_compaction` runs after a write.
"""
