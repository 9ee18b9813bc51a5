"""Sorted runs merged piece by piece."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.merge import sort_merge
from paimon_explore.merge.merge_spec import merge_spec
from paimon_explore.merge.sort_merge import merge_runs
from support.merging import Row, batch_of, cut, rows_of, schema_of

SCHEMA = schema_of({"k": "INT NOT NULL", "v": "STRING"})
SPEC = merge_spec(SCHEMA)


def run_of(keys: range | list[int], value: str, *, first: int = 0) -> pa.RecordBatch:
    rows: list[Row] = [("+I", key, value) for key in keys]
    return batch_of(SCHEMA, rows, first=first)


class Counted:
    """A run that tells how many batches were asked for."""

    def __init__(self, batch: pa.RecordBatch, rows: int) -> None:
        self.taken = 0
        self._batches = cut(batch, rows)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._batches)
        self.taken += 1
        return batch


def test_runs_of_any_batch_sizes_give_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [(key, "new" if key % 3 == 0 else "old") for key in range(100)]
    for enough in (1, 7, 1000):
        monkeypatch.setattr(sort_merge, "_ENOUGH_ROWS", enough)
        for rows in (1, 3, 50, 200):
            runs = [
                cut(run_of(range(100), "old"), rows),
                cut(run_of(range(0, 100, 3), "new", first=100), 4),
            ]
            assert rows_of(merge_runs(runs, SPEC)) == expected


def test_pieces_of_many_bytes_are_cut_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort_merge, "_SECTION_BYTES", 1)
    runs = [run_of(range(9), "old"), run_of(range(0, 9, 3), "new", first=9)]
    batches = list(merge_runs([iter([run]) for run in runs], SPEC))
    assert [batch.num_rows for batch in batches] == [1] * 9
    assert rows_of(iter(batches)) == [(key, "old" if key % 3 else "new") for key in range(9)]


def test_batches_are_loaded_as_the_merge_gets_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort_merge, "_ENOUGH_ROWS", 10)
    run = Counted(run_of(range(1000), "a"), 10)
    other = Counted(run_of(range(0, 1000, 10), "b", first=1000), 10)
    found = merge_runs([run, other], SPEC)
    assert next(found).num_rows > 0
    assert (run.taken, other.taken) == (1, 1)
    for _ in range(4):
        next(found)
    assert (run.taken, other.taken) == (5, 2)


def test_the_rest_of_a_run_that_is_left_alone_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort_merge, "_ENOUGH_ROWS", 1)
    runs = [cut(run_of(range(6), "a"), 2), cut(run_of([0], "b", first=9), 1)]
    sizes = [batch.num_rows for batch in merge_runs(runs, SPEC)]
    assert sizes == [1, 1, 2, 2]


def test_rows_of_large_batches_are_selected() -> None:
    runs = [run_of(range(70_000), "a"), run_of([5], "b", first=70_000)]
    found = merge_runs([iter([run]) for run in runs], SPEC, key_order=False)
    assert sorted(rows_of(found)) == [(key, "b" if key == 5 else "a") for key in range(70_000)]


def test_no_runs_and_empty_runs_give_no_batches() -> None:
    assert list(merge_runs([], SPEC)) == []
    empty = run_of([], "a")
    assert list(merge_runs([iter([empty]), iter([empty, empty])], SPEC)) == []
    assert list(merge_runs([iter([empty])], SPEC)) == []


def test_run_order_decides_when_the_caller_says_so() -> None:
    runs = [
        run.drop_columns(["_SEQUENCE_NUMBER"]) for run in (run_of([1], "x"), run_of([1, 2], "y"))
    ]
    found = merge_runs([iter([run]) for run in runs], SPEC, by_run_order=True)
    assert rows_of(found) == [(1, "y"), (2, "y")]


def test_sequence_numbers_decide_otherwise_whatever_the_order_of_runs() -> None:
    runs = [run_of([1], "newer", first=5), run_of([1, 2], "older")]
    for key_order in (True, False):
        found = merge_runs([iter([run]) for run in runs], SPEC, key_order=key_order)
        assert sorted(rows_of(found)) == [(1, "newer"), (2, "older")]


@pytest.mark.parametrize("enough", [1, 1000])
def test_which_of_two_tied_records_is_newer_alternates_as_in_the_loser_tree_of_java(
    enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sort_merge, "_ENOUGH_ROWS", enough)
    for key_order in (True, False):
        runs = [cut(run_of(range(4), name), 1) for name in "ab"]
        found = merge_runs(runs, SPEC, may_tie=True, key_order=key_order)
        assert sorted(rows_of(found)) == [(0, "a"), (1, "b"), (2, "a"), (3, "b")]


def test_runs_without_kinds_hold_no_retracts() -> None:
    plain = run_of([1, 2], "a").drop_columns(["_VALUE_KIND"])
    deleting = batch_of(SCHEMA, [("-D", 2, "a")], first=5)
    assert rows_of(merge_runs([iter([plain]), iter([deleting])], SPEC)) == [(1, "a")]


def test_retracts_of_a_single_run_are_dropped_or_kept_as_they_are() -> None:
    run = batch_of(SCHEMA, [("-U", 1, "a"), ("+U", 2, "b"), ("-D", 3, "c")])
    assert rows_of(merge_runs([iter([run])], SPEC)) == [(2, "b")]
    kept = merge_runs([iter([run])], SPEC, keep_retracts=True)
    assert rows_of(kept) == [(1, "a", 0, 1), (2, "b", 1, 2), (3, "c", 2, 3)]


def test_only_wanted_columns_come_out_in_their_order() -> None:
    spec = merge_spec(SCHEMA, ["v"])
    found = list(merge_runs([iter([run_of([1], "a")]), iter([run_of([1], "b", first=1)])], spec))
    assert [batch.schema.names for batch in found] == [["v"]]
    assert rows_of(iter(found)) == [("b",)]


@pytest.mark.parametrize("key_order", [True, False])
def test_no_columns_keep_the_number_of_rows(*, key_order: bool) -> None:
    spec = merge_spec(SCHEMA, [])
    runs = [iter([run_of([1, 2], "a")]), iter([run_of([2, 3], "b", first=2)])]
    batches = list(merge_runs(runs, spec, key_order=key_order))
    assert sum(batch.num_rows for batch in batches) == 3
    assert {batch.num_columns for batch in batches} == {0}


@pytest.mark.parametrize("keys", [[1, 5, 3, 4], [1, 2, 2, 4]])
def test_a_run_that_is_not_sorted_is_refused(
    keys: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sort_merge, "_ENOUGH_ROWS", 1)
    runs = [cut(run_of(keys, "a"), 2), cut(run_of([9], "b", first=4), 1)]
    with pytest.raises(FormatError, match=f"not in key order: key {keys[2]} follows"):
        list(merge_runs(runs, SPEC))


def test_kept_retracts_need_sequence_numbers() -> None:
    with pytest.raises(InvalidInputError, match="cannot be combined"):
        merge_runs([], SPEC, keep_retracts=True, by_run_order=True)


def test_keys_far_apart_are_merged_like_dense_ones() -> None:
    schema = schema_of({"k": "BIGINT NOT NULL", "v": "STRING"})
    spec = merge_spec(schema)
    for step in (1, 2**61):
        keys = [key * step for key in (-1, 0, 1)]
        old = batch_of(schema, [("+I", key, "old") for key in keys])
        new = batch_of(schema, [("+I", keys[1], "new")], first=3)
        for key_order in (True, False):
            found = merge_runs([iter([old]), iter([new])], spec, key_order=key_order)
            assert sorted(rows_of(found)) == [(keys[0], "old"), (keys[1], "new"), (keys[2], "old")]
