"""Pruning: which files, manifests and row groups a predicate rules out.

By bucket, by column statistics and by file index; `pruning_reasons` explains decisions.
"""
