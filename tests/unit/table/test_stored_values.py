"""Values through every door of a table: they are stored unchanged, or the table stays as it was."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.table.table import Table
from support.small_tables import KEYED, new_catalog

WALL = dt.datetime(2024, 1, 2, 3)  # noqa: DTZ001 - a wall clock
INSTANT = WALL.replace(tzinfo=dt.UTC)
COLUMNS = {
    "id": "INT NOT NULL",
    "f": "FLOAT",
    "m": "DECIMAL(5, 2)",
    "ts": "TIMESTAMP(6)",
    "tz": "TIMESTAMP_LTZ(6)",
    "r": "ROW<x INT>",
    "l": "ARRAY<INT>",
}
ROW = {
    "id": 1,
    "f": 0.5,
    "m": Decimal("1.50"),
    "ts": WALL,
    "tz": INSTANT,
    "r": {"x": 1},
    "l": [1, None],
}


def keyed() -> Table:
    """A table with one row, by key."""
    table = new_catalog().create_table("db.t", COLUMNS, primary_key="id", options=KEYED)
    table.upsert([ROW])
    return table


def appended() -> Table:
    """A table with one row, without key."""
    table = new_catalog().create_table("db.t", COLUMNS)
    table.append([ROW])
    return table


def one_row(name: str, value: object) -> dict[str, object]:
    return {**ROW, name: value}


def generator(name: str, value: object) -> Iterator[dict[str, object]]:
    yield one_row(name, value)


def columns(name: str, value: object) -> dict[str, list[object]]:
    return {key: [given] for key, given in one_row(name, value).items()}


def objects(name: str, value: object) -> pd.DataFrame:
    return pd.DataFrame(
        {key: pd.Series([given], dtype=object) for key, given in one_row(name, value).items()}
    )


Door = Callable[[Table, str, object], object]
"""Stores a value in a column of a table."""
BY_KEY: Mapping[str, Door] = {
    "upsert rows": lambda t, n, v: t.upsert([one_row(n, v)]),
    "upsert a data frame": lambda t, n, v: t.upsert(objects(n, v)),
    "merge rows": lambda t, n, v: (
        t.merge([one_row(n, v)], "id")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute()
    ),
}
WITHOUT_KEY: Mapping[str, Door] = {
    "append rows": lambda t, n, v: t.append([one_row(n, v)]),
    "append a generator": lambda t, n, v: t.append(generator(n, v)),
    "append columns": lambda t, n, v: t.append(columns(n, v)),
    "append a data frame": lambda t, n, v: t.append(objects(n, v)),
    "overwrite": lambda t, n, v: t.overwrite([one_row(n, v)]),
    "update": lambda t, n, v: t.update({n: v}),
    "merge, matched": lambda t, n, v: (
        t.merge([{"k": 1}], {"id": "k"})
        .when_matched_update({n if n != "id" else "r.x": v})
        .execute()
    ),
    "merge, not matched": lambda t, n, v: (
        t.merge([{"k": 7}], {"id": "k"}).when_not_matched_insert({"id": 7, n: v}).execute()
    ),
}


BAD: list[tuple[str, object, str]] = [
    ("id", 1.5, "is not a whole number"),
    ("id", np.float64(1.5), "is not a whole number"),
    ("id", Decimal("1.5"), "is not a whole number"),
    ("f", 1e300, "is too large for FLOAT"),
    ("f", True, "True of type bool cannot be stored without a cast"),
    ("m", Decimal("1.555"), "has more than 2 decimal places"),
    ("m", 0.1 + 0.2, "has more than 2 decimal places"),
    ("ts", INSTANT, "Only one of value"),
    ("ts", 5, "5 of type int cannot be stored without a cast"),
    ("tz", WALL, "Only one of value"),
    ("r", {"x": 1.5}, r"Column 'r.x' \(INT\).*: 1.5 is not a whole number"),
    ("l", [1, 2.5], r"Column 'l\[\]' \(INT\).*: 2.5 is not a whole number"),
    ("l", [1, True], r"Column 'l\[\]' \(INT\).*: True of type bool"),
]


@pytest.mark.parametrize("door", [*BY_KEY, *WITHOUT_KEY])
def test_a_value_that_would_change_is_refused_and_nothing_is_written(door: str) -> None:
    table = keyed() if door in BY_KEY else appended()
    for name, value, message in BAD:
        with pytest.raises(InvalidInputError, match=message):
            {**BY_KEY, **WITHOUT_KEY}[door](table, name, value)
    assert table.to_arrow().to_pylist() == [ROW]
    assert len(table.snapshots) == 1


ARROW_BAD: list[tuple[str, Column, str]] = [
    ("id", pa.array([1.5]), "Column 'id' .INT., row 0 .counted from 0.: 1.5 is not a whole number"),
    (
        "f",
        pa.array([1e300]),
        "Column 'f' .FLOAT., row 0 .counted from 0.: 1e.300 is too large for FLOAT",
    ),
    ("ts", pa.array([INSTANT]), "Only one of value"),
    ("tz", pa.array([WALL]), "Only one of value"),
    (
        "l",
        pa.array([[1, 2.5]]),
        r"Column 'l\[\]' .INT., row 0 .counted from 0.: 2.5 is not a whole number",
    ),
]


@pytest.mark.parametrize(("name", "values", "message"), ARROW_BAD)
def test_streams_of_arrow_and_frames_are_held_to_the_same(
    name: str, values: Column, message: str
) -> None:
    data = pa.table({"id": pa.array([1])} | {name: values})
    table = appended()
    for given in (
        data,
        data.to_batches(),
        data.to_reader(),
        pl.from_arrow(data),
        duckdb.from_arrow(data),
    ):
        with pytest.raises(InvalidInputError, match=message):
            table.append(given)
    assert table.to_arrow().to_pylist() == [ROW]


def test_values_in_another_form_are_stored_as_what_they_are() -> None:
    table = appended()
    given = {"id": 2.0, "f": 0.1, "m": 0.1, "r": {"x": Decimal("3.0")}, "l": np.array([4.0])}
    table.append([given])
    table.update({"m": 2, "r.x": 4.0}, "id = 2")
    table.update({"m": "round(m / 3, 2)"}, "id = 2")
    (found,) = table.scan(where="id = 2").to_arrow().to_pylist()
    assert found == {
        "id": 2,
        "f": float(np.float32(0.1)),
        "m": Decimal("0.67"),
        "ts": None,
        "tz": None,
        "r": {"x": 4},
        "l": [4],
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"id": "id * 1.5"}, r"Column 'id' \(INT\): 1.5 is not a whole number. Round it first"),
        ({"id": pe.col("id") * 1.5}, "1.5 is not a whole number"),
        ({"id": pe.lit(2.9)}, "2.9 is not a whole number"),
        ({"f": "1e300"}, "is too large for FLOAT"),
        ({"f": "16777217"}, "cannot be represented exactly as FLOAT"),
        ({"m": "m / 7"}, "has more than 2 decimal places"),
        ({"ts": pe.lit(INSTANT)}, "Only one of value"),
        ({"tz": pe.lit(WALL)}, "Only one of value"),
        ({"ts": "tz"}, "Only one of value"),
    ],
)
def test_results_of_expressions_are_held_to_the_same(
    values: Mapping[str, object], message: str
) -> None:
    table = appended()
    with pytest.raises(InvalidInputError, match=message):
        table.update(values)
    assert table.to_arrow().to_pylist() == [ROW]


def test_an_explicit_cast_does_what_sql_says() -> None:
    table = appended()
    table.update({"id": "CAST(id * 2.9 AS INT)", "m": "CAST(m / 7 AS DECIMAL(5, 2))"})
    assert table.to_arrow().select(["id", "m"]).to_pylist() == [{"id": 2, "m": Decimal("0.21")}]


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("id = 1.5", 0),
        ("id = 1.0", 1),
        ("id IN (1.5, 0.5)", 0),
        (pe.col("id") == 1.5, 0),
        (pe.col("id") == np.float64(1), 1),
        ("id < 1.5 AND id > 0.5", 1),
        ("m = 1.501", 0),
        ("m = 1.5", 1),
        ("f = 1e300", 0),
    ],
)
def test_a_constant_of_a_condition_is_compared_as_it_is(where: Where, count: int) -> None:
    table = appended()
    assert table.scan(where=where).count() == count
    table.delete(where)
    assert table.scan().count() == 1 - count


def test_keys_of_a_merge_are_compared_as_they_are() -> None:
    table = appended()
    source = pa.table({"id": [1.5, 1.0]})
    merge = table.merge(source, "id").when_matched_update({"f": 9.0})
    merge.execute()
    assert table.to_arrow().column("f").to_pylist() == [9.0]
    other = appended()
    other.merge(source.slice(0, 1), "id").when_matched_delete().execute()
    assert other.scan().count() == 1


def test_a_partition_is_named_by_a_value_that_its_column_holds() -> None:
    table = new_catalog().create_table("db.t", {"id": "INT", "p": "INT"}, partition_by="p")
    table.append([{"id": 1, "p": 1}])
    with pytest.raises(InvalidInputError, match=r"Column 'p' \(INT\): 1.5 is not a whole number"):
        table.overwrite([{"id": 2}], partition={"p": 1.5})
    table.overwrite([{"id": 2}], partition={"p": 1.0})
    assert table.to_arrow().to_pylist() == [{"id": 2, "p": 1}]


def test_a_column_of_a_merge_that_the_table_lacks_has_values_of_one_kind() -> None:
    for values in ([WALL, INSTANT], [WALL, WALL.date()], ["a", b"b"]):
        source = [{"id": number, "x": value} for number, value in enumerate(values)]
        with pytest.raises(InvalidInputError, match="Column 'x' mixes values of different types"):
            appended().merge(source, "id").when_matched_update({"f": 1.0}).execute()
    table = appended()
    numbers: list[dict[str, object]] = [
        {"id": 1, "x": 1},
        {"id": 2, "x": 2.5},
        {"id": 3, "x": None},
    ]
    table.merge(numbers, "id").when_matched_update({"r.x": "source.x"}).execute()
    assert table.to_arrow().column("r").to_pylist() == [{"x": 1}]
