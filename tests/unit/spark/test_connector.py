"""The settings of the official connector, without a session."""

import pytest

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.spark.connector import check_kind, java_settings

FOLDER = {"warehouse": "/w"}


def test_coordinates_follow_the_release_of_spark() -> None:
    found = java_settings(FOLDER, None, pyspark="4.1.2", pandas="2.3.1")
    assert found == {
        "spark.jars.packages": "org.apache.paimon:paimon-spark-4.1_2.13:2.0.0",
        "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
        "spark.sql.catalog.paimon.warehouse": "/w",
        "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
        "spark.sql.defaultCatalog": "paimon",
        "spark.paimon_explore.connector": "java",
    }


def test_other_coordinates_and_jars_are_taken_as_they_are() -> None:
    given = java_settings(FOLDER, "org.apache.paimon:x:1", pyspark="4.3.0", pandas="3.0.0")
    assert given["spark.jars.packages"] == "org.apache.paimon:x:1"
    jar = java_settings(FOLDER, "/j/paimon.jar", pyspark="4.3.0", pandas="3.0.0")
    assert jar["spark.jars"] == "/j/paimon.jar"


@pytest.mark.parametrize(
    ("pyspark", "pandas", "message"),
    [
        ("4.3.0", "2.2.0", "PySpark 4.3.0 is not supported.*requires PySpark 4.1"),
        ("4.1.4", "3.1.1", "pandas 3.1.1 is not supported.*requires pandas 2"),
    ],
)
def test_versions_that_do_not_go_together_are_named_with_what_to_install(
    pyspark: str, pandas: str, message: str
) -> None:
    with pytest.raises(UnsupportedFeatureError, match=message) as refused:
        java_settings(FOLDER, None, pyspark=pyspark, pandas=pandas)
    assert "paimon-jar" in str(refused.value)


def test_a_warehouse_coordinates_and_a_known_connector_are_due() -> None:
    with pytest.raises(InvalidInputError, match="requires a warehouse"):
        java_settings(None, None, pyspark="4.1.0", pandas="2.2.0")
    with pytest.raises(InvalidInputError, match="group:artifact:version"):
        java_settings(FOLDER, "paimon", pyspark="4.1.0", pandas="2.2.0")
    with pytest.raises(InvalidInputError, match="Use 'python', 'java'"):
        check_kind("jvm")


def test_the_options_of_any_catalog_are_passed_on() -> None:
    options = {"metastore": "rest", "uri": "http://h", "token": "t"}
    found = java_settings(options, "/j/paimon.jar", pyspark="4.3.0", pandas="3.0.0")
    prefix = "spark.sql.catalog.paimon."
    given = {key[len(prefix) :]: text for key, text in found.items() if key.startswith(prefix)}
    assert given == options
