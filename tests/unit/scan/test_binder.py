"""Names and constants tied to columns."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.binder import bind, resolve
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import FALSE, NULL, TRUE
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where
from support.predicates import row_type_of

ROW_TYPE = row_type_of(
    {
        "t": "TINYINT",
        "i": "INT",
        "b": "BIGINT",
        "f": "FLOAT",
        "d": "DOUBLE",
        "m": "DECIMAL(10, 2)",
        "s": "STRING",
        "c": "CHAR(3)",
        "x": "BYTES",
        "dt": "DATE",
        "tm": "TIME(3)",
        "ts": "TIMESTAMP(3)",
        "n": "TIMESTAMP(9)",
        "z": "TIMESTAMP_LTZ(6)",
        "flag": "BOOLEAN",
        "r": "ROW<a INT, B ROW<c STRING>>",
        "arr": "ARRAY<INT>",
        "Up": "INT",
        "UP": "INT",
    }
)
BERLIN = ZoneInfo("Europe/Berlin")


def bound(where: str, zone: tzinfo = UTC) -> str:
    return to_sql(bind(parse_where(where), ROW_TYPE, zone=zone))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("3 < i", "i > 3"),
        ("t < 1000", "t <= 127"),
        ("t >= -1000", "t >= -128"),
        ("t > 1000", "t IS NULL AND NULL"),
        ("t <> 1000", "t IS NOT NULL OR NULL"),
        ("t <=> 1000", "FALSE"),
        ("i < 3.5", "i <= 3"),
        ("i > 3.5", "i >= 4"),
        ("i = 3.5", "i IS NULL AND NULL"),
        ("i = 3.0", "i = 3"),
        ("i < CAST('NaN' AS DOUBLE)", "i <= 2147483647"),
        ("i > CAST('-Infinity' AS DOUBLE)", "i >= -2147483648"),
        ("b = 9007199254740993", "b = 9007199254740993"),
        ("m > 1.499", "m >= 1.50"),
        ("m = 1e2", "m = 100.00"),
        ("m < 100000000", "m <= 99999999.99"),
        ("m = 1.1e0", "m = 1.10"),
        ("m >= 1.1e0", "m >= 1.10"),
        ("m < 0.3e0", "m < 0.30"),
        ("m IN (1.1e0, 0.3e0, 1.105e0)", "m IN (1.10, 0.30)"),
        ("m > 1.105e0", "m >= 1.11"),
        ("f = 0.1", "f = 0.1e0"),
        ("f < 1e300", "f <= 3.4028235e+38"),
        ("f >= 1e300", "f >= CAST('Infinity' AS DOUBLE)"),
        ("d = 1", "d = 1.0e0"),
        ("i IN (1, 1.0, 2.5, NULL)", "i IN (1, NULL)"),
        ("i IN (2.5)", "i IS NULL AND NULL"),
        ("i IN (2.5, NULL)", "NULL"),
        ("dt = '2026-1-31'", "dt = DATE '2026-01-31'"),
        ("dt > '2026-01-31 12:00:00'", "dt >= DATE '2026-02-01'"),
        ("tm = '10:00'", "tm = TIME '10:00:00'"),
        ("tm > '10:00:00.0005'", "tm >= TIME '10:00:00.001'"),
        ("ts < '2026-01-31 10:00:00.0004'", "ts <= TIMESTAMP '2026-01-31 10:00:00'"),
        ("ts >= DATE '2026-01-31'", "ts >= TIMESTAMP '2026-01-31 00:00:00'"),
        (
            "n = TIMESTAMP '2026-01-31 10:00:00.123456789'",
            "n = TIMESTAMP '2026-01-31 10:00:00.123456789'",
        ),
        ("n < TIMESTAMP '2500-01-01 00:00:00'", "n <= TIMESTAMP '2262-04-11 23:47:16.854775807'"),
        ("I = 1", "i = 1"),
        ("R.A = 1 AND r.b.C = 'x'", "r.a = 1 AND r.B.c = 'x'"),
        ("c = 'a'", "c = 'a'"),
        ("s LIKE 'abc'", "s = 'abc'"),
        ("s LIKE '%%'", "s IS NOT NULL OR NULL"),
        ("i = NULL OR i <=> NULL", "NULL OR i IS NULL"),
        ("NULL = i OR NULL <=> i", "NULL OR i IS NULL"),
        ("1 = 1 AND i = 1", "i = 1"),
        ("i = 1 AND 1 > 2", "FALSE"),
        ("i = 1 OR 'a' < 'b'", "TRUE"),
        ("flag", "flag"),
        ("CAST(i AS INT) = 1", "i = 1"),
        ("CAST('5' AS INT) = i", "i = 5"),
        ("CAST('2026-01-31' AS DATE) = dt", "dt = DATE '2026-01-31'"),
        ("CAST('2026-01-31' AS TIMESTAMP) = ts", "ts = TIMESTAMP '2026-01-31 00:00:00'"),
        ("CAST(NULL AS INT) = i", "NULL"),
    ],
)
def test_constants_take_the_type_of_the_column(where: str, expected: str) -> None:
    assert bound(where) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("z = '2026-01-31 10:00:00'", "z = TIMESTAMP '2026-01-31 09:00:00Z'"),
        ("z = '2026-07-31 10:00:00'", "z = TIMESTAMP '2026-07-31 08:00:00Z'"),
        ("z = '2026-01-31 10:00:00Z'", "z = TIMESTAMP '2026-01-31 10:00:00Z'"),
        ("z = '2026-01-31 10:00:00 America/New_York'", "z = TIMESTAMP '2026-01-31 15:00:00Z'"),
        ("z >= DATE '2026-01-31'", "z >= TIMESTAMP '2026-01-30 23:00:00Z'"),
        ("ts = '2026-01-31 10:00:00Z'", "ts = TIMESTAMP '2026-01-31 11:00:00'"),
        ("dt = '2026-01-31 23:00:00Z'", "dt = DATE '2026-02-01'"),
        ("z = '0001-01-01 00:00:00'", "z = TIMESTAMP '0000-12-31 23:06:32Z'"),
        ("z = '12026-01-01 00:00:00'", "z = TIMESTAMP '12025-12-31 23:00:00Z'"),
    ],
)
def test_wall_clocks_meet_points_in_time_in_the_given_zone(where: str, expected: str) -> None:
    assert bound(where, BERLIN) == expected


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("zz = 1", r"There is no column 'zz'. Columns: 't', 'i'"),
        ("up = 1", "is ambiguous. Use one of the exact names 'Up', 'UP'"),
        ("i = '1'", "'1' cannot be compared with INT. Write a number without quotes"),
        ("x = 'a'", "'a' cannot be compared with BYTES. Write X'CAFE' in SQL"),
        ("flag = 1", "1 cannot be compared with BOOLEAN. Write TRUE or FALSE"),
        ("dt = 'x'", "'x' cannot be compared with DATE"),
        ("tm = 5", "Write TIME '10:00:00.123'"),
        ("ts = 'x'", "Write TIMESTAMP '2026-01-31 10:00:00'"),
        ("r = 1", "with IS NULL or IS NOT NULL only"),
        ("i = TRUE", "TRUE cannot be compared with INT. Write a number"),
        ("ts = z", "these types cannot be compared"),
        ("i = s", "these types cannot be compared"),
        ("arr = arr", "these types cannot be compared"),
        ("CAST(arr AS STRING) = 'x'", "A condition cannot cast ARRAY<INT> to STRING"),
        ("CAST('x' AS INT) = i", "'x' is not a valid INT"),
        ("CAST(1 AS ARRAY<INT>) IS NULL", "A constant cannot be cast"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_hint(where: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        bound(where)
    assert message in str(caught.value)


def test_nested_columns_may_be_asked_is_null() -> None:
    assert bound("arr IS NULL AND r.B IS NOT NULL") == "arr IS NULL AND r.B IS NOT NULL"


def test_conditions_without_columns_are_folded() -> None:
    assert bind(parse_where("1 = 1.0"), ROW_TYPE) == TRUE
    assert bind(parse_where("NOT ('a' LIKE 'a%')"), ROW_TYPE) == FALSE
    assert bind(parse_where("NULL IN (1)"), ROW_TYPE) == NULL
    assert bind(parse_where("NULL LIKE 'a'"), ROW_TYPE) == NULL
    assert bind(parse_where("(1 > NULL) IS TRUE"), ROW_TYPE) == FALSE
    assert bind(parse_where("NULL IS NULL"), ROW_TYPE) == TRUE
    assert bind(parse_where("100000000000000000000 > 3"), ROW_TYPE) == TRUE


def test_an_exact_name_wins_over_one_of_other_case() -> None:
    assert resolve(("UP",), ROW_TYPE)[0] == ("UP",)
    assert bind((col("Up") == 1).expression, ROW_TYPE) == bind(parse_where("Up = 1"), ROW_TYPE)


def test_bytes_constants_meet_binary_columns() -> None:
    assert bound("x >= X'00'") == "x >= X'00'"
