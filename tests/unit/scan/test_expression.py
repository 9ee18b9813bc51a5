"""Predicates as values."""

import pickle
from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import pytest

from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import (
    FALSE,
    TRUE,
    And,
    Column,
    CompareOp,
    Literal,
    columns_of,
    conjunction,
    disjunction,
    literal,
    names_of,
    unit_nanos,
)

NAN = float("nan")
A, B, C = ((col(name) == 1).expression for name in "abc")


def test_a_tree_keeps_its_value_over_pickling() -> None:
    tree = ((col("a") > NAN) & ~col("r", "b").cast("INT").isin([1, None])).expression
    copy = pickle.loads(pickle.dumps(tree))  # noqa: S301 - our own bytes
    assert copy == tree
    assert hash(copy) == hash(tree)
    assert copy != (col("a") > 1.0).expression


def test_conjunctions_and_disjunctions_are_flat() -> None:
    assert conjunction([conjunction([A, B]), C]) == And(children=(A, B, C))
    assert disjunction([disjunction([A, B]), C]) == disjunction([A, B, C])
    assert conjunction([]) == TRUE
    assert disjunction([]) == FALSE
    assert conjunction([A]) == A


def test_columns_are_listed_as_often_as_they_occur() -> None:
    tree = ((col("r", "x") == col("a")) & (col("a").is_true())).expression
    assert [column.path for column in columns_of(tree)] == [("r", "x"), ("a",), ("a",)]
    assert names_of(tree) == {"r", "a"}


@pytest.mark.parametrize(
    ("value", "expected", "root"),
    [
        (True, True, TypeRoot.BOOLEAN),
        (2**63 - 1, 2**63 - 1, TypeRoot.BIGINT),
        (2**63, 2**63, TypeRoot.DECIMAL),
        (Decimal("1E+2"), 100, TypeRoot.BIGINT),
        (Decimal("-0.00"), Decimal("0.00"), TypeRoot.DECIMAL),
        (date(1970, 1, 2), 1, TypeRoot.DATE),
        (time(0, 0, 1), 1000, TypeRoot.TIME),
        (datetime(1970, 1, 1, 0, 0, 1), 10**6, TypeRoot.TIMESTAMP),  # noqa: DTZ001 - wall clock
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 10**6, TypeRoot.TIMESTAMP_LTZ),
        (np.str_("x"), "x", TypeRoot.VARCHAR),
    ],
)
def test_python_values_become_literals(value: object, expected: object, root: TypeRoot) -> None:
    made = literal(value)
    assert made.value == expected
    assert made.type is not None
    assert made.type.root is root


@pytest.mark.parametrize(
    "value",
    [
        Decimal("NaN"),
        Decimal("1E-39"),
        Decimal("1." + "1" * 38),
        10**38,
        time(0, 0, 0, 1),
        np.datetime64("NaT", "us"),
    ],
)
def test_values_that_no_column_can_hold_are_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        literal(value)


def test_comparisons_turn_round_with_their_sides() -> None:
    assert [op.flipped for op in CompareOp] == [
        *(CompareOp.EQ, CompareOp.NE, CompareOp.GT, CompareOp.GE),
        *(CompareOp.LT, CompareOp.LE, CompareOp.SAME),
    ]


@pytest.mark.parametrize(
    ("precision", "nanos"), [(0, 10**9), (1, 10**6), (3, 10**6), (6, 1000), (7, 1), (9, 1)]
)
def test_timestamps_count_in_the_unit_of_their_precision(precision: int, nanos: int) -> None:
    assert unit_nanos(AtomicType(root=TypeRoot.TIMESTAMP, precision=precision)) == nanos


def test_a_literal_is_no_column() -> None:
    assert Literal(value=1, type=None) != Column(path=("a",))
