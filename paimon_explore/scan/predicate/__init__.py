"""Predicates: builders, SQL parser, binding to columns, evaluation.

`expression` defines the tree, `binder` resolves columns and types, `evaluator` evaluates rows.
"""
