"""Casts between Paimon types, with the results of the Java implementation.

`cast_column` casts Arrow columns; `allowed_casts` defines which column type changes are allowed.
"""
