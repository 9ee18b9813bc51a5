"""Pruning by statistics: each rule by example."""

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.inspection.explain.pruning_decisions import explain
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.sql_parser import parse_where
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsTable, may_match
from support.predicates import ROW_TYPE, row_type_of

NAN = float("nan")


def frame(
    column: str,
    lows: list[object],
    highs: list[object],
    nulls: list[int | None],
    rows: list[int | None] | None = None,
) -> StatsTable:
    field = ROW_TYPE.field(column)
    assert field is not None
    arrow = to_arrow(field.type)
    return StatsTable(
        row_count=pa.array(rows or [10] * len(lows), pa.int64()),
        columns={
            column: ColumnStats(
                minimum=pa.array(lows, arrow),
                maximum=pa.array(highs, arrow),
                null_count=pa.array(nulls, pa.int64()),
            )
        },
    )


def kept(where: str, stats: StatsTable) -> list[bool]:
    found: list[bool] = may_match(bind(parse_where(where), ROW_TYPE), stats).tolist()
    return found


ONE_TO_FIVE = frame("i", [1, 5, 8], [3, 5, 9], [0, 0, 0])


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("i = 3", [True, False, False]),
        ("i = 5", [False, True, False]),
        ("i <> 5", [True, False, True]),
        ("NOT i <> 5", [False, True, False]),
        ("i < 5", [True, False, False]),
        ("i <= 5", [True, True, False]),
        ("i > 5", [False, False, True]),
        ("i >= 5", [False, True, True]),
        ("i > 2.5", [True, True, True]),
        ("i < 1000000000000", [True, True, True]),
        ("i = 2.5", [False, False, False]),
        ("i IN (0, 2, 100)", [True, False, False]),
        ("i NOT IN (5, 6)", [True, False, True]),
        ("i BETWEEN 4 AND 7", [False, True, False]),
        ("NOT (i >= 1 AND i <= 5)", [False, False, True]),
        ("i < 0 OR i > 8", [False, False, True]),
        ("i IS NULL", [False, False, False]),
        ("i IS NOT NULL", [True, True, True]),
        ("i <=> 5", [False, True, False]),
        ("NOT i <=> 5", [True, False, True]),
        ("(i = 5) IS TRUE", [False, True, False]),
        ("(i = 5) IS NOT TRUE", [True, False, True]),
        ("NULL", [False, False, False]),
        ("i = 5 AND s = 'x'", [False, True, False]),
        ("i = 5 OR s = 'x'", [True, True, True]),
        ("CAST(i AS STRING) = '5'", [True, True, True]),
    ],
)
def test_bounds_decide_which_files_are_read(where: str, expected: list[bool]) -> None:
    assert kept(where, ONE_TO_FIVE) == expected


def test_a_long_list_is_looked_up_within_the_bounds() -> None:
    listed = ", ".join(str(number) for number in range(100, 200, 2))
    stats = frame("i", [0, 101, 150, 199, None], [99, 101, 150, 300, None], [0] * 5)
    assert kept(f"i IN ({listed})", stats) == [False, False, True, False, True]


def test_a_list_of_booleans_is_compared_with_the_bounds() -> None:
    stats = frame("flag", [False, True, False, None], [False, True, True, None], [0] * 4)
    assert kept("flag IN (TRUE)", stats) == [False, True, True, True]
    assert kept("flag NOT IN (TRUE)", stats) == [True, False, True, True]


def test_an_all_null_file_answers_only_is_null() -> None:
    stats = frame("i", [None], [None], [10])
    assert kept("i = 1", stats) == [False]
    assert kept("NOT i = 1", stats) == [False]
    assert kept("i IS NULL", stats) == [True]
    assert kept("i IS NOT NULL", stats) == [False]
    assert kept("i <=> NULL", stats) == [True]
    assert kept("NOT i <=> 1", stats) == [True]


def test_unknown_statistics_keep_the_file() -> None:
    stats = frame("i", [None, None, 1], [None, 3, None], [None, 0, None], [None, 10, 10])
    for where in ("i = 100", "i <> 1", "i IS NULL OR i = 7"):
        assert kept(where, stats) == [True, True, True]
    assert kept("i IS NULL", stats) == [True, False, True]
    assert kept("s = 'x'", stats) == [True, True, True]


def test_a_file_without_rows_is_dropped() -> None:
    assert kept("s IS NULL OR TRUE IS NULL", frame("i", [None], [None], [0], [0])) == [False]


def test_nan_may_lie_above_the_bounds_of_a_float_column() -> None:
    stats = frame("d", [1.0], [2.0], [0])
    assert kept("d > 2", stats) == [True]
    assert kept("d <> 2", stats) == [True]
    assert kept("NOT d < 5", stats) == [True]
    assert kept("d < 1", stats) == [False]
    assert kept("d <= 0.5", stats) == [False]
    assert kept("d = 3", stats) == [False]
    assert kept("d IN (0, 3)", stats) == [False]
    assert kept("d = CAST('NaN' AS DOUBLE)", stats) == [True]


def test_nan_as_a_bound_says_nothing() -> None:
    assert kept("d = 3", frame("d", [NAN, 1.0], [NAN, NAN], [0, 0])) == [True, True]


def test_the_two_zeros_are_one_value() -> None:
    assert kept("d = 0", frame("d", [-1.0, 0.0], [-0.0, 1.0], [0, 0])) == [True, True]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("s LIKE 'ab%'", [True, True, False, False]),
        ("s LIKE 'ab%z'", [True, True, False, False]),
        ("s NOT LIKE 'ab%'", [True, False, True, True]),
        ("s NOT LIKE 'ab_'", [True, True, True, True]),
        ("s LIKE '%ab'", [True, True, True, True]),
        ("s LIKE 'abc'", [True, True, False, False]),
        ("startswith(s, 'é')", [False, False, False, True]),
    ],
)
def test_a_prefix_is_compared_with_cut_bounds(where: str, expected: list[bool]) -> None:
    lows: list[object] = ["aa", "abb", "ac", "b"]
    highs: list[object] = ["b", "abc", "ad", "\U0010ffff"]
    assert kept(where, frame("s", lows, highs, [0, 0, 0, 0])) == expected
    unknown = frame("s", [*lows, None, "b"], [*highs, "a", None], [0, 0, 0, 0, 0, 0])
    assert kept(where, unknown) == [*expected, True, True]


def test_members_of_rows_have_no_statistics() -> None:
    row_type = row_type_of({"r": "ROW<i INT>", "i": "INT"})
    bound = bind(parse_where("r.i = 100"), row_type)
    assert may_match(bound, ONE_TO_FIVE).tolist() == [True, True, True]


def test_sliced_statistics_are_read_at_their_offset() -> None:
    column = ONE_TO_FIVE.columns["i"]
    sliced = StatsTable(
        row_count=ONE_TO_FIVE.row_count.slice(1),
        columns={
            "i": ColumnStats(
                minimum=column.minimum.slice(1),
                maximum=column.maximum.slice(1),
                null_count=column.null_count.slice(1),
            )
        },
    )
    assert kept("i = 5", sliced) == [True, False]


def test_an_explanation_names_the_condition_and_the_bounds_that_exclude_a_file() -> None:
    bound = bind(parse_where("i >= 1 AND (i = 7 OR i > 50)"), ROW_TYPE)
    finding = explain(bound, ONE_TO_FIVE, 0)
    assert not finding.kept
    assert [leaf.condition for leaf in finding.leaves] == ["i = 7", "i > 50"]
    assert finding.leaves[0].column == "i"
    assert finding.leaves[0].bounds == "minimum 1, maximum 3, 0 nulls in 10 rows"
    assert finding.text == (
        "contains no matching rows: i = 7 is impossible with "
        "minimum 1, maximum 3, 0 nulls in 10 rows; "
        "i > 50 is impossible with minimum 1, maximum 3, 0 nulls in 10 rows."
    )


def test_an_explanation_tells_what_would_have_excluded_a_kept_file() -> None:
    bound = bind(parse_where("NOT i > 5 AND s = 'x'"), ROW_TYPE)
    finding = explain(bound, ONE_TO_FIVE, 1)
    assert finding.kept
    assert [(leaf.condition, leaf.excludes, leaf.skipped_if) for leaf in finding.leaves] == [
        ("i <= 5", False, "its minimum were above 5"),
        ("s = 'x'", False, "its minimum were above 'x' or its maximum below"),
    ]
    assert finding.leaves[1].bounds == "no statistics"


def test_a_boolean_column_is_a_condition_with_bounds() -> None:
    stats = frame("flag", [False, True, False], [False, True, True], [0, 0, 0])
    assert kept("flag", stats) == [False, True, True]
    assert kept("NOT flag", stats) == [True, False, True]


@pytest.mark.parametrize(
    ("where", "skipped_if"),
    [
        ("i IN (2, 9)", "none of the 2 values were within its bounds"),
        ("i IS NOT NULL", "its null count were equal to its row count"),
        ("i <> 2", "its minimum and maximum were both 2"),
        ("i < 9", "its minimum were 9 or above"),
        ("NOT i IN (7)", ""),
        ("s LIKE 'a%'", "no text within its bounds began with 'a'"),
        ("s LIKE '%a'", ""),
    ],
)
def test_an_explanation_fits_the_kind_of_condition(where: str, skipped_if: str) -> None:
    finding = explain(bind(parse_where(where), ROW_TYPE), ONE_TO_FIVE, 0)
    assert finding.kept
    assert "".join(leaf.skipped_if for leaf in finding.leaves) == skipped_if
