"""Casts between Paimon types, with the results of the Java implementation.

`cast_column` casts Arrow columns; `allowed_type_changes` defines which column types may change.
"""
