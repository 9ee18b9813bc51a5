"""Buckets by the equalities on the bucket key."""

import pytest

from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.sql_parser import parse_where
from paimon_explore.scan.pruning.bucket_pruning import allowed_buckets, lists_values
from support.predicates import row_type_of

ROW_TYPE = row_type_of(
    {"k": "INT", "c": "CHAR(2)", "s": "STRING", "f": "FLOAT", "v": "INT", "r": "ROW<k INT>"}
)


def buckets(where: str, *keys: str, total: int = 8, function: str = "mod") -> list[int] | None:
    fields = [field for field in ROW_TYPE if field.name in keys]
    found = allowed_buckets(bind(parse_where(where), ROW_TYPE), fields, total, function)
    return None if found is None else sorted(found)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("k = 11", [3]),
        ("k <=> 11", [3]),
        ("k = 11.0 AND v > 5", [3]),
        ("k IN (1, 2, -1, NULL)", [1, 2, 7]),
        ("k = 1 OR k = 2 AND v = 3", [1, 2]),
        ("(k = 1) IS TRUE", [1]),
        ("k IS NULL", [0]),
        ("k = 1 AND k = 2", []),
        ("k IN (1, 2) AND k IN (2, 3)", [2]),
        ("FALSE", []),
        ("k = 1 AND NULL", []),
        ("k = 1 OR v = 1", None),
        ("k > 1", None),
        ("NOT k = 1", None),
        ("r.k = 1", None),
        ("k = v", None),
        ("TRUE", None),
    ],
)
def test_equalities_on_the_key_choose_buckets(where: str, expected: list[int] | None) -> None:
    assert buckets(where, "k") == expected


def test_hive_has_its_own_function() -> None:
    assert buckets("k IN (11, -1)", "k", function="hive") == [3, 7]


def test_all_columns_of_the_key_must_be_given() -> None:
    assert buckets("k = 1", "k", "s", function="default") is None
    one = buckets("k = 1 AND s = 'a'", "k", "s", function="default")
    two = buckets("k = 1 AND s IN ('a', 'b')", "k", "s", function="default")
    assert one is not None
    assert two is not None
    assert len(one) == 1
    assert set(one) <= set(two)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("k = 1 AND f = 2.5", True),
        ("k IN (1, 2) AND f IN (0.0, 1.0) AND v > 5", True),
        ("k = 1 AND f = 2.5 OR k = 2 AND f IS NULL", True),
        ("k = 1 AND f = 2.5 OR k = 2", False),
        ("k = 1", False),
        ("k = 1 OR f = 2.5", False),
        ("k = 1 AND f > 0", False),
        ("TRUE", False),
    ],
)
def test_a_predicate_lists_the_values_of_columns(where: str, *, expected: bool) -> None:
    assert lists_values(bind(parse_where(where), ROW_TYPE), ("k", "f")) is expected
    assert not lists_values(bind(parse_where("r.k = 1"), ROW_TYPE), ("r",))


def test_alternatives_keep_their_columns_together() -> None:
    both = buckets("k = 1 AND s = 'a' OR k = 2 AND s = 'b'", "k", "s", function="default")
    first = buckets("k = 1 AND s = 'a'", "k", "s", function="default")
    second = buckets("k = 2 AND s = 'b'", "k", "s", function="default")
    assert first is not None
    assert second is not None
    assert both == sorted({*first, *second})


def test_too_many_keys_leave_all_buckets() -> None:
    most = ", ".join(str(number) for number in range(1000))
    for where in (f"k IN ({most})", f"k IN ({most}) OR k = 9", f"v > 5 AND k IN ({most})"):
        assert buckets(where, "k", total=900) == [*range(900)]
    many = f"{most}, 1000"
    assert buckets(f"k IN ({many})", "k") is None
    assert buckets(f"k IN ({many}) AND k = 9", "k") == [1]
    assert buckets(f"k IN ({many}) OR k = 9", "k") is None
    some = ", ".join(str(number) for number in range(32))
    assert buckets(f"k IN ({some}) AND v IN ({some})", "k", "v", function="default") is None


def test_char_keys_may_be_in_the_bucket_of_any_number_of_spaces() -> None:
    every = buckets("c = 'a'", "c", total=1000, function="default")
    texts = [buckets(f"s = '{text}'", "s", total=1000, function="default") for text in ("a", "a ")]
    assert every == sorted(bucket for found in texts for bucket in found or ())


def test_float_keys_leave_all_buckets_for_zeros_differ_in_their_bytes() -> None:
    assert buckets("f = 1", "f", function="default") is None


def test_an_unknown_function_leaves_all_buckets() -> None:
    assert buckets("k = 1", "k", function="other") is None
    assert buckets("s = 'a'", "s", function="mod") is None
