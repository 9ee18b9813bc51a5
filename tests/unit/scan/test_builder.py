"""Predicates written in Python."""

from datetime import datetime

import numpy as np
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.scan.predicate.expression import FALSE, Column, Compare, CompareOp, literal
from paimon_explore.scan.predicate.sql_formatter import to_sql


def test_a_comparison_makes_a_tree() -> None:
    assert (col("a") > 3).expression == Compare(
        op=CompareOp.GT, left=Column(path=("a",)), right=literal(3)
    )


def test_a_constant_may_stand_on_either_side() -> None:
    assert to_sql((3 < col("a")).expression) == "a > 3"  # noqa: SIM300 - the point


def test_and_or_not_combine_terms() -> None:
    term = (col("a") > 3) & ~col("b").isin(["x"]) | col("c").is_null()
    assert to_sql(term.expression) == "a > 3 AND b NOT IN ('x') OR c IS NULL"


def test_numpy_values_are_taken_as_pythons() -> None:
    assert literal(np.int8(3)) == literal(3)
    assert literal(np.float64(1.5)) == literal(1.5)
    assert literal(np.datetime64("2026-01-31T10:00:00.000000001", "ns")).value == (
        1769853600_000000001
    )
    moment = datetime(2026, 1, 31, 10)  # noqa: DTZ001 - a wall clock reading
    assert literal(np.datetime64("2026-01-31T10:00", "us")) == literal(moment)


def test_equal_numbers_of_different_kinds_are_different_literals() -> None:
    assert len({literal(1), literal(1.0), literal(value=True)}) == 3
    assert literal(float("nan")) == literal(-float("nan"))
    assert literal(0.0) == literal(-0.0)


def test_an_empty_list_is_false() -> None:
    assert col("a").isin([]).expression == FALSE


@pytest.mark.parametrize("values", ["abc", b"xyz", col("b")])
def test_isin_wants_a_list(values: Term | str) -> None:
    with pytest.raises(InvalidInputError, match="list"):
        col("a").isin(values)  # type: ignore[arg-type]  # the point


def test_texts_are_matched_as_they_are() -> None:
    assert to_sql(col("a").contains("50%_\\").expression) == r"a LIKE '%50\\%\\_\\\\%'"


@pytest.mark.parametrize("path", [(), ("",), ("a", "")])
def test_a_column_has_a_name(path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError, match="must not be empty"):
        col(*path)
