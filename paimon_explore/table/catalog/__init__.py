"""`Catalog`: databases and tables of a warehouse, and its system tables.

The class is in the module `catalog`; `demo` creates a sample warehouse.
"""
