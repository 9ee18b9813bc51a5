"""Paimon's data types: definitions, parsing, formatting, casts, and conversion to Arrow.

Does no I/O. May import `errors` only.
Spec: concepts/spec/schema; data types.
"""
