"""From splits to rows: data files, schema evolution, deletion vectors, merge engines.

May import `scan` and below; knows neither `write` nor `commit`.
"""
