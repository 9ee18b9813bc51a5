"""From rows to data files: buckets, sorting, statistics, file indexes, rolling.

Ends in commit messages; makes nothing visible. May import `scan` and below; knows neither `read`
nor `commit`.
"""
