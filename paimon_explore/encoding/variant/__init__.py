"""Encoding of VARIANT values: binary encoding, JSON text, shredding.

`decoder` and `encoder` convert single values; `json_columns` converts columns.
"""
