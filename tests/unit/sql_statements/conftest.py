"""Statements on DuckDB against a new demo warehouse."""

from pathlib import Path

import pytest

import paimon_explore as pe
from support.spark_sql import Rows, Run
from support.sql_row_tests import KINDS, MEMBERS


@pytest.fixture
def catalog(tmp_path: Path) -> pe.Catalog:
    """A new demo warehouse."""
    made = pe.demo(tmp_path / "warehouse")
    made.sql("USE demo")
    return made


@pytest.fixture
def run(catalog: pe.Catalog) -> Run:
    """Runs a statement in the database `demo`."""
    return catalog.sql


@pytest.fixture
def rows(catalog: pe.Catalog) -> Rows:
    """The rows that a statement answers with."""

    def collected(text: str) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in catalog.sql(text).to_arrow().to_pylist()]

    return collected


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of table whose rows are changed."""
    found: str = request.param
    return found


@pytest.fixture(params=MEMBERS)
def member_kind(request: pytest.FixtureRequest) -> str:
    """A kind of table whose structs are changed."""
    found: str = request.param
    return found
