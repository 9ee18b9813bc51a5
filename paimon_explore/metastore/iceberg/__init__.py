"""The catalogs of Iceberg tables in which commits register Iceberg metadata.

May be imported from outside: `open_iceberg_catalog`.
"""
