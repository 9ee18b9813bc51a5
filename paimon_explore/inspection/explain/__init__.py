"""Explanations: why a scan reads a file, why a file exists, what a commit or an expiry does.

One module per question; each returns a result of `inspection.rendering`.
"""
