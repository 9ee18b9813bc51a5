"""Manifest lists, manifests and index manifests: records as Arrow tables, and file formats.

`manifest_codec` reads and writes the files; `manifest_table` is the base of the three record
tables.
"""
