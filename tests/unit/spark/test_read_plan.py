"""Tables with options of one read or write on top."""

from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.spark.read_plan import table_with_options
from paimon_explore.spark.reads.read_table import table_at
from paimon_explore.table.table import Table


@pytest.fixture
def orders(tmp_path: Path) -> Table:
    """30 rows in five commits, and a branch with the first six."""
    found = pe.demo(tmp_path / "warehouse").table("demo.orders")
    found.create_tag("v1", 1)
    found.create_branch("b1", "v1")
    return found


def rows(table: Table) -> int:
    return table.to_arrow().num_rows


def test_options_and_a_branch_count_for_a_table_as_for_its_path(orders: Table) -> None:
    for where in (orders, orders.path):
        assert rows(table_at(where, None, {"scan.snapshot-id": "2"})) == 12
        assert rows(table_at(where, None, {"incremental-between": "1,3"})) == 12
        assert rows(table_at(where, "b1", None)) == 6
    assert table_at(orders, None, None) is orders


def test_a_view_of_the_past_stays_one_with_more_options(orders: Table) -> None:
    view = orders.at(snapshot=3)
    assert rows(table_with_options(view, {"source.split.target-size": "1 mb"})) == 18
    assert rows(table_with_options(view, {"scan.snapshot-id": "1"})) == 6
