"""VARIANT columns take values of Python and Arrow; texts are documents where they are parsed."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("d")
    return catalog.create_table("d.t", {"v": "VARIANT", "l": "ARRAY<VARIANT>"})


def stored(table: Table) -> list[str | None]:
    rows = table.to_arrow().column("v").to_pylist()
    return [None if row is None else str(pe.Variant(**row)) for row in rows]


def test_values_of_python_are_stored_as_they_are(table: Table) -> None:
    values = [
        *({"b": [1, "x", None], "a": Decimal("1.50")}, [True], "text", '{"a": 1}', 1.5, None),
        *(np.float32(0.1), np.int64(2), np.array([1, 2]), dt.date(2024, 1, 2), (1, 2)),
        pe.Variant.parse_json("[null]"),
    ]
    table.append([{"v": value} for value in values])

    expected = [
        *('{"a":1.5,"b":[1,"x",null]}', "[true]", '"text"', '"{\\"a\\": 1}"', "1.5", None),
        *("0.1", "2", "[1,2]", '"2024-01-02"', "[1,2]", "[null]"),
    ]
    assert stored(table) == expected


def test_rows_that_were_read_are_written_again(table: Table) -> None:
    table.append([{"v": {"a": 1}, "l": ["x", {"b": None}, None]}])
    table.append(table.to_arrow().to_pylist())
    table.append(table.to_arrow())

    rows = table.to_arrow().to_pylist()
    assert rows == [rows[0]] * 4
    assert [pe.Variant(**one).to_python() for one in rows[0]["l"][:2]] == ["x", {"b": None}]
    assert rows[0]["l"][2] is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(["x", None]), ['"x"', None]),
        (pa.array([1, None], pa.int8()), ["1", None]),
        (pa.array([0.1], pa.float32()), ["0.1"]),
        (pa.array([{"a": 1, "b": None}, None]), ['{"a":1,"b":null}', None]),
        (pa.array([[1, None], []]), ["[1,null]", "[]"]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), ['{"k":1}']),
        (pa.array(["x", "x"]).dictionary_encode(), ['"x"', '"x"']),
        (pa.array([1_000], pa.timestamp("ns")), ['"1970-01-01 00:00:00.000001"']),
    ],
)
def test_columns_of_arrow_are_stored_as_they_are(
    table: Table, values: Column, expected: list[str | None]
) -> None:
    table.append(pa.table({"v": values}))

    assert stored(table) == expected


def test_columns_of_pandas_are_stored_as_they_are(table: Table) -> None:
    table.append(pd.DataFrame({"v": [{"q": 1}, [2], "x", None]}))

    assert stored(table) == ['{"q":1}', "[2]", '"x"', None]


def test_texts_are_documents_where_texts_are_parsed(table: Table) -> None:
    table.append([{"v": '{"a": [1]}'}, {"v": " "}, {"v": {"n": "1"}}], cast="parse")
    table.append(pa.table({"v": pa.array(['"x"', ""])}), cast="parse")

    assert stored(table) == ['{"a":[1]}', None, '{"n":"1"}', '"x"', None]


@pytest.mark.parametrize(
    ("rows", "cast", "problem"),
    [
        ([{"v": 1}, {"v": "{"}], "parse", r"'v' \(VARIANT\), row 1 .*'\{' is not JSON"),
        (pa.table({"v": ["1", "x"]}), "parse", r"row 1 .*'x' is not JSON"),
        ([{"v": '{"a": 1, "a": 2}'}], "parse", "has the key 'a' twice"),
        ([{"v": "NaN"}], "parse", "NaN is not JSON"),
        ([{"v": "[" * 100_000}], "parse", "nested too deeply"),
        ([{"v": dt.time(1)}], "safe", "a value of type time"),
        ([{"v": {1: 2}}], "safe", "must be a string, not 1"),
        (pa.table({"v": pa.array([1], pa.timestamp("ns"))}), "safe", "nanoseconds"),
        (pa.table({"v": pa.array([[(1, 1)]], pa.map_(pa.int8(), pa.int8()))}), "safe", "a string"),
        (pa.table({"v": ["x"]}), "strict", "values of type string are not variants"),
        ([{"v": pd.Timestamp(1)}], "safe", "nanoseconds"),
    ],
)
def test_values_that_do_not_fit_are_errors(
    table: Table, rows: object, cast: str, problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        table.append(rows, cast=cast)  # type: ignore[arg-type]  # any rows
