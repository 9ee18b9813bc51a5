"""Reader of ORC files: file tail, stripe statistics, time zones.

`reader` opens data files.
"""
