"""Fields inside rows get new values; everything beside them stays."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from support.small_tables import new_catalog

ADDRESS = "ROW<city STRING, geo ROW<lat DOUBLE, lon DOUBLE>, zip INT>"
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
KINDS: dict[str, tuple[str | None, dict[str, str]]] = {
    "keyed": ("id", {"bucket": "1"}),
    "append": (None, {}),
    "vectors": (None, {"deletion-vectors.enabled": "true"}),
    "evolving": (None, EVOLVING),
}
ROME = {"city": "Rome", "geo": {"lat": 41.9, "lon": 12.5}, "zip": 100}
PARIS = {"city": "Paris", "geo": None, "zip": None}


def table(folder: Path, kind: str = "append") -> Table:
    key, options = KINDS[kind]
    columns = {"id": "INT NOT NULL", "addr": ADDRESS, "a.b": "INT"}
    made = new_catalog(folder).create_table("db.t", columns, primary_key=key or (), options=options)
    rows: list[Mapping[str, object]] = [
        {"id": 1, "addr": ROME, "a.b": 1},
        {"id": 2, "addr": PARIS, "a.b": 2},
        {"id": 3, "addr": None, "a.b": 3},
    ]
    made.append(rows)
    return made


def addresses(found: Table) -> dict[int, object]:
    rows = found.to_arrow().select(["id", "addr"]).to_pylist()
    return {row["id"]: row["addr"] for row in rows}


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_gets_a_new_value_and_the_others_stay(tmp_path: Path, kind: str) -> None:
    made = table(tmp_path, kind)
    made.update({"addr.city": "upper(addr.city)", "addr.geo.lat": pe.lit(1.5)}, where="id <= 2")
    assert addresses(made) == {
        1: {"city": "ROME", "geo": {"lat": 1.5, "lon": 12.5}, "zip": 100},
        2: {"city": "PARIS", "geo": {"lat": 1.5, "lon": None}, "zip": None},
        3: None,
    }
    assert made.maintenance.fsck(read_rows=True) == []


def test_a_row_that_is_null_becomes_one_with_the_value(tmp_path: Path) -> None:
    made = table(tmp_path)
    made.update({"ADDR.Zip": 7}, where="id = 3")
    assert addresses(made)[3] == {"city": None, "geo": None, "zip": 7}
    made.update({"addr.geo": {"lat": 1.0}}, where="id = 3")
    assert addresses(made)[3] == {"city": None, "geo": {"lat": 1.0, "lon": None}, "zip": 7}


def test_a_null_row_with_fields_that_are_not_null_is_given_whole(tmp_path: Path) -> None:
    made = new_catalog(tmp_path).create_table("db.t", {"r": "ROW<x INT NOT NULL, y INT>"})
    made.append([{"r": None}, {"r": {"x": 1, "y": 1}}])
    with pytest.raises(InvalidInputError, match="its field 'x' is NOT NULL"):
        made.update({"r.y": 2})
    made.update({"r.y": 2}, where="r IS NOT NULL")
    assert made.to_arrow().column("r").to_pylist() == [None, {"x": 1, "y": 2}]


def test_a_column_with_a_dot_in_its_name_comes_first(tmp_path: Path) -> None:
    made = table(tmp_path)
    made.update({"a.b": 9}, where="id = 1")
    assert made.to_arrow().column("a.b").to_pylist() == [9, 2, 3]


def test_a_merge_sets_fields(tmp_path: Path) -> None:
    made = table(tmp_path)
    source = [{"id": 1, "town": "Roma"}, {"id": 2, "town": "Paname"}]
    merge = made.merge(source, on="id").when_matched_update({"addr.city": "source.town"})
    merge.execute()
    assert addresses(made)[1] == {**ROME, "city": "Roma"}
    assert addresses(made)[2] == {**PARIS, "city": "Paname"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"addr.town": 1}, "'addr' has no field 'town'. Fields: 'city', 'geo'"),
        ({"addr.geo.alt": 1}, "'addr.geo' has no field 'alt'"),
        ({"addr.zip.x": 1}, "'addr.zip' is not a ROW"),
        ({"id.x": 1}, "'id' is not a ROW"),
        ({"addr.zip": 1, "addr.ZIP": 2}, "'addr.zip' is set twice"),
        ({"addr": None, "addr.zip": 2}, "'addr' is set twice"),
        ({"addr.zip": "'x'"}, "of column 'addr.zip'"),
        ({"nope.x": 1}, "no column 'nope.x'"),
    ],
)
def test_what_is_no_field_is_named(tmp_path: Path, values: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table(tmp_path).update(values)
