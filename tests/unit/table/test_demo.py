from pathlib import Path

import pytest

from paimon_explore import Table
from paimon_explore.table.demo import demo


def test_the_demo_holds_tables_of_every_kind_that_can_be_read(tmp_path: Path) -> None:
    catalog = demo(tmp_path)
    counts = {}
    for name in catalog.tables("demo"):
        table = catalog.table(f"demo.{name}")
        assert isinstance(table, Table)
        counts[name] = table.scan().count()
    assert counts == {
        "customers": 25,
        "empty": 0,
        "events": 1,
        "orders": 30,
        "profiles": 3,
        "stock": 2,
        "types": 2,
    }


def test_a_demo_that_is_there_already_is_given_as_it_is(tmp_path: Path) -> None:
    demo(tmp_path).drop_table("demo.types")
    assert "types" not in demo(tmp_path).tables("demo")


def test_the_demo_shows_what_merge_engines_do(tmp_path: Path) -> None:
    catalog = demo(tmp_path)
    stock = catalog.table("demo.stock").to_arrow().sort_by("item").to_pylist()
    assert stock == [
        {"item": "bolt", "amount": 3, "price": pytest.approx(0.25)},
        {"item": "nut", "amount": 2, "price": pytest.approx(0.1)},
    ]
