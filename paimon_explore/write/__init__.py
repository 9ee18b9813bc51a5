"""Writers of data files: buckets, sorting, statistics, file indexes, rolling.

Writers return commit messages and make nothing visible. May import `scan` and lower layers, but
neither `read` nor `commit`.
"""
