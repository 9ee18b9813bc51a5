"""SQL for Paimon tables: statements are parsed here, and run by an engine.

sqlglot finds the tables of a query; the engine runs the text with the tables replaced by views.
Commands are parsed token by token, so that an error names the wrong part. `statement` and all that
it imports know only the protocol `engine.Engine`; engines are `duckdb` and `spark.sql_engine`.
May import `table` and below.
"""
