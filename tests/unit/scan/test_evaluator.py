"""Predicates on rows, by example."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate, operand_type
from paimon_explore.scan.predicate.expression import Column
from paimon_explore.scan.predicate.sql_parser import parse_where
from support.predicates import row_type_of

ROW_TYPE = row_type_of(
    {
        "i": "INT",
        "b": "BIGINT",
        "d": "DOUBLE",
        "m": "DECIMAL(38, 30)",
        "s": "STRING",
        "c": "CHAR(3)",
        "dt": "DATE",
        "ts": "TIMESTAMP(3)",
        "n": "TIMESTAMP(9)",
        "flag": "BOOLEAN",
        "r": "ROW<a INT, q ROW<c STRING>>",
    }
)
NAN = float("nan")
TABLE = pa.Table.from_pydict(
    {
        "i": [1, None, 300],
        "b": [2**53 + 1, 2**62, None],
        "d": [NAN, -0.0, 3e9],
        "m": [Decimal("1.5"), None, Decimal(-99999999)],
        "s": ["12", "x", None],
        "c": ["a", "a  ", None],
        "dt": [date(2026, 1, 31), date(1969, 12, 31), None],
        "ts": [
            datetime(2026, 1, 31),  # noqa: DTZ001 - a wall clock reading
            datetime(1969, 12, 31, 23, 59, 59, 999000),  # noqa: DTZ001 - a wall clock reading
            None,
        ],
        "n": pa.array([1769817600_000000000, -1, None], pa.timestamp("ns")),
        "flag": [True, False, None],
        "r": [{"a": 1, "q": {"c": "x"}}, None, {"a": None, "q": None}],
    },
    schema=arrow_schema(ROW_TYPE),
)


def truths(where: str, table: pa.Table = TABLE) -> list[bool | None]:
    return evaluate(bind(parse_where(where), ROW_TYPE), table, ROW_TYPE).to_pylist()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("i <=> b", [False, False, False]),
        ("r.q.c = 'x' AND r IS NOT NULL", [True, False, None]),
        ("r.q IS NULL", [False, True, True]),
        ("c = 'a'", [True, False, None]),
        ("TRUE", [True, True, True]),
        ("NULL", [None, None, None]),
        ("b = 9007199254740993", [True, False, None]),
        ("b > m", [True, None, None]),
        ("m = i", [False, None, False]),
        ("i < d", [True, None, True]),
        ("dt = ts", [True, False, None]),
        ("n = ts", [True, False, None]),
        ("n > ts", [False, True, None]),
        ("n > dt", [False, True, None]),
    ],
)
def test_a_predicate_is_true_false_or_unknown(where: str, expected: list[bool | None]) -> None:
    assert truths(where) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("CAST(i AS TINYINT) = 1", [True, None, None]),
        ("CAST(i AS BIGINT) = 300", [False, None, True]),
        ("CAST(i AS STRING) = '300'", [False, None, True]),
        ("CAST(i AS VARCHAR(1)) = '3'", [False, None, True]),
        ("CAST(i AS CHAR(3)) = '1  '", [True, None, False]),
        ("CAST(i AS DOUBLE) > 1.5", [False, None, True]),
        ("CAST(i AS BOOLEAN)", [True, None, True]),
        ("CAST(i AS DECIMAL(3, 1)) = 1", [True, None, None]),
        ("CAST(d AS INT) = 0", [None, True, None]),
        ("CAST(d AS BIGINT) = 3000000000", [None, False, True]),
        ("CAST(m AS INT) = 1", [True, None, False]),
        ("CAST(m AS DECIMAL(10, 0)) = 2", [True, None, False]),
        ("CAST(m AS TINYINT) IS NULL", [False, True, True]),
        ("CAST(m AS FLOAT) < 2", [True, None, True]),
        ("CAST(s AS INT) = 12", [True, None, None]),
        ("CAST(s AS TINYINT) < 13", [True, None, None]),
        ("CAST(s AS DOUBLE) = 12", [True, None, None]),
        ("CAST(s AS DATE) IS NULL", [True, True, True]),
        ("CAST(dt AS STRING) = '2026-01-31'", [True, False, None]),
        ("CAST(dt AS TIMESTAMP(3)) = ts", [True, False, None]),
        ("CAST(dt AS TIMESTAMP(9)) = n", [True, False, None]),
        ("CAST(ts AS DATE) = dt", [True, True, None]),
        ("CAST(ts AS TIMESTAMP(0)) = TIMESTAMP '1969-12-31 23:59:59'", [False, True, None]),
        ("CAST(n AS TIMESTAMP(3)) = ts", [True, True, None]),
        ("CAST(ts AS TIMESTAMP(9)) = n", [True, False, None]),
        ("CAST(flag AS INT) = 1", [True, False, None]),
    ],
)
def test_a_cast_gives_null_for_what_does_not_fit(where: str, expected: list[bool | None]) -> None:
    assert truths(where) == expected


def test_texts_are_cast_to_numbers_and_dates_only_if_they_are_some() -> None:
    texts = [" +7 ", "1e2", "99999999999999999999", "", "2026-01-31", "2026-02-30", "7.5"]
    table = pa.table({"s": pa.array(texts)})
    assert truths("CAST(s AS INT) IS NOT NULL", table) == [True] + [False] * 6
    assert truths("CAST(s AS DOUBLE) IS NOT NULL", table) == [
        *(True, True, True, False, False, False, True)
    ]
    assert truths("CAST(s AS DATE) = DATE '2026-01-31'", table) == [
        *(None, None, None, None, True, None, None)
    ]


def test_decimals_become_the_nearest_double() -> None:
    numbers = [Decimal(n).scaleb(-3) for n in (8588980006, 335, 1005, -1005, 123456789999, 0)]
    kind = row_type_of({"m": "DECIMAL(15, 3)", "d": "DOUBLE"})
    doubles = pa.array([float(n) for n in numbers])
    table = pa.table({"m": pa.array(numbers, pa.decimal128(15, 3)), "d": doubles})
    for where in ("CAST(m AS DOUBLE) = d", "m = d", "m * 1e0 = d", "m <= d AND d <= m"):
        assert evaluate(bind(parse_where(where), kind), table, kind).to_pylist() == [True] * 6
    for number in numbers:
        where = f"m = {float(number)!r}e0" if "e" not in repr(float(number)) else f"m = {number}"
        found = evaluate(bind(parse_where(where), kind), table, kind).to_pylist()
        assert found == [one == number for one in numbers]


def test_nan_is_the_greatest_value() -> None:
    kind = row_type_of({"d": "DOUBLE", "f": "FLOAT"})
    floats = pa.array([0.0, NAN, 2.0, NAN, None], pa.float32())
    table = pa.table({"d": pa.array([NAN, 0.0, 1.0, None, None]), "f": floats})

    def found(where: str) -> list[bool | None]:
        return evaluate(bind(parse_where(where), kind), table, kind).to_pylist()

    assert found("greatest(d, f) IS NAN") == [True, True, False, True, False]
    assert found("greatest(d, f) = 2.0") == [False, False, True, False, None]
    assert found("least(d, f) <= 1.0") == [True, True, True, False, None]
    assert found("nullif(d, CAST('NaN' AS DOUBLE)) IS NULL") == [True, False, False, True, True]


def test_upper_and_lower_may_change_the_length() -> None:
    table = pa.table({"s": ["éß", "abc", None, "ﬁn", "ΑΣ", "İ"]})
    assert truths("upper(s) = 'ÉSS'", table) == [True, False, None, False, False, False]
    assert truths("upper(s) IN ('FIN', 'ABC')", table) == [False, True, None, True, False, False]
    assert truths("lower(s) IN ('ας', 'i̇')", table) == [False, False, None, False, True, True]


def test_far_dates_have_no_nanoseconds() -> None:
    table = pa.table({"dt": pa.array([date(3000, 1, 1)]), "n": pa.array([0], pa.timestamp("ns"))})
    assert truths("CAST(dt AS TIMESTAMP(9)) IS NULL", table) == [True]
    assert truths("dt > n", table) == [True]


def test_a_table_gives_chunks_and_a_batch_an_array() -> None:
    expr = bind(parse_where("i = 1"), ROW_TYPE)
    batch = TABLE.to_batches()[0].slice(1)
    assert evaluate(expr, batch, ROW_TYPE).to_pylist() == [None, False]
    assert isinstance(evaluate(expr, TABLE, ROW_TYPE), pa.ChunkedArray)
    assert evaluate(expr, TABLE.slice(0, 0), ROW_TYPE).to_pylist() == []


def test_only_true_rows_pass_a_filter() -> None:
    expr = bind(parse_where("i <> 1"), ROW_TYPE)
    assert TABLE.filter(evaluate(expr, TABLE, ROW_TYPE)).column("i").to_pylist() == [300]


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="There is no column 'zz'"):
        operand_type(Column(path=("zz",)), ROW_TYPE)
