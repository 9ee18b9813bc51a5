"""Which files matter: time travel, predicates, pruning, splits, differences.

Picks files and opens no data file. May import `store` and below.
"""
