"""Functions of Spark that a DuckDB database defines: macros, and kernels in Python.

Imported from outside: `database_functions`, `variant_functions.typed_function` and
`json_functions.json_schema`.
"""
