"""Casts between Paimon types, with the results of the Java implementation.

`cast_column` casts Arrow columns; `allowed_casts` says which column type changes are allowed.
"""
