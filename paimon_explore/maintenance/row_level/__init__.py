"""Rows updated, deleted and merged where they are.

| table | how |
| --- | --- |
| with primary key | new versions of the rows, and `-D` records, are written like any upsert |
| without | files with changed rows are written anew (copy on write) |
| without, `deletion-vectors.enabled` | changed rows are marked as deleted, new ones are added |
| without, `data-evolution.enabled` | updated columns are written beside the files of the rows |
"""
