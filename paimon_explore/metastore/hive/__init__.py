"""The Hive metastore as a catalog: its Thrift protocol, tables, partitions and locks.

May be imported from outside: `hive_metastore`. Needs the package `thrift` (extra `hive`).
"""
