"""The code blocks of pages that use Spark run, and print what the pages show.

See `tests/docs/test_code_blocks.py` for all other pages.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from paimon_explore.spark.connector import WAREHOUSE
from support.code_blocks import Page, documentation

PAGES = [page for page in documentation() if page.uses_spark]


def test_the_guide_to_spark_is_among_the_pages() -> None:
    assert ".github/docs/how-to/spark-pipeline.md" in [page.name for page in PAGES]


@pytest.fixture
def _warehouse_restored(spark: SparkSession) -> Iterator[None]:
    """Pages choose a warehouse of their own."""
    before = spark.conf.get(WAREHOUSE)
    assert before is not None
    yield
    spark.conf.set(WAREHOUSE, before)


@pytest.mark.usefixtures("_warehouse_restored")
@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page: Page, tmp_path: Path) -> None:
    found = page.differences(tmp_path)
    assert not found, "\n\n".join(found)
