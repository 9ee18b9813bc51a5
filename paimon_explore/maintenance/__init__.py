"""What rewrites or removes visible files: compact, expire, roll back, remove orphans.

May import `read`, `write`, `commit` and below.
"""
