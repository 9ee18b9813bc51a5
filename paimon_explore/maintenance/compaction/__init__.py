"""Compaction of append and primary-key tables.

`compact` is the entry point; `auto_compaction` is what writers run after a write.
"""
