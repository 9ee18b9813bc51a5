"""Merge engines: deduplicate, first-row, partial-update and aggregation.

`merge_spec` of the package above selects the engine.
"""
