"""Scan planning: time travel, predicates, pruning, splits, incremental reads.

Selects files from metadata and opens no data file. May import `store` and below.
"""
