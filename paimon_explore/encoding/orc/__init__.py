"""ORC files: reader, file tail, stripe statistics, time zones.

`reader` opens data files.
"""
