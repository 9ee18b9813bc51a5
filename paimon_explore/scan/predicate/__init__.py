"""Predicates: builders, SQL parser, binding to columns, evaluation.

`expression` holds the tree; `binder` resolves columns and types; `evaluator` runs it on rows.
"""
