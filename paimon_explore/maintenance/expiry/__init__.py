"""Expiry of snapshots, changelogs and partitions, and removal of unreferenced files.

`file_removal` is the only place that deletes files of a table.
"""
