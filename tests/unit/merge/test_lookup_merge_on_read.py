"""Reads of lookup tables: level 0 holds new records, the lowest level above it what is merged."""

import pyarrow as pa
import pytest

from paimon_explore.merge import sort_merge
from paimon_explore.merge.lookup_merge_on_read import LEVEL, merge_complete_runs
from paimon_explore.merge.merge_spec import merge_spec
from support.merging import Row, batch_of, cut, rows_of, schema_of

SCHEMA = schema_of(
    {"k": "INT NOT NULL", "v": "STRING"},
    {"merge-engine": "aggregation", "fields.v.aggregate-function": "listagg"},
)


def read(*runs: tuple[int, list[int], str], first: int | None, may_tie: bool) -> list[Row]:
    """The merged rows of runs of (level, keys, value), each in batches of one row.

    The sequence numbers begin at `first` in each run, or descend from run to run if it is None.
    """
    tagged = []
    for at, (level, keys, value) in enumerate(runs):
        rows: list[Row] = [("+I", key, value) for key in keys]
        batch = batch_of(SCHEMA, rows, first=100 - 10 * at if first is None else first)
        levels = pa.array([level] * len(keys), pa.int64())
        tagged.append(cut(batch.append_column(LEVEL, levels), 1))
    return rows_of(merge_complete_runs(tagged, merge_spec(SCHEMA), may_tie=may_tie))


@pytest.mark.parametrize("enough", [1, 1000])
@pytest.mark.parametrize("may_tie", [False, True])
def test_levels_below_the_lowest_are_part_of_it(
    enough: int, *, may_tie: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sort_merge, "_ENOUGH_ROWS", enough)
    runs = [(0, [1, 4], "new"), (2, [1, 2], "middle"), (5, [1, 2, 3], "old")]
    assert read(*runs, first=None, may_tie=may_tie) == [
        (1, "middle,new"),
        (2, "middle"),
        (3, "old"),
        (4, "new"),
    ]


def test_tied_records_are_merged_in_the_order_of_all_runs() -> None:
    runs = [(0, [0, 1, 2, 3], "a"), (0, [0, 1, 2, 3], "b")]
    found = read(*runs, first=0, may_tie=True)
    assert found == [(0, "b,a"), (1, "a,b"), (2, "b,a"), (3, "a,b")]
