"""`Catalog`: databases and tables of a warehouse, and its system tables.

`catalog` holds `Catalog`; `demo` creates a sample warehouse.
"""
