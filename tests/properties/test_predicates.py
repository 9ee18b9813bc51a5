"""Predicates against a plain reading of SQL, over random tables and trees."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where
from support.predicates import ROW_TYPE, Row, batch_of, predicates, rows, truth


@given(predicates(), rows)
def test_a_bound_predicate_is_what_sql_says_on_every_row(
    expr: Expression, found: list[Row]
) -> None:
    bound = bind(expr, ROW_TYPE)
    assert evaluate(bound, batch_of(found), ROW_TYPE).to_pylist() == [
        truth(expr, row) for row in found
    ]


@given(predicates())
def test_the_sql_text_of_a_tree_reads_back_as_the_tree(expr: Expression) -> None:
    assert parse_where(to_sql(expr)) == expr


@given(predicates())
def test_the_sql_text_of_a_bound_tree_binds_to_itself(expr: Expression) -> None:
    bound = bind(expr, ROW_TYPE)
    assert bind(parse_where(to_sql(bound)), ROW_TYPE) == bound


@given(predicates())
def test_a_pickled_tree_is_the_same_tree(expr: Expression) -> None:
    copy = pickle.loads(pickle.dumps(expr))  # noqa: S301 - our own bytes
    assert copy == expr
    assert hash(copy) == hash(expr)


@given(predicates(), rows, st.sets(st.sampled_from(["i", "s", "dt", "flag"])))
def test_the_two_parts_of_a_split_predicate_say_what_the_whole_says(
    expr: Expression, found: list[Row], names: set[str]
) -> None:
    parts = split(expr, names)
    assert names_of(parts.pushed) <= names
    for row in found:
        whole = truth(expr, row) is True
        assert whole == (truth(parts.pushed, row) is True and truth(parts.rest, row) is True)
