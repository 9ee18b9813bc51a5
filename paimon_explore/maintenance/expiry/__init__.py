"""Expiry of snapshots, changelogs and partitions, and removal of unreferenced files.

Only `file_removal` deletes data and metadata files of a table.
"""
