from pathlib import Path

import pytest

from paimon_explore.errors import StorageError
from paimon_explore.table.catalog.demo import demo


def test_the_demo_holds_tables_of_every_kind_that_can_be_read(tmp_path: Path) -> None:
    catalog = demo(tmp_path)
    counts = {}
    for name in catalog.tables("demo"):
        table = catalog.table(f"demo.{name}")
        counts[name] = table.scan().count()
    assert counts == {
        "customers": 25,
        "empty": 0,
        "events": 1,
        "notes": 4,
        "orders": 30,
        "parcels": 20,
        "profiles": 3,
        "readings": 8,
        "stock": 2,
        "trips": 3,
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


def test_the_demo_shows_the_life_of_a_table(tmp_path: Path) -> None:
    catalog = demo(tmp_path)
    parcels = catalog.table("demo.parcels")
    assert [tag.name for tag in parcels.tags] == ["weighed"]
    assert "labels" in parcels.maintenance.consumers
    kinds = set(parcels.inspect.table_indexes()["index_type"].to_pylist())
    assert kinds == {"DELETION_VECTORS"}
    trips = catalog.table("demo.trips")
    assert trips.at(tag="before").to_arrow().column_names == ["id", "place", "seats"]
    assert trips.to_arrow().column_names == ["id", "city", "guide", "seats"]
    assert catalog.table("demo.trips$branch_draft").to_arrow().num_rows == 3
    notes = catalog.table("demo.notes").to_arrow().sort_by("id")
    assert notes["stars"].to_pylist() == [0, 1, 3, 1]


def test_a_demo_in_a_place_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"Cannot make .*file"):
        demo(tmp_path / "file" / "w")
