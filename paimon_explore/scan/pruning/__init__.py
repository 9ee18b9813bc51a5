"""Pruning of files, manifests and row groups that cannot match a predicate.

By bucket, column statistics and file index.
"""
