"""Records of one key with equal sequence numbers are merged in the order of a plain loser tree."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.merge import sort_merge
from paimon_explore.merge.merge_spec import SEQUENCE_NUMBER, VALUE_KIND, MergeSpec, merge_spec
from paimon_explore.merge.sort_merge import merge_runs, select_rows
from support.loser_tree import Record, returned
from support.merging import cut, rows_of, schema_of

COLUMNS: dict[str, object] = {"k": "STRING NOT NULL", "name": "STRING"}
OPTIONS = {
    "deduplicate": {},
    "first-row": {"merge-engine": "first-row"},
    "partial-update": {"merge-engine": "partial-update"},
    "listagg": {"merge-engine": "aggregation", "fields.name.aggregate-function": "listagg"},
}


@st.composite
def tied_runs(draw: st.DrawFn) -> Sequence[Sequence[Record]]:
    """Sorted runs whose records often have equal keys and sequence numbers."""
    keys = st.lists(st.integers(0, 30), unique=True, max_size=31).map(sorted)
    names = iter(range(10_000))
    return [
        [(key, draw(st.integers(0, 2)), next(names)) for key in draw(keys)]
        for _ in range(draw(st.integers(2, 7)))
    ]


def batch_of(run: Sequence[Record]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "k": pa.array([f"{key:03d}" for key, _, _ in run], pa.string()),
            "name": pa.array([str(name) for _, _, name in run], pa.string()),
            SEQUENCE_NUMBER: pa.array([number for _, number, _ in run], pa.int64()),
            VALUE_KIND: pa.array([0] * len(run), pa.int8()),
        }
    )


def batches(runs: Sequence[Sequence[Record]], rows: int) -> list[Iterator[pa.RecordBatch]]:
    return [cut(batch_of(run), rows) for run in runs]


def expected(runs: Sequence[Sequence[Record]], engine: str) -> list[tuple[object, ...]]:
    keys = {name: f"{key:03d}" for run in runs for key, _, name in run}
    found: list[tuple[object, ...]] = []
    for key, names in groupby(returned(runs), keys.__getitem__):
        texts = [str(name) for name in names]
        merged = {"first-row": texts[0], "listagg": ",".join(texts)}
        found.append((key, merged.get(engine, texts[-1])))
    return found


def spec_of(engine: str) -> MergeSpec:
    return merge_spec(schema_of(COLUMNS, options=OPTIONS[engine]))


@pytest.mark.parametrize("engine", OPTIONS)
@given(runs=tied_runs(), rows=st.sampled_from([1, 4, 100]))
def test_merges_in_pieces_and_at_once_take_tied_records_in_the_order_of_the_tree(
    engine: str, runs: Sequence[Sequence[Record]], rows: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sort_merge, "_ENOUGH_ROWS", rows)
        found = merge_runs(batches(runs, rows), spec_of(engine), may_tie=True)
        assert rows_of(found) == expected(runs, engine)


@pytest.mark.parametrize("engine", ["deduplicate", "first-row"])
@given(runs=tied_runs(), rows=st.sampled_from([1, 4, 100]))
def test_late_materialization_selects_the_same_tied_records(
    engine: str, runs: Sequence[Sequence[Record]], rows: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sort_merge, "_ENOUGH_ROWS", rows)
        found: list[tuple[object, ...]] = []
        for part in select_rows(batches(runs, rows), spec_of(engine), may_tie=True):
            batch = part.batch if part.mask is None else part.batch.filter(pa.array(part.mask))
            found += zip(batch["k"].to_pylist(), batch["name"].to_pylist(), strict=True)
        assert sorted(found) == expected(runs, engine)
