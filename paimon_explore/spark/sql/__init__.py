"""SQL for Paimon tables on a plain PySpark: read statements, and route them to the doors.

Queries are parsed by sqlglot to find their tables; their text goes to Spark as it is, with the
tables replaced by views. Commands are read word by word, so that an error names the part.
May import what `spark` may.
"""
