"""Structured Streaming: a table as source, and exactly-once writes.

`data_source` uses `stream`.
"""
