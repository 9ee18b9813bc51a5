"""Merges of keys and sequence fields of all types choose the records that a plain model chooses."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.errors import FormatError
from paimon_explore.merge import sort_merge
from paimon_explore.merge.keys import key_index, normalized_keys
from paimon_explore.merge.merge_spec import (
    SEQUENCE_NUMBER,
    VALUE_KIND,
    MergeSpec,
    merge_spec,
)
from paimon_explore.merge.section_merge import Task, merge_whole
from paimon_explore.merge.sort_merge import merge_runs, select_rows
from paimon_explore.metadata.schema.table_schema import TableSchema
from support.merge_model import Record, RefusedError, model_merge
from support.merging import KINDS, column_of, cut, rows_of, schema_of
from support.ordered_values import IN_ORDER, type_of

Options = Mapping[str, str]
ENGINES: Sequence[Options] = [
    {},
    {},
    {"ignore-delete": "true"},
    {"merge-engine": "first-row"},
    {"merge-engine": "first-row", "ignore-delete": "true"},
]
ORDERS: Sequence[Options] = [
    {},
    {"sequence.field": "s0"},
    {"sequence.field": "s0,s1"},
    {"sequence.field": "s1,s0", "sequence.field.sort-order": "descending"},
]


@dataclass(frozen=True)
class Case:
    """A table, and the records of each of its runs.

    Attributes:
        kinds: lists of `IN_ORDER` by column: keys `k0`, ..., and sequence fields `s0` and `s1`.
        options: of the table.
        runs: of each sorted run its records, whose values are places in these lists; `v` is
            different in all of them.
        by_run_order: later runs are newer, and sequence numbers are not known.
    """

    kinds: Mapping[str, str]
    options: Options
    runs: Sequence[Sequence[Record]]
    by_run_order: bool

    @property
    def keys(self) -> list[str]:
        return [name for name in self.kinds if name[0] == "k"]

    @property
    def schema(self) -> TableSchema:
        types = {name: type_of(kind) for name, kind in self.kinds.items()}
        columns = {n: f"{kind} NOT NULL" if n[0] == "k" else kind for n, kind in types.items()}
        return schema_of({**columns, "v": "INT"}, self.options, keys=self.keys)

    def batch(self, run: Sequence[Record], *, kinds: bool) -> pa.RecordBatch:
        columns = {
            name: column_of([IN_ORDER[kind][_place(one, name)] for one in run], type_of(kind))
            for name, kind in self.kinds.items()
        }
        columns["v"] = column_of([one.values["v"] for one in run], "INT")
        if not self.by_run_order:
            columns[SEQUENCE_NUMBER] = column_of([one.number for one in run], "BIGINT")
        if kinds:
            columns[VALUE_KIND] = column_of([KINDS.index(one.kind) for one in run], "TINYINT")
        return pa.RecordBatch.from_pydict(columns)

    def batches(self, rows: int) -> list[Iterator[pa.RecordBatch]]:
        """The runs in batches; one without retracts has no kinds."""
        found = []
        for run in self.runs:
            kinds = any(one.is_retract for one in run)
            found.append(cut(self.batch(run, kinds=kinds), rows))
        return found

    def expected(self) -> list[object]:
        """`v` of the rows in key order."""
        by_key: dict[tuple[int, ...], list[Record]] = {}
        for run in self.runs:
            for one in run:
                by_key.setdefault(tuple(_place(one, name) for name in self.keys), []).append(one)
        merged = [model_merge(by_key[key], merge_spec(self.schema)) for key in sorted(by_key)]
        return [one.values["v"] for one in merged if one is not None and not one.is_retract]


def _place(record: Record, name: str) -> int:
    place = record.values[name]
    return place if isinstance(place, int) else 0


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Tables with keys of one to three columns; a case has records of few keys or of many."""
    lists = st.sampled_from(sorted(IN_ORDER))
    kinds = {f"k{at}": draw(lists) for at in range(draw(st.integers(1, 3)))}
    places = [st.integers(1, len(IN_ORDER[kind]) - 1) for kind in kinds.values()]
    keys = st.lists(st.tuples(*places), min_size=1, max_size=40, unique=True).map(sorted)
    runs = draw(st.lists(keys, min_size=1, max_size=5))
    by_run_order = draw(st.booleans())
    numbers = list(range(sum(map(len, runs))))
    if not by_run_order and draw(st.booleans()):
        numbers = draw(st.permutations(numbers))
    fields = {"s0": draw(lists), "s1": draw(lists)}
    sorts = {
        name: st.none()
        | st.integers(1, min(len(IN_ORDER[kind]) - 1, draw(st.sampled_from([1, 9]))))
        for name, kind in fields.items()
    }
    chances = draw(st.sampled_from([KINDS, ("+I",)]))
    record = st.tuples(st.sampled_from(chances), *sorts.values())
    found, count = [], 0
    for run in runs:
        facts = draw(st.lists(record, min_size=len(run), max_size=len(run)))
        records = []
        for key, (kind, *values) in zip(run, facts, strict=True):
            row = dict(zip([*kinds, *fields], [*key, *values], strict=True))
            records.append(Record(kind, numbers[count], {**row, "v": count}))
            count += 1
        found.append(records)
    options = {**draw(st.sampled_from(ENGINES)), **draw(st.sampled_from(ORDERS))}
    return Case({**kinds, **fields}, options, found, by_run_order)


@contextmanager
def small_pieces(size: int) -> Iterator[None]:
    """Sections and chunks end after few rows, and few keys are in a narrow range."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sort_merge, "_ENOUGH_ROWS", size)
        patch.setattr(key_index, "_CHUNK_ROWS", size)
        patch.setattr(normalized_keys, "_CHUNK_ROWS", size)
        patch.setattr(key_index, "_CHUNK_FLAGS", size)
        patch.setattr(key_index, "_DENSE", size)
        yield


PIECES = st.sampled_from([1, 2, 5, 1 << 16])


@given(case=cases(), rows=st.sampled_from([1, 3, 100]), size=PIECES)
def test_merges_choose_the_records_of_a_plain_model(case: Case, rows: int, size: int) -> None:
    spec = merge_spec(case.schema)
    try:
        expected = case.expected()
    except RefusedError:
        with pytest.raises(FormatError, match="first-row"):
            list(merge_runs(case.batches(rows), spec, by_run_order=case.by_run_order))
        return
    with small_pieces(size):
        for key_order in (True, False):
            found = merge_runs(
                case.batches(rows), spec, by_run_order=case.by_run_order, key_order=key_order
            )
            chosen = [row[-1] for row in rows_of(found)]
            assert (chosen if key_order else sorted(chosen, key=str)) == (
                expected if key_order else sorted(expected, key=str)
            )
        assert sorted(selected(case, spec, rows), key=str) == sorted(expected, key=str)
        assert sorted(merged_at_once(case, spec), key=str) == sorted(expected, key=str)


def selected(case: Case, spec: MergeSpec, rows: int) -> Iterator[object]:
    for part in select_rows(case.batches(rows), spec, by_run_order=case.by_run_order):
        mask = np.ones(part.batch.num_rows, np.bool_) if part.mask is None else part.mask
        yield from part.batch.column("v").filter(pa.array(mask)).to_pylist()


def merged_at_once(case: Case, spec: MergeSpec) -> Iterator[object]:
    """The runs as the parts of one batch, as of many small files."""
    kinds = any(one.is_retract for run in case.runs for one in run)
    whole = case.batch([one for run in case.runs for one in run], kinds=kinds)
    task = Task(spec=spec, functions={}, by_run_order=case.by_run_order, key_order=False)
    sizes = [len(run) for run in case.runs]
    return (row[-1] for row in rows_of(merge_whole(whole, sizes, task)))
