"""SQL for Paimon tables on plain PySpark: parses statements and runs them.

sqlglot finds the tables of a query; Spark runs the unchanged text with the tables replaced by
views. Commands are parsed token by token, so that an error names the wrong part.
May import what `spark` may.
"""
