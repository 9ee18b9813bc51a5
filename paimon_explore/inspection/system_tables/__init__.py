"""The metadata system tables of Paimon as Arrow tables, one function each.

Values are formatted as by Java 2.0. Times have no zone and are local to the reader, as in Java.
Spec: concepts/system-tables.
"""
