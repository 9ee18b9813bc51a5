"""Lists of filters, as PyArrow's and pandas' readers take them, say the same as SQL text."""

from datetime import date

import pytest

from paimon_explore.scan.predicate.sql_parser import Where, predicate


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ([("a", ">", 3)], "a > 3"),
        ([("a", "=", 3), ("b", "!=", "x")], "a = 3 AND b <> 'x'"),
        ([("a", "==", 3)], "a = 3"),
        ([("b", "in", ["x", "y"])], "b IN ('x', 'y')"),
        ([("b", "not in", {"x"})], "NOT b IN ('x')"),
        ([("d", ">=", date(2026, 1, 2))], "d >= DATE '2026-01-02'"),
        ([[("a", "<", 1)], [("a", ">=", 5), ("b", "=", "x")]], "a < 1 OR (a >= 5 AND b = 'x')"),
        ((("a", "<=", 1), ("a", "<>", 0)), "a <= 1 AND a <> 0"),
    ],
)
def test_a_list_of_filters_says_what_the_sql_text_says(listed: Where, text: str) -> None:
    assert predicate(listed) == predicate(text)
