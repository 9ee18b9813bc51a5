"""A predicate in two parts."""

import pytest

from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where


@pytest.mark.parametrize(
    ("where", "inside", "rest"),
    [
        ("p = 1", "p = 1", "TRUE"),
        ("a = 1", "TRUE", "a = 1"),
        ("p = 1 AND a = 2 AND q = 3", "p = 1 AND q = 3", "a = 2"),
        ("p = q", "p = q", "TRUE"),
        ("p = a", "TRUE", "p = a"),
        ("FALSE", "FALSE", "TRUE"),
        ("TRUE", "TRUE", "TRUE"),
        ("p = 1 OR a = 2", "TRUE", "p = 1 OR a = 2"),
        (
            "p = 1 AND a = 2 OR p = 3 AND a = 4",
            "p = 1 OR p = 3",
            "p = 1 AND a = 2 OR p = 3 AND a = 4",
        ),
        ("NOT (p = 1 OR a = 2)", "NOT (p = 1)", "NOT (p = 1 OR a = 2)"),
        (
            "NOT ((p = 1 OR a = 2) AND (q = 3 OR a = 4))",
            "NOT (p = 1) OR NOT (q = 3)",
            "NOT ((p = 1 OR a = 2) AND (q = 3 OR a = 4))",
        ),
        ("NOT NOT (p = 1 AND a = 2)", "p = 1", "NOT (NOT (p = 1 AND a = 2))"),
        ("(p = 1 AND a = 2) IS TRUE", "p = 1", "(p = 1 AND a = 2) IS TRUE"),
        ("(p = 1 AND a = 2) IS NOT TRUE", "TRUE", "(p = 1 AND a = 2) IS NOT TRUE"),
    ],
)
def test_the_part_on_some_columns_is_told_apart(where: str, inside: str, rest: str) -> None:
    parts = split(parse_where(where), ["p", "q"])
    assert (to_sql(parts.pushed), to_sql(parts.rest)) == (inside, rest)
