"""Merges: clauses, sides, conditions, and what is refused."""

from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.merge_builder import Merge
from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.int64(), p=pa.string())
FIRST = [{"k": k, "v": k * 10, "p": "a"} for k in (1, 2, 3)]
SECOND = [{"k": None, "v": 0, "p": "b"}]


def table_of() -> Table:
    return append_table(COLUMNS, FIRST, SECOND)


def values(table: Table) -> dict[object, object]:
    return {found["k"]: found["v"] for found in rows_of(table.to_arrow())}


def test_the_first_clause_that_holds_counts() -> None:
    table = table_of()
    source = [{"k": 1, "v": 5}, {"k": 2, "v": -1}, {"k": 3, "v": 0}, {"k": 9, "v": 9}]
    table.merge(source, on="k").when_matched_delete("source.v < 0").when_matched_update(
        {"v": "target.v + source.v"}, "source.v > 0"
    ).when_not_matched_insert().execute()
    assert values(table) == {1: 15, 3: 30, 9: 9, None: 0}


def test_rows_without_a_source_row_have_clauses_of_their_own() -> None:
    table = table_of()
    merge = table.merge([{"k": 1}], on="k")
    merge = merge.when_not_matched_by_source_update({"v": "v + 1"}, "k = 2")
    merge.when_not_matched_by_source_delete("k IS NOT NULL").execute()
    assert values(table) == {1: 10, 2: 21, None: 0}


def test_tables_of_several_batches_are_merged_with_larger_sources() -> None:
    count = 150_000
    table = keyed_table(COLUMNS, primary_key=["k"])
    table.upsert(pa.table({"k": pa.array(range(count), pa.int32()), "v": [1] * count}))
    new = pa.array(range(0, 6 * count, 2), pa.int32())
    source = pa.table({"k": new, "v": [2] * len(new)})
    table.merge(source, on="k").when_matched_update_all().when_not_matched_insert().execute()
    found = table.to_arrow().group_by("v").aggregate([("k", "count"), ("k", "max")]).to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [
        (1, count // 2, count - 1),
        (2, 3 * count, 6 * count - 2),
    ]


def test_null_matches_null_only_when_asked_for() -> None:
    table = table_of()
    source = [{"k": None, "v": 7}]
    assert table.merge(source, on="k").when_matched_update({"v": "source.v"}).execute() is None
    same = table.merge(source, on="target.k <=> source.k")
    same.when_matched_update({"v": "s.v"}).execute()
    assert values(table)[None] == 7


@pytest.mark.parametrize(
    "on",
    [
        "k",
        ["k"],
        {"k": "k"},
        "target.k = source.k",
        "t.k = s.k AND t.p = 'a'",
        "s.k + 0 = t.k",
        pe.col("target", "k") == pe.col("source", "k"),
        pe.col("target.k") == pe.col("source.k"),
        "target.k >= source.k AND target.k <= source.k",
    ],
)
def test_a_condition_has_many_forms(on: str) -> None:
    table = table_of()
    table.merge([{"k": 2, "v": 99}], on=on).when_matched_update({"v": "source.v"}).execute()
    assert values(table) == {1: 10, 2: 99, 3: 30, None: 0}


def test_sides_have_other_names_when_asked_for() -> None:
    table = table_of()
    merge = table.merge(
        [{"key": 2, "n": 1}], on="old.k = new.key", source_alias="new", target_alias="old"
    )
    merge.when_matched_update({"v": "old.v + n"}).execute()
    assert values(table)[2] == 21


@pytest.mark.parametrize(
    "source",
    [
        pa.table({"k": pa.array([2], pa.int64()), "v": pa.array([5], pa.int8())}),
        pa.table({"k": pa.array([2]), "v": pa.array([5])}).to_reader(),
        pd.DataFrame({"k": [2], "v": [5]}, index=[77]),
        append_table(columns(k=pa.int32(), v=pa.int32()), [{"k": 2, "v": 5}]),
    ],
)
def test_a_source_may_be_anything_with_rows(source: pa.Table) -> None:
    table = table_of()
    table.merge(source, on="k").when_matched_update_all().execute()
    assert values(table) == {1: 10, 2: 5, 3: 30, None: 0}


def test_inserted_rows_get_default_values_and_nulls() -> None:
    table = table_of()
    merge = table.merge([{"k": 8, "v": 1}], on="k")
    merge.when_not_matched_insert({"k": "source.k", "v": 3}).execute()
    assert rows_of(table.scan(where="k = 8").to_arrow()) == [{"k": 8, "v": 3, "p": None}]


def test_a_source_without_rows_changes_what_it_does_not_match() -> None:
    table = table_of()
    table.merge([], on="k").when_not_matched_by_source_delete("k = 1").execute()
    assert values(table) == {2: 20, 3: 30, None: 0}


@pytest.mark.parametrize("source", [[], iter(()), pd.DataFrame(), {}])
def test_columns_of_a_source_without_rows_are_not_known(source: object) -> None:
    table = table_of()
    merge = table.merge(source, on={"k": "key"})  # type: ignore[arg-type]  # rows of several kinds
    merge = merge.when_matched_update({"v": "source.other + v"}, "source.key > 0")
    assert merge.when_not_matched_insert().execute() is None
    table.merge([], on="x = y").when_not_matched_by_source_update({"v": "v + 1"}).execute()
    assert values(table) == {1: 11, 2: 21, 3: 31, None: 1}


def test_two_source_rows_may_delete_a_row_but_not_update_it() -> None:
    table = table_of()
    source = [{"k": 1, "v": 5}, {"k": 1, "v": 6}]
    with pytest.raises(InvalidInputError, match="Rows 0 and 1 of the source match"):
        table.merge(source, on="k").when_matched_update({"v": "source.v"}).execute()
    table.merge(source, on="k").when_matched_update({"v": "source.v"}, "source.v > 5").execute()
    assert values(table)[1] == 6
    table.merge(source, on="k").when_matched_delete().execute()
    assert 1 not in values(table)


def test_columns_of_the_primary_key_stay_as_they_match() -> None:
    table = keyed_table(COLUMNS, FIRST, primary_key=["k"])
    source = [{"k": 1, "v": 5, "p": "x"}, {"k": 9, "v": 9, "p": "y"}]
    table.merge(source, on="k").when_matched_update_all().when_not_matched_insert_all().execute()
    assert values(table) == {1: 5, 2: 20, 3: 30, 9: 9}
    table.merge(source, on="k").when_matched_update({"k": "source.k", "v": "0"}).execute()
    assert values(table)[1] == 0
    with pytest.raises(InvalidInputError, match="'k' belongs to the primary key"):
        table.merge(source, on="p").when_matched_update({"k": "source.k"}).execute()


@pytest.mark.parametrize(
    ("describe", "message"),
    [
        (lambda m: m, "has no clause"),
        (lambda m: m.when_matched_update({"v": "k"}), "Column 'k' is ambiguous"),
        (lambda m: m.when_matched_update({"v": "x"}), "There is no column 'x'"),
        (lambda m: m.when_matched_update({"x": "1"}), "The table has no column 'x'"),
        (lambda m: m.when_matched_update({"v": "source.x"}), "The source has no column 'x'"),
        (lambda m: m.when_not_matched_insert({"k": "target.k"}), "no matching target row"),
        (lambda m: m.when_not_matched_by_source_delete("source.k = 1"), "no matching source row"),
        (lambda m: m.when_matched_delete("source.k"), "not a condition"),
        (
            lambda m: m.when_matched_update({"k": "source.k"}),
            "the merge condition requires each updated column to be equal to its new value",
        ),
    ],
)
def test_what_cannot_be_understood_is_named(
    describe: Callable[[Merge], Merge], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        describe(table_of().merge([{"k": 1, "v": 1}], on="k")).execute()


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("target.k = source.x", "The source has no column 'x'"),
        ("p", "The source has no column 'p'"),
        ([], "on must be a column name"),
        ("target.k = source.v AND", "cannot be parsed"),
        ("target.p = source.k", "these types cannot be compared"),
    ],
)
def test_a_condition_that_cannot_be_understood_is_named(on: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table_of().merge([{"k": 1, "v": 1}], on=on).when_matched_delete().execute()


def test_a_view_of_the_past_is_not_merged_into() -> None:
    with pytest.raises(InvalidInputError, match="read-only"):
        table_of().at(snapshot=1).merge([], on="k")


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_zeros_and_nans_match_as_equal_numbers_do(kind: pa.DataType) -> None:
    table = append_table(
        columns(f=kind, v=pa.int32()), [{"f": f, "v": 0} for f in (-0.0, float("nan"), 1.5)]
    )
    source = pa.table({"f": pa.array([0.0, float("nan"), 2.5])})
    table.merge(source, on="f").when_matched_update({"v": "1"}).execute()
    assert [found["v"] for found in table.to_arrow().to_pylist()] == [1, 1, 0]


def test_several_columns_match_together() -> None:
    table = append_table(
        columns(a=pa.int32(), b=pa.string(), v=pa.int32()),
        [{"a": a, "b": b, "v": 0} for a in (1, 2, None) for b in ("x", None)],
    )
    source: list[dict[str, object]] = [
        {"a": 1, "b": "x"},
        {"a": 2, "b": None},
        {"a": None, "b": "x"},
    ]
    table.merge(source, on=["a", "b"]).when_matched_update({"v": "v + 1"}).execute()
    same = table.merge(source, on="t.a <=> s.a AND t.b <=> s.b")
    same.when_matched_update({"v": "v + 10"}).execute()
    found = {(row["a"], row["b"]): row["v"] for row in table.to_arrow().to_pylist()}
    assert found == {
        (1, "x"): 11,
        (1, None): 0,
        (2, "x"): 0,
        (2, None): 10,
        (None, "x"): 10,
        (None, None): 0,
    }


def test_a_source_that_no_batch_can_have_is_refused_with_a_way_out() -> None:
    text = pa.array(["x" * 2**20])
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 2049, pa.int32()), text)
    source = pa.table({"k": pa.array(range(2049), pa.int32()), "p": texts})

    with pytest.raises(InvalidInputError, match=r"'p' .* more than 2 GiB .* Merge parts"):
        table_of().merge(source, on="k").when_matched_update_all().execute()
