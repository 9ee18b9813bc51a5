"""`connector="java"`: the official paimon-spark connector by its Maven coordinates.

| PySpark | coordinates that are configured | Java | seen |
| --- | --- | --- | --- |
| 4.1 | `org.apache.paimon:paimon-spark-4.1_2.13:2.0.0` | 17, 21 | not by coordinates |
| 4.2, 4.3 | none: there is no such connector | | |

Other versions can be configured with `package=`. Whether a registry has the artifact is reported by
Spark when it starts. Spark 4.1 does not support pandas 3, so both need a separate environment, the
extra `paimon-jar`. In such a session the connector runs all SQL: `pe.spark.sql` passes it on, and
the databases of the warehouse are those of the catalog `paimon`.

The catalogs that sessions were given, for statements without a catalog of their own.

A catalog stays in the driver's memory: settings of a session are shown by Spark, and a catalog's
options may be secret. So the session only stores a key.
"""

from collections.abc import Mapping
from uuid import uuid4

from pyspark.sql import SparkSession

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.sql_statements.quoted_names import CATALOG
from paimon_explore.table.catalog.catalog import Catalog

KINDS = ("python", "java")
CONNECTOR = "spark.paimon_explore.connector"
PACKAGES: Mapping[str, str] = {"4.1": "org.apache.paimon:paimon-spark-4.1_2.13:2.0.0"}
"""The connector of each release line of Spark."""

_PANDAS = 3
_PARTS = 3
_CATALOG = f"spark.sql.catalog.{CATALOG}"
_EXTENSIONS = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
_INSTALL = "In a new environment, run: pip install 'paimon-explore[notebook,paimon-jar]'"


def check_kind(connector: str) -> None:
    """Check the name of a connector.

    Raises:
        InvalidInputError: it is unknown; the message lists the known ones.
    """
    if connector not in KINDS:
        raise InvalidInputError(f"Unknown connector {connector!r}.", hint=f"Use {choices(KINDS)}.")


def java_settings(
    catalog: Mapping[str, str] | None, package: str | None, *, pyspark: str, pandas: str
) -> dict[str, str]:
    """Return Spark's settings for the connector.

    Args:
        catalog: the options of the catalog: the folder `warehouse`, or those of a server.
        package: coordinates or the path of a jar, instead of those in the table.
        pyspark: the version of PySpark.
        pandas: the version of pandas.

    Raises:
        InvalidInputError: no warehouse, or invalid coordinates.
        UnsupportedFeatureError: the versions are not compatible.
    """
    line = ".".join(pyspark.split(".")[:2])
    if package is None and line not in PACKAGES:
        raise UnsupportedFeatureError(
            f"the connector 'java' with PySpark {pyspark}",
            hint=f"Without package=, the connector requires PySpark {' or '.join(PACKAGES)}. "
            f"{_INSTALL}",
        )
    if int(pandas.split(".", maxsplit=1)[0]) >= _PANDAS and line in PACKAGES:
        raise UnsupportedFeatureError(
            f"the connector 'java' with PySpark {pyspark} and pandas {pandas}",
            hint=f"PySpark {line} requires pandas 2. {_INSTALL}",
        )
    if catalog is None:
        raise InvalidInputError(
            "connector='java' requires a warehouse.",
            hint="Pass warehouse='/folder', or a Catalog object as catalog=.",
        )
    chosen = PACKAGES[line] if package is None else package
    return {
        **_jar(chosen),
        _CATALOG: "org.apache.paimon.spark.SparkCatalog",
        **{f"{_CATALOG}.{key}": value for key, value in catalog.items()},
        "spark.sql.extensions": _EXTENSIONS,
        "spark.sql.defaultCatalog": CATALOG,
        CONNECTOR: "java",
    }


def _jar(package: str) -> dict[str, str]:
    if package.endswith(".jar"):
        return {"spark.jars": package}
    if len(package.split(":")) != _PARTS:
        raise InvalidInputError(
            f"package must be Maven coordinates or the path of a .jar file, not {package!r}.",
            hint="Pass coordinates as 'group:artifact:version'.",
        )
    return {"spark.jars.packages": package}


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
