"""Explains scans, files, keys, commits and snapshot expiry.

One module per question; each returns a result of `inspection.rendering`.
"""
