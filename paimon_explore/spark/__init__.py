"""The Python Data Source, sessions, and the doors for Spark SQL and streaming.

The only layer that imports pyspark. May import `table` and below; draws nothing.
"""

from paimon_explore.spark.compact import compact
from paimon_explore.spark.count import count
from paimon_explore.spark.magic import load_ipython_extension
from paimon_explore.spark.merge import merge_into
from paimon_explore.spark.read import read
from paimon_explore.spark.row_level import delete, update
from paimon_explore.spark.session import register, session
from paimon_explore.spark.sql.statement import sql
from paimon_explore.spark.write import write

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
