"""One Spark session for all tests of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark.java_runtime import java_home
from paimon_explore.spark.reads.read_table import DRIVER_BYTES
from paimon_explore.spark.session import session
from paimon_explore.table.catalog.catalog import Catalog
from support.required import lacking
from support.spark_cluster import QUICK_START


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test here starts Spark, which warns of pandas 3."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two cores, two attempts a task."""
    try:
        java_home(os.environ)
    except UnsupportedFeatureError as error:
        lacking("spark", str(error))
    folder = tmp_path_factory.mktemp("spark")
    started = session(
        master="local[2,2]",
        warehouse=folder,
        config={
            "spark.sql.session.timeZone": "Asia/Tokyo",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": QUICK_START,
            "spark.sql.shuffle.partitions": "2",
            DRIVER_BYTES: "0",  # small as the tables are, tasks read them
        },
    )
    yield started
    started.stop()


@pytest.fixture(scope="module", autouse=True)
def _without_temporary_views() -> Iterator[None]:
    """Drop the temporary views of a file, which the tests of others would list."""
    yield
    active = SparkSession.getActiveSession()
    if active is not None:
        for view in active.sql("SHOW VIEWS IN spark_catalog.default").collect():
            if view.isTemporary:
                active.catalog.dropTempView(view.viewName)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """A new demo warehouse."""
    return pe.demo(tmp_path / "warehouse")
