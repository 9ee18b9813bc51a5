"""TIMESTAMP(7) to (9) in SQL: no digit is lost, and functions and comparisons cut as Spark does."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from paimon_explore import Catalog
from support.small_tables import new_catalog

LAST = "2026-01-01 23:59:59.999999999"
TIMES = pd.DatetimeIndex(["2026-01-01 10:20:30.123456789", LAST], dtype="datetime64[ns]")
ROWS = pd.DataFrame({"i": [1, 2], "n": TIMES, "z": TIMES.tz_localize("UTC")})


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    catalog = new_catalog()
    catalog.create_table("db.t", ROWS).append(ROWS)
    return catalog


def values(catalog: Catalog, expression: str, clauses: str = "ORDER BY i") -> list[object]:
    text = f"SELECT {expression} AS v FROM db.t {clauses}"  # noqa: S608 - of the test
    return catalog.sql(text).to_arrow()["v"].to_pylist()


DAY = date(2026, 1, 1)


@pytest.mark.parametrize("column", ["n", "z"])
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("date({})", [DAY, DAY]),
        ("CAST({} AS DATE)", [DAY, DAY]),
        ("hour({})", [10, 23]),
        ("CAST(date_trunc('day', {}) AS DATE)", [DAY, DAY]),
        ("unix_timestamp({})", [1767262830, 1767311999]),
        ("date(max({}) OVER ())", [DAY, DAY]),
        ("datediff({}, DATE '2026-01-01')", [0, 0]),
        ("{} < current_timestamp()", [True, True]),
        ("{} >= TIMESTAMP '2026-01-01 12:00:00'", [False, True]),
        ("coalesce({}, current_timestamp()) < DATE '2026-01-02'", [True, True]),
        ("{} BETWEEN '2026-01-01' AND TIMESTAMP '2026-01-01 23:59:59'", [True, False]),
    ],
)
def test_functions_and_comparisons_never_see_rounded_values(
    catalog: Catalog, column: str, expression: str, expected: list[object]
) -> None:
    assert values(catalog, expression.format(column)) == expected


@pytest.mark.parametrize("column", ["n", "z"])
@pytest.mark.parametrize(
    "constant", [f"'{LAST}'", f"TIMESTAMP '{LAST}'", f"TIMESTAMP_NTZ '{LAST}'"]
)
def test_constants_are_compared_with_all_digits(
    catalog: Catalog, column: str, constant: str
) -> None:
    assert values(catalog, "i", f"WHERE {column} = {constant}") == [2]
    assert values(catalog, "i", f"WHERE {column} < {constant}") == [1]


def test_times_with_and_without_a_zone_are_compared(catalog: Catalog) -> None:
    assert values(catalog, "n < z + INTERVAL 2 DAY AND n > z - INTERVAL 2 DAY") == [True, True]
    assert values(catalog, "n < z OR n >= z") == [True, True]
    assert values(catalog, "i", "WHERE coalesce(n, z) > TIMESTAMP '2000-01-01' ORDER BY i") == [
        1,
        2,
    ]
    assert values(catalog, "i", "WHERE n = n AND z = z AND n <=> n ORDER BY i") == [1, 2]


def test_parameters_have_all_digits(catalog: Catalog) -> None:
    for given in (pd.Timestamp(LAST), np.datetime64(LAST)):
        for dialect in ("spark", "duckdb"):
            rows = catalog.sql("SELECT i FROM db.t WHERE n = ?", [given], dialect=dialect)
            assert rows.to_arrow().to_pylist() == [{"i": 2}]


def test_a_query_that_is_stored_loses_no_digit(catalog: Catalog) -> None:
    catalog.sql("CREATE OR REPLACE TABLE db.copied AS SELECT * FROM db.t")
    catalog.sql("INSERT INTO db.copied SELECT i + 2, max(n), max(z) FROM db.t GROUP BY i")
    stored = catalog.table("db.copied").to_pandas().sort_values("i", ignore_index=True)
    expected = pd.concat([ROWS, ROWS.assign(i=ROWS.i + 2)], ignore_index=True)
    pd.testing.assert_frame_equal(stored, expected)


def test_rows_are_changed_by_conditions_with_all_digits() -> None:
    catalog = new_catalog()
    table = catalog.create_table("db.t", ROWS)
    table.append(ROWS)
    catalog.sql("UPDATE db.t SET i = hour(n) WHERE date(z) = DATE '2026-01-01'")
    catalog.sql(f"DELETE FROM db.t WHERE n = TIMESTAMP_NTZ '{LAST}'")  # noqa: S608 - of the test
    assert table.to_arrow()["i"].to_pylist() == [10]
