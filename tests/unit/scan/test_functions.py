"""Arithmetic and functions: the type and the values of their results."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import arrow_schema, to_arrow
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.binder import bind, bind_value
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.scan.predicate.evaluator import evaluate, value_of
from paimon_explore.scan.predicate.functions import FUNCTIONS
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import expr, parse_value

TYPES = {
    "i": "INT",
    "b": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "n": "DECIMAL(10,2)",
    "s": "STRING",
    "dt": "DATE",
    "x": "BOOLEAN",
}
ROW = RowType(
    fields=tuple(
        DataField(id=i, name=name, type=parse_type(text, name))
        for i, (name, text) in enumerate(TYPES.items())
    )
)
BATCH = pa.RecordBatch.from_pylist(
    [
        {
            "i": 7,
            "b": 2**40,
            "f": 1.5,
            "d": 2.5,
            "n": Decimal("10.25"),
            "s": " ab ",
            "dt": date(2024, 1, 31),
            "x": True,
        },
        {"i": -7, "b": 0, "f": 0.0, "n": Decimal(0), "s": "xyz"},
    ],
    schema=arrow_schema(ROW),
)


def result(text: str) -> tuple[str, list[object]]:
    bound, kind = bind_value(parse_value(text), ROW)
    values = value_of(bound, BATCH, ROW)
    assert values.type == to_arrow(kind)
    return type_text(kind), [value.as_py() for value in values]


CASES: dict[str, tuple[str, list[object]]] = {
    "i + 1": ("INT", [8, -6]),
    "10 - 3 - 2": ("BIGINT", [5, 5]),
    "2 + 3 * i": ("INT", [23, -19]),
    "-(i + 1)": ("INT", [-8, 6]),
    "i + b": ("BIGINT", [2**40 + 7, -7]),
    "i / 2": ("DOUBLE", [3.5, -3.5]),
    "i / 0": ("DOUBLE", [None, None]),
    "i % 4": ("INT", [3, -3]),
    "i % 0": ("INT", [None, None]),
    "d % 2": ("DOUBLE", [0.5, None]),
    "f + i": ("DOUBLE", [8.5, -7.0]),
    "n * 1.1": ("DECIMAL(13, 3)", [Decimal("11.275"), Decimal("0.000")]),
    "n + i": ("DECIMAL(13, 2)", [Decimal("17.25"), Decimal("-7.00")]),
    "n / 3": ("DECIMAL(14, 6)", [Decimal("3.416667"), Decimal("0.000000")]),
    "dt + 1": ("DATE", [date(2024, 2, 1), None]),
    "dt - DATE '2024-01-01'": ("INT", [30, None]),
    "year(dt) * 100 + month(dt)": ("INT", [202401, None]),
    "upper(trim(s)) || '!'": ("STRING", ["AB!", "XYZ!"]),
    "concat(s, i)": ("STRING", [" ab 7", "xyz-7"]),
    "length(s)": ("INT", [4, 3]),
    "substring(s, 2, 2)": ("STRING", ["ab", "yz"]),
    "substr(s, -2)": ("STRING", ["b ", "yz"]),
    "replace(s, 'a', 'z')": ("STRING", [" zb ", "xyz"]),
    "coalesce(d, 0)": ("DOUBLE", [2.5, 0.0]),
    "coalesce(dt, '2020-01-01')": ("DATE", [date(2024, 1, 31), date(2020, 1, 1)]),
    "if(i > 0, 'pos', s)": ("STRING", ["pos", "xyz"]),
    "CASE WHEN x THEN i WHEN i < 0 THEN 0 END": ("INT", [7, 0]),
    "CASE i WHEN 7 THEN 'seven' ELSE s END": ("STRING", ["seven", "xyz"]),
    "nullif(i, 7)": ("INT", [None, -7]),
    "round(n, 1)": ("DECIMAL(10, 2)", [Decimal("10.30"), Decimal("0.00")]),
    "floor(n)": ("DECIMAL(9, 0)", [Decimal(10), Decimal(0)]),
    "ceil(d)": ("BIGINT", [3, None]),
    "abs(i)": ("INT", [7, 7]),
    "greatest(i, 3)": ("INT", [7, 3]),
    "least(d, 0)": ("DOUBLE", [0.0, 0.0]),
    "i > 0": ("BOOLEAN", [True, False]),
}


@pytest.mark.parametrize("text", CASES)
def test_an_expression_has_this_type_and_these_values(text: str) -> None:
    assert result(text) == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_an_expression_is_read_back_from_its_text(text: str) -> None:
    tree = parse_value(text)
    assert parse_value(to_sql(tree)) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i * 1000000000", "A result of multiply does not fit INT"),
        ("b * b", "A result of multiply does not fit BIGINT"),
        ("upper(i)", "upper does not accept arguments of type INT"),
        ("s + 1", "[+] does not accept arguments of type STRING, BIGINT"),
        (
            "round(i, b)",
            "round does not accept arguments of type INT, BIGINT|must be a constant integer",
        ),
        ("substring(s, i)", "must be constant integers"),
        ("coalesce(i, s)", "coalesce does not accept arguments of type INT, STRING"),
        ("nullif(i)", "nullif takes 2 arguments, but 1 was given"),
        ("missing + 1", "There is no column 'missing'"),
    ],
)
def test_what_cannot_be_computed_is_an_error(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        result(text)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (col("i") + 1, "i + 1"),
        (1 + col("i"), "1 + i"),
        (10 - col("i") * 2, "10 - (i * 2)"),
        (-(col("i") / 2) % 3, "negative(i / 2) % 3"),
        (3 / col("i") - 1, "(3 / i) - 1"),
        (expr("upper(s)") == "A", "upper(s) = 'A'"),
    ],
)
def test_operators_of_terms_are_those_of_sql(term: Term, text: str) -> None:
    assert to_sql(term.expression) == text


def test_predicates_may_compute() -> None:
    bound = bind(parse_value("i + 1 > 5 AND dt >= DATE '2024-02-10' - 10"), ROW)
    assert "DATE '2024-01-31'" in to_sql(bound)
    assert evaluate(bound, BATCH, ROW).to_pylist() == [True, False]


def test_every_function_is_known_by_a_name_in_lower_case_or_a_sign() -> None:
    assert [name for name in FUNCTIONS if name != name.lower()] == []
