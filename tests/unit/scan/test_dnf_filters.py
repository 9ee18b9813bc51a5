"""Lists of filters, as PyArrow's and pandas' readers take them, say the same as SQL text."""

from datetime import date

import pyarrow.compute as pc
import pytest

from paimon_explore.errors import InvalidInputError
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


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ([], "The list of filters is empty"),
        ([("a", ">")], "is not a filter"),
        (["a > 3"], "is not a filter"),
        ([("a", "~", 3)], "There is no operator '~'"),
        ([("a", "=", None)], "A comparison of column 'a' with None is never true"),
        ([("a", "in", "xy")], "'xy' is not a list of values"),
        ([(1, "=", 1)], "1 is not a column name"),
    ],
)
def test_what_is_no_filter_is_told(listed: Where, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        predicate(listed)
    assert says in caught.value.message


def test_another_library_s_expression_is_refused_with_what_to_write_instead() -> None:
    with pytest.raises(InvalidInputError) as caught:
        predicate(pc.field("a") > 3)  # type: ignore[arg-type]  # what is refused here
    assert "A condition cannot be of type pyarrow._compute.Expression" in caught.value.message
    assert 'pe.col("price") > 3' in (caught.value.hint or "")
