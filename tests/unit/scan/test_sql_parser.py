"""Conditions from SQL text."""

from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.builder import Term, col, lit
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where, predicate

A, B = col("a"), col("b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", A == 1),
        ("a == 1", A == 1),
        ("3 < a", lit(3) < A),
        ("a <> -1", A != -1),
        ("a != - -1", A != 1),
        ("a >= +1.50", Decimal("1.50") <= A),
        ("a < 1e3", A < 1000.0),
        ("a < 1.5D", A < 1.5),
        ("a = 10L", A == 10),
        ("a = 1.5BD", Decimal("1.5") == A),
        ("a <=> NULL", A.same_as(None)),
        ("a IN (1, 'x', NULL)", A.isin([1, "x", None])),
        ("a not in (1)", ~A.isin([1])),
        ("a BETWEEN 1 AND 2 AND b = 3", A.between(1, 2) & (B == 3)),
        ("a NOT BETWEEN 1 AND 2", ~A.between(1, 2)),
        ("a LIKE 'x%'", A.like("x%")),
        ("a NOT LIKE 'x!%' ESCAPE '!'", ~A.like("x!%", escape="!")),
        ("startswith(a, '50%')", A.startswith("50%")),
        ("endswith(a, 'x')", A.endswith("x")),
        ("contains(a, '_')", A.contains("_")),
        ("a IS NULL", A.is_null()),
        ("a IS NOT NULL", A.is_not_null()),
        ("a IS TRUE", A.is_true()),
        ("a IS NOT FALSE", ~(~A).is_true()),
        ("a IS DISTINCT FROM b", ~A.same_as(B)),
        ("NOT a = 1 AND b = 2 OR b = 3", (~(A == 1) & (B == 2)) | (B == 3)),
        ("a = 1 AND (b = 2 OR b = 3)", (A == 1) & ((B == 2) | (B == 3))),
        ("`a b`.`c.d` = 1", col("a b", "c.d") == 1),
        ('"select" = 1', col("select") == 1),
        ("a.b.c = 1", A.field("b", "c") == 1),
        ("a = 'it''s'", A == "it's"),
        (r"a = 'it\'s\n\\ \u00e9'", A == "it's\n\\ é"),
        ("a = X'CAfe'", A == b"\xca\xfe"),
        ("a = TRUE OR FALSE", (A == True) | lit(value=False)),  # noqa: E712 - makes a predicate
        ("a = DATE '2026-01-31'", date(2026, 1, 31) == A),
        ("a = TIME '10:00:00.123'", time(10, 0, 0, 123000) == A),
        (
            "a = TIMESTAMP '2026-01-31 10:00:00.5'",
            datetime(2026, 1, 31, 10, 0, 0, 500000) == A,  # noqa: DTZ001 - a wall clock reading
        ),
        (
            "a = TIMESTAMP '2026-01-31T12:00:00+02:00'",
            datetime(2026, 1, 31, 10, tzinfo=UTC) == A,
        ),
        ("CAST(a AS DECIMAL(10, 2)) = 1", A.cast("DECIMAL(10, 2)") == 1),
        ("a::timestamp(3) = b", A.cast("TIMESTAMP(3)") == B),
        ("a::string = b -- comment\n /* another */", A.cast("STRING") == B),
        ("date = 1 AND timestamp = 2", (col("date") == 1) & (col("timestamp") == 2)),
    ],
)
def test_sql_and_python_make_the_same_tree(text: str, expected: Term) -> None:
    assert parse_where(text) == expected.expression


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soundex(a) = 'X'", "(column 1): there is no function soundex"),
        ("a + > 2", "(column 5): a column, a constant or a condition is expected here"),
        ("a" + " + 1" * 101 + " = 0", "at most 100 arithmetic operators"),
        ("a = 1 AND\n b = (SELECT 1)", "(line 2, column 7): a condition cannot contain a subquery"),
        ("a = 1; DROP TABLE t", "(column 6): the character ';' is unexpected here"),
        ("a RLIKE b", "RLIKE expects a string constant"),
        ("a = X'ABC'", "X'…' expects pairs of hexadecimal digits"),
        ("a.1 = 1", "AND, OR or the end of the condition is expected here"),
        ("a IN (b)", "IN expects a list of constants"),
        ("a LIKE b", "LIKE expects a string constant"),
        (r"a LIKE 'x\\'", "ends with its escape"),
        ("(a = 1) = TRUE", "a condition cannot be compared with a value"),
        ("CAST(a AS NONSENSE) = 1", "Invalid type"),
        ("CAST(a AS INT", "')' is expected after the type"),
        ("(" * 200 + "a" + ")" * 200, "levels of parentheses"),
        ("NOT " * 200 + "a", "at most 100 consecutive NOT"),
        ("a = " + "9" * 39, "integer of more than 38 digits"),
        ("CASE a END", "WHEN is expected after CASE"),
        ("CASE WHEN a END", "THEN is expected here"),
    ],
)
def test_what_is_not_understood_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_where(text)
    assert message in str(caught.value)


def test_an_error_points_at_its_place_and_gives_one_suggestion() -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_where("a > 1\n  AND uper(b) = 'x'")
    assert str(caught.value) == (
        "The condition cannot be parsed (line 2, column 7): there is no function uper.\n"
        "      AND uper(b) = 'x'\n"
        "          ^\n"
        "Did you mean 'upper'?"
    )


def test_an_error_in_a_long_line_shows_the_part_around_it() -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_where(" AND ".join(["price > 3"] * 20) + " & dt = 'd1'")
    what = "AND, OR or the end of the condition is expected here"
    assert str(caught.value).split("\n") == [
        f"The condition cannot be parsed (column 277): {what}.",
        "    …ice > 3 AND price > 3 AND price > 3 & dt = 'd1'",
        f"    {'^':>38}",
        "Write AND instead of &.",
    ]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("a = 1 | b = 2", "Write OR instead of |."),
        ("!a", "Write NOT, or <> for 'not equal'."),
        ("a = 1;", "Write the condition only, without a semicolon."),
        ('a = "x', "Strings are written in single quotes, column names in backticks."),
        ("select = 1", "To use a column named select, write `select`."),
        ("a = ", "Write a condition such as: price > 3 AND dt = '2026-01-31'."),
    ],
)
def test_a_common_slip_gets_the_advice_that_mends_it(text: str, advice: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_where(text)
    assert str(caught.value).split("\n")[-1] == advice


def test_many_alternatives_make_one_flat_tree() -> None:
    text = " OR ".join(f"a = {number}" for number in range(3000))
    assert to_sql(parse_where(text)) == text


@pytest.mark.parametrize("where", ["a = 1", A == 1, (A == 1).expression])
def test_text_terms_and_trees_are_all_predicates(where: str | Term | Expression) -> None:
    assert predicate(where) == (A == 1).expression


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (col("odd`name") == "it's \\", r"`odd``name` = 'it''s \\'"),
        (~(col("not") > 1.5), "NOT (`not` > 1.5e0)"),
        (float("-inf") == A, "a = CAST('-Infinity' AS DOUBLE)"),
        ((A == 1).is_true(), "(a = 1) IS TRUE"),
        ((~A).is_true() | A.is_not_null(), "a IS FALSE OR a IS NOT NULL"),
        (~A.isin([b"\x01", True]), "a NOT IN (X'01', TRUE)"),
        (Decimal("1E+3") == A, "a = 1000"),
        (datetime(2026, 1, 1, tzinfo=UTC) == A, "a = TIMESTAMP '2026-01-01 00:00:00Z'"),
    ],
)
def test_a_tree_shows_as_sql(term: Term, text: str) -> None:
    assert to_sql(term.expression) == text
    assert parse_where(text) == term.expression
