"""Paimon's system tables of metadata: for each a function from a table to Arrow.

Texts of values follow Java 2.0. Times are zoneless and local to the reader, as in Java.
Spec: concepts/system-tables.
"""
