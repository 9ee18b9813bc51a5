"""Manifest lists, manifests and index manifests as Arrow tables, and their file formats.

`manifest_codec` reads and writes the files, `manifest_table` is the base of the three tables, and
`entry_cancellation` computes the live files of a snapshot.
"""
