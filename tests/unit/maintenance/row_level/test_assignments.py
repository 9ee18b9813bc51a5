"""New values: what they may be, and how they reach their column's type."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from support.small_tables import append_table, columns

ID = pa.schema([pa.field("id", pa.int32(), nullable=False)])
COLUMNS = pa.unify_schemas(
    [
        ID,
        columns(
            n=pa.string(),
            d=pa.decimal128(10, 2),
            dt=pa.date32(),
            ts=pa.timestamp("ms"),
            tz=pa.timestamp("us", tz="UTC"),
            f=pa.float32(),
            b=pa.bool_(),
            l=pa.list_(pa.int32()),
            m=pa.map_(pa.string(), pa.int32()),
            r=pa.struct([("x", pa.int32()), ("y", pa.string())]),
        ),
    ]
)
ROW = {
    "id": 3,
    "n": "ab",
    "d": Decimal("1.25"),
    "dt": date(2024, 1, 31),
    "f": 1.5,
    "b": True,
    "l": [1],
    "m": {"a": 1},
    "r": {"x": 7, "y": "why"},
}


def after(name: str, value: object) -> object:
    table = append_table(COLUMNS, [ROW])
    table.update({name: value})
    return table.to_arrow().column(name).to_pylist()[0]


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("id", 5, 5),
        ("id", np.int64(5), 5),
        ("id", "id * 2", 6),
        ("n", "'text'", "text"),
        ("n", pe.lit("text"), "text"),
        ("n", pe.col("r", "y"), "why"),
        ("n", "r.y", "why"),
        ("n", "NULL", None),
        ("n", None, None),
        ("d", "d * 2.0", Decimal("2.50")),
        ("d", "round(d * 1.1, 2)", Decimal("1.38")),
        ("d", "CAST(d / 3 AS DECIMAL(10, 2))", Decimal("0.42")),
        ("d", "id", Decimal("3.00")),
        ("d", 2, Decimal("2.00")),
        ("d", Decimal("9.9"), Decimal("9.90")),
        ("dt", "'2024-02-29'", date(2024, 2, 29)),
        ("dt", "dt + 1", date(2024, 2, 1)),
        ("dt", date(2020, 1, 1), date(2020, 1, 1)),
        ("ts", "TIMESTAMP '2024-01-01 10:00:00'", datetime(2024, 1, 1, 10)),  # noqa: DTZ001 - a wall clock
        ("ts", "'2024-01-01 10:00:00.5'", datetime(2024, 1, 1, 10, 0, 0, 500_000)),  # noqa: DTZ001 - a wall clock
        ("tz", "'2024-01-01 10:00:00Z'", datetime(2024, 1, 1, 10, tzinfo=UTC)),
        ("tz", "TIMESTAMP '2024-01-01 10:00:00+02:00'", datetime(2024, 1, 1, 8, tzinfo=UTC)),
        ("ts", "TIMESTAMP '9999-12-31 00:00:00'", datetime(9999, 12, 31)),  # noqa: DTZ001 - a wall clock
        ("tz", datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)),
        ("f", "f * 2", 3.0),
        ("f", "id", 3.0),
        ("b", "id > 5", False),
        ("b", "NULL", None),
        ("l", [4, 5], [4, 5]),
        ("l", np.array([1, 2]), [1, 2]),
        ("l", "l", [1]),
        ("m", {"z": 26}, [("z", 26)]),
        ("m", "NULL", None),
        ("r", {"x": 1, "y": None}, {"x": 1, "y": None}),
    ],
)
def test_a_column_gets_this_value(name: str, value: object, result: object) -> None:
    assert after(name, value) == result


TEXTS = [{"id": at, "n": text, "d": at} for at, text in enumerate(("12", "x 1", None))]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("id", "CAST(n AS INT)", "The value 'x 1' of n cannot be cast to INT"),
        ("b", "CAST(CAST(n AS INT) AS BOOLEAN)", "The value 'x 1' of n cannot be cast to INT"),
        ("d", "1 + coalesce(CAST(n AS INT), 5)", "The value 'x 1' of n cannot be cast to INT"),
        ("f", "1 / d", "1 / d divides by zero"),
        ("f", "1 / 0", "1 / 0 divides by zero"),
        ("f", "2 + 1 % 0", "1 % 0 divides by zero"),
        ("f", "10 % (id - 1)", "divides by zero"),
        ("f", "CASE WHEN id < 2 THEN 1 / (id - 1) END", "divides by zero"),
    ],
)
def test_a_value_is_not_lost_by_a_cast_or_a_division(name: str, value: str, message: str) -> None:
    """An update would store NULL instead; conditions take it as unknown."""
    table = append_table(COLUMNS, TEXTS)
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        table.update({name: value})
    merge = table.merge([{"id": at} for at in range(3)], on="id")
    value = re.sub(r"\b(n|d|id)\b", r"target.\1", value)
    with pytest.raises(InvalidInputError, match=r"cannot be cast|divides by zero"):
        merge.when_matched_update({name: value}).execute()
    assert [snapshot.id for snapshot in table.snapshots] == [1]


@pytest.mark.parametrize(
    ("value", "where", "result"),
    [
        ("TRY_CAST(n AS INT)", "id >= 0", [12, None, None]),
        ("TRY_CAST('x' AS INT)", "id = 0", [None, 0, 0]),
        ("CAST(n AS INT)", "CAST(n AS INT) > 3", [12, 0, 0]),
        ("CASE WHEN n LIKE '1%' THEN CAST(n AS INT) ELSE 7 END", "id >= 0", [12, 7, 7]),
        ("if(id = 1, 7, CAST(n AS INT))", "id >= 0", [12, 7, None]),
        ("coalesce(id, CAST(n AS INT))", "id >= 0", [0, 1, 2]),
        ("CAST(6 / nullif(id, 0) AS INT)", "id >= 0", [None, 6, 3]),
        ("CASE WHEN CAST(n AS INT) IS NULL THEN -1 ELSE 1 END", "id >= 0", [1, -1, -1]),
    ],
)
def test_a_value_is_checked_where_it_is_used(
    value: str, where: str, result: list[int | None]
) -> None:
    table = append_table(
        pa.unify_schemas([COLUMNS, columns(r0=pa.int32())]), [row | {"r0": 0} for row in TEXTS]
    )
    table.update({"r0": value}, where)
    assert table.to_arrow().sort_by("id")["r0"].to_pylist() == result


def test_times_beyond_nanoseconds_stay_beside_constants() -> None:
    last = datetime(9999, 12, 31, tzinfo=UTC)
    table = append_table(COLUMNS, [ROW | {"tz": last}, ROW])
    table.update({"tz": "coalesce(tz, TIMESTAMP '2024-01-01 00:00:00Z')"})
    assert table.to_arrow().column("tz").to_pylist() == [last, datetime(2024, 1, 1, tzinfo=UTC)]
    assert table.scan(where="tz > TIMESTAMP '9999-12-30 23:59:59.999999999Z'").count() == 1


def test_names_are_found_without_regard_to_case() -> None:
    table = append_table(COLUMNS, [ROW])
    table.update({"ID": "iD + 1"})
    assert table.to_arrow().column("id").to_pylist() == [4]


def test_the_clock_fits_timestamps() -> None:
    found = after("tz", "current_timestamp")
    assert isinstance(found, datetime)
    assert abs((found - datetime.now(UTC)).total_seconds()) < 600


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("id", None, "the value is null, but the column is NOT NULL"),
        ("id", "NULL", "the value is null, but the column is NOT NULL"),
        ("id", "n", "values of type string cannot be stored without a cast"),
        (
            "tz",
            "coalesce(tz, TIMESTAMP '9999-12-31 00:00:00.000000001Z')",
            "out of range for Arrow",
        ),
        ("id", "2147483648", r"Column 'id' \(INT\): 2147483648 is out of range"),
        ("id", "id + 2147483647", "does not fit INT"),
        ("id", "id / 2", r"Column 'id' \(INT\): 1.5 is not a whole number. Round it first"),
        ("id", "x", "There is no column 'x'"),
        ("d", "d * 100000000", "125000000.00 has more than 8 digits before the decimal point"),
        ("d", "d * 1.1", "1.375 has more than 2 decimal places. Round it first: round"),
        ("d", "d / 3", "more than 2 decimal places"),
        ("n", "text", r"as \"'text'\" .with quotes. or pe.lit"),
        ("n", "two words", "with quotes"),
        ("n", "O'Brien", "with quotes"),
        ("b", "ts", "without a cast"),
        ("ts", "'2024-01-01 10:00:00Z'", "without a cast. Only one of value"),
        ("ts", "TIMESTAMP '2024-01-01 10:00:00Z'", "without a cast. Only one of value"),
        ("tz", "'2024-01-01 10:00:00'", "without a cast. Only one of value"),
        ("tz", "TIMESTAMP '2024-01-01 10:00:00'", "without a cast. Only one of value"),
        ("dt", "'2024-01-01 10:00:00Z'", "without a cast. Only one of value"),
        ("ts", "'2024-01-01 10:00:00.0001'", "more fractional digits than column 'ts' of type"),
        ("l", "'x'", "Pass a Python value"),
        ("r", {"z": 1}, "has no field 'z'"),
        ("nope", 1, "The table has no column 'nope'"),
    ],
)
def test_a_value_that_does_not_fit_is_named(name: str, value: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        after(name, value)
