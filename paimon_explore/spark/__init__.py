"""The Python Data Source, sessions, and the doors for Spark SQL and streaming.

The only layer that imports pyspark. May import `table` and below; draws nothing.
"""
