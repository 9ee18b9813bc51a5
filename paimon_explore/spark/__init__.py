"""The Python Data Source, Spark sessions, SQL on Paimon tables, and streaming.

The only layer that imports pyspark. May import `table` and below; draws nothing.
"""

from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.reads.row_count import count
from paimon_explore.spark.row_level.delete_update import delete, update
from paimon_explore.spark.row_level.merge_dataframe import merge_into
from paimon_explore.spark.session import register, session
from paimon_explore.spark.sql_statement import load_ipython_extension, sql
from paimon_explore.spark.writes.distributed_compaction import compact
from paimon_explore.spark.writes.write_table import write

__all__ = [
    "compact",
    "count",
    "delete",
    "load_ipython_extension",
    "merge_into",
    "read",
    "register",
    "session",
    "sql",
    "update",
    "write",
]
