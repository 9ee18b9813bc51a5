"""Which rows a condition looks up in global indexes, against its value for each row."""

import math

import pyarrow as pa
import pytest
from pyroaring import BitMap64

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import AtomicType
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.sql_parser import parse_where
from paimon_explore.scan.pruning.global_index_condition import GlobalIndexCondition, Lookup
from support.predicates import row_type_of

NAN = float("nan")
VALUES: dict[str, list[object]] = {
    "i": [1, 2, 3, None, 2, 5, -1, None],
    "s": ["a", "ab", "abc", "b", None, "ac", "ab\uffff", ""],
    "f": [1.0, -0.0, 0.0, NAN, None, 2.5, -1.0, NAN],
    "b": [True, False, None, True, False, True, None, False],
    "v": [1, 2, 1, 2, 1, 2, 1, 2],
}
ROW_TYPE = row_type_of({"i": "INT", "s": "STRING", "f": "DOUBLE", "b": "BOOLEAN", "v": "INT"})
ROWS = pa.table(VALUES, arrow_schema(ROW_TYPE))
KEYS = {
    field.name: GlobalIndexKeys(field.type)
    for field in ROW_TYPE
    if field.name != "v" and isinstance(field.type, AtomicType)
}


def look_up(lookup: Lookup) -> BitMap64:
    keys = KEYS[lookup.column]
    return BitMap64(
        row
        for row, value in enumerate(VALUES[lookup.column])
        if (lookup.nulls if value is None else lookup.keys.contains(keys.of_value(value)))  # type: ignore[arg-type]  # of the type
    )


def found(where: str, *, wanted: bool = True) -> set[int] | None:
    condition = GlobalIndexCondition(keys=KEYS, look_up=look_up)
    rows = condition.rows(bind(parse_where(where), ROW_TYPE), wanted=wanted)
    return None if rows is None else set(rows)


def matching(where: str, *, wanted: bool = True) -> set[int]:
    values = evaluate(bind(parse_where(where), ROW_TYPE), ROWS, ROW_TYPE).to_pylist()
    return {row for row, value in enumerate(values) if value is wanted}


EXACT = [
    *(f"i {op} 2" for op in ("=", "<>", "<", "<=", ">", ">=")),
    *("i IN (1, 5, 9)", "i IN (1, NULL)", "i NOT IN (1, 2)", "i NOT IN (1, NULL)"),
    *(
        "i IS NULL",
        "i IS NOT NULL",
        "b",
        "NOT b",
        "b = FALSE",
        "TRUE AND i = 2",
        "FALSE",
        "NULL",
        "i = NULL",
    ),
    *("i > 1 AND i < 3", "i > 1 AND s = 'ab' AND i < 3", "i = 1 OR s = 'b' OR i IS NULL"),
    *("NOT (i = 1 OR s = 'b')", "NOT (i = 1 AND s = 'b')", "NOT NOT (i = 1)", "(i = 2) IS TRUE"),
    *("NOT i = 1 AND i < 3", "s LIKE 'ab%'", "s LIKE 'ab%' AND (i = 2 OR i = 3)", "s < 'ab'"),
    *("(i = 1 OR i = 2) AND (b OR i = 2) AND i < 2", "NOT (s LIKE 'a%' AND FALSE) AND i = 1"),
]
WITH_NAN = [
    *(f"f {op} {value}" for op in ("=", "<>", "<", "<=", ">", ">=") for value in (0.0, -0.0, 1.0)),
    *("f IN (0.0, 2.5)", "f NOT IN (0.0, 2.5)", "f IS NULL"),
]
PARTS = {
    "i = 2 AND v = 1": "i = 2",
    "v = 1 AND i > 1 AND i + 1 = 3 AND i < 3": "i = 2",
    "s LIKE 'ab%c' AND v = 1": "s LIKE 'ab%'",
    "(i = 2 AND v = 1) OR i = 5": "i = 2 OR i = 5",
}
UNKNOWN = [
    *("v = 1", "i = v", "i + 1 = 2", "s LIKE '%b'", "NOT s LIKE 'a%'", "i = 1 OR v = 1"),
    *(
        "NOT (i = 1) IS TRUE",
        "NOT i <=> 2",
        "TRUE",
        "v IS NULL",
        "f IN (1.0, CAST('NaN' AS DOUBLE))",
    ),
    *("v IN (1)", "f = CAST('NaN' AS DOUBLE)"),
]


@pytest.mark.parametrize("where", [*EXACT, "i <=> 2"])
def test_conditions_on_one_column_look_up_their_rows_and_no_others(where: str) -> None:
    assert found(where) == matching(where)


@pytest.mark.parametrize("where", WITH_NAN)
def test_floating_point_numbers_are_found_with_nan_where_it_may_be(where: str) -> None:
    rows = found(where)
    assert rows is not None
    nan = {
        row
        for row, value in enumerate(VALUES["f"])
        if isinstance(value, float) and math.isnan(value)
    }
    assert rows >= matching(where)
    assert rows - nan == matching(where) - nan


@pytest.mark.parametrize(("where", "part"), PARTS.items())
def test_of_a_conjunction_the_parts_with_indexes_are_looked_up(where: str, part: str) -> None:
    assert found(where) == matching(part)


@pytest.mark.parametrize("where", UNKNOWN)
def test_other_conditions_allow_all_rows(where: str) -> None:
    assert found(where) is None
