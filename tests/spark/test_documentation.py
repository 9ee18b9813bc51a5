"""The code blocks of pages that use Spark run, and print what the pages show.

See `tests/docs/test_code_blocks.py` for all other pages.
"""

from pathlib import Path

import pytest

from support.code_blocks import Page, documentation

PAGES = [page for page in documentation() if page.uses_spark]


def test_the_guide_to_spark_is_among_the_pages() -> None:
    assert ".github/docs/how-to/spark-pipeline.md" in [page.name for page in PAGES]


@pytest.mark.usefixtures("spark", "copied_demo")
@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page: Page, tmp_path: Path) -> None:
    found = page.differences(tmp_path)
    assert not found, "\n\n".join(found)
