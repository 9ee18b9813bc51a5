"""Paimon's data types: values, parsing, printing, and what they are in Arrow.

Touches no file. May import `errors` only.
Spec: concepts/spec/schema; data types.
"""
