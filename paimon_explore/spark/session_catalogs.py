"""The catalogs that sessions were given, for statements without a catalog of their own.

A catalog stays in the driver's memory: settings of a session are shown by Spark, and a catalog's
options may be secret. So the session only stores a key.
"""

from uuid import uuid4

from pyspark.sql import SparkSession

from paimon_explore.table.catalog.catalog import Catalog

WAREHOUSE = "spark.paimon_explore.warehouse"
"""The setting with the folder of the warehouse."""
_KEY = "spark.paimon_explore.catalog"
_CATALOGS: dict[str, Catalog] = {}


def remember(spark: SparkSession, catalog: Catalog) -> None:
    """Make a catalog the default of a session's statements."""
    _CATALOGS.pop(str(spark.conf.get(_KEY, "")), None)
    key = uuid4().hex
    _CATALOGS[key] = catalog
    spark.conf.set(_KEY, key)


def forget(spark: SparkSession) -> None:
    """Remove the catalog of a session."""
    _CATALOGS.pop(str(spark.conf.get(_KEY, "")), None)
    spark.conf.unset(_KEY)


def session_catalog(spark: SparkSession) -> Catalog | None:
    """Return the catalog of a session, if it has one."""
    return _CATALOGS.get(str(spark.conf.get(_KEY, "")))
