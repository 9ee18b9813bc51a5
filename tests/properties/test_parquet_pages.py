"""Filtered reads of single pages against the same rows filtered in memory, on random files."""

import io
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet.reader import ParquetDataFile, open_parquet
from paimon_explore.encoding.parquet.thrift_compact import decode_struct, int_of, structs_of
from paimon_explore.read.deletion_vector_filter import RowFilter
from paimon_explore.read.file_predicate import FilePredicate
from paimon_explore.read.row_filter import Projection, matching_rows
from paimon_explore.read.schema_evolution import Casting, field_sources
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import Expression, names_of
from support.depth import DEEP, some
from support.predicates import ROW_TYPE, Row, batch_of, predicates, rows

Found = list[tuple[int, str]]
"""Positions and rows."""

_LEAST, _MOST = 1, 300 if DEEP else 120


@dataclass(frozen=True, kw_only=True)
class File:
    """A random Parquet file and its rows."""

    data: bytes = field(repr=False)
    batch: pa.RecordBatch = field(repr=False)
    how: str


@st.composite
def files(draw: st.DrawFn, *, indexed: bool | None = None) -> File:
    """Files of small pages: few different rows, many times, in order or not."""
    few = draw(rows.filter(bool))
    chance = random.Random(draw(st.integers(0, 2**32)))  # noqa: S311 - test data
    places = chance.choices(range(len(few)), k=draw(st.integers(_LEAST, _MOST)))
    batch = batch_of([few[i] for i in (sorted(places) if draw(st.booleans()) else places)])
    out = io.BytesIO()
    how = {
        "row_group_size": draw(st.sampled_from([17, 60, 1000])),
        "data_page_size": 1,
        "write_batch_size": draw(st.sampled_from([1, 3, 8, 50])),
        "use_dictionary": draw(st.booleans()),
        "dictionary_pagesize_limit": draw(st.sampled_from([8, 1 << 20])),
        "data_page_version": draw(st.sampled_from(["1.0", "2.0"])),
        "compression": draw(st.sampled_from(["none", "snappy", "zstd", "lz4"])),
        "write_page_index": draw(st.booleans()) if indexed is None else indexed,
        "write_statistics": draw(st.booleans()),
        "store_schema": draw(st.booleans()),
    }
    pq.write_table(pa.Table.from_batches([batch]), out, **how)  # type: ignore[arg-type]  # as documented
    return File(data=out.getvalue(), batch=batch, how=str(how))


FLAT = tuple(name for name in ROW_TYPE.names if name != "r")
"""Columns without members, of which pages can be read."""


def bound(*names: str) -> st.SearchStrategy[Expression]:
    """Predicates, of some columns alone if asked."""
    free = predicates(names) if names else predicates()
    return free.map(lambda expr: bind(expr, ROW_TYPE))


@given(
    files(),
    bound() | bound(*FLAT),
    st.none() | st.sets(st.integers(0, _MOST)),
    st.none() | st.sets(st.integers(0, _MOST)),
    st.sampled_from([1, 5, 1000]),
)
def test_rows_read_late_are_those_of_the_file_of_which_the_predicate_is_true(
    file: File,
    expr: Expression,
    deleted: set[int] | None,
    selected: set[int] | None,
    batch_rows: int,
) -> None:
    given_rows = RowFilter(
        np.array(sorted(deleted or ()), np.int64),
        None if selected is None else np.array(sorted(selected), np.int64),
    )
    expected = [
        (position, text)
        for position, text in filtered(file.batch, expr)
        if position not in (deleted or ()) and (selected is None or position in selected)
    ]
    assert paged(file.data, expr, given_rows, batch_rows) == expected


@given(files(), bound("s", "d", "i"), st.sampled_from(["s", "d", "i"]))
def test_a_column_that_the_file_does_not_have_is_null(
    file: File, expr: Expression, absent: str
) -> None:
    nulls = pa.nulls(file.batch.num_rows, file.batch.schema.field(absent).type)
    at = file.batch.schema.get_field_index(absent)
    without = file.batch.set_column(at, file.batch.schema.field(at), nulls)
    everything = RowFilter(np.zeros(0, np.int64))
    stored = RowType(fields=tuple(field for field in ROW_TYPE if field.name != absent))
    expected = filtered(without, expr)
    assert paged(file.data, expr, everything, 1000, stored) == expected


@given(files(indexed=True), bound(*FLAT), st.data())
def test_a_broken_offset_index_costs_no_row(
    file: File, expr: Expression, data: st.DataObject
) -> None:
    broken = bytearray(file.data)
    places = offset_indexes(file.data)
    for _ in range(data.draw(st.integers(1, 3))):
        start, size = data.draw(st.sampled_from(places))
        broken[start + data.draw(st.integers(0, size - 1))] = data.draw(st.integers(0, 255))
    everything = RowFilter(np.zeros(0, np.int64))
    assert paged(bytes(broken), expr, everything, 1000) == filtered(file.batch, expr)


def paged(
    data: bytes,
    expr: Expression,
    kept: RowFilter,
    batch_rows: int,
    stored_type: RowType = ROW_TYPE,
) -> Found:
    """The matches, read by pages wherever that is possible."""
    file = open_parquet(pa.BufferReader(data), "/t/f.parquet")
    file.paged_bytes = 0
    flat = names_of(expr) <= set(FLAT)
    wanted = RowType(fields=tuple(f for f in ROW_TYPE if f.name in FLAT or not flat))
    sources = field_sources(wanted.fields, stored_type.fields)
    present = [source.stored for source in sources if source.stored is not None]
    stored = [StoredColumn(name=field.name, type=field.type) for field in present]
    order = {column.name: i for i, column in enumerate(stored)}
    read = [(s, None if s.stored is None else order[s.stored.name]) for s in sources]
    casting = Casting(path="/t/f.parquet")
    condition = FilePredicate.of(expr, read, stored, casting)
    found: Found = []
    whole = Projection(stored=tuple(stored), output=None, batch_rows=batch_rows)
    for batch, positions in matching_rows(file, condition, whole, kept):
        assert 0 < batch.rows <= batch_rows
        columns = [
            source.column(None if at is None else batch.columns[at], batch.rows, casting)
            for source, at in read
        ]
        first = np.arange(batch.first, batch.first + batch.rows)
        places = first if positions is None else positions
        values = pa.RecordBatch.from_arrays(columns, names=list(wanted.names))
        found += [(int(places[i]), text) for i, text in filtered(values, expr)]
    for count in some(range(len(stored) + 1), 3, len(data)):
        given = tuple(stored[:count])
        only = Projection(stored=tuple(stored), output=given, batch_rows=batch_rows)
        file.paged_bytes, file.late_bytes = 0, 0
        assert alone(file, condition, only, kept) == [place for place, _ in found]
        file.paged_bytes = 1 << 40  # columns as a whole, those of the condition first
        assert alone(file, condition, only, kept) == [place for place, _ in found]
        file.bounded_rows = 0  # pages if their statistics exclude most rows
        assert alone(file, condition, only, kept) == [place for place, _ in found]
        file.bounded_rows = 1 << 40
    return found


def alone(
    file: ParquetDataFile, condition: FilePredicate, wanted: Projection, kept: RowFilter
) -> list[int]:
    """The places of the matches, where only these are given and some of the columns."""
    places: list[int] = []
    for batch, positions in matching_rows(file, condition, wanted, kept):
        assert 0 < batch.rows <= wanted.batch_rows
        assert wanted.output is not None
        assert [len(column) for column in batch.columns] == [batch.rows] * len(wanted.output)
        places += (
            range(batch.first, batch.first + batch.rows)
            if positions is None
            else positions.tolist()
        )
    return places


def filtered(batch: pa.RecordBatch, expr: Expression) -> Found:
    """The rows of a batch of which the predicate is true, with their places."""
    truth: Sequence[bool | None] = evaluate(expr, batch, ROW_TYPE).to_pylist()
    flat = names_of(expr) <= set(FLAT)
    values: Sequence[Row] = (batch.select(FLAT) if flat else batch).to_pylist()
    return [(i, repr(values[i])) for i, is_true in enumerate(truth) if is_true]


def offset_indexes(data: bytes) -> list[tuple[int, int]]:
    """Places and sizes of the offset indexes of a file."""
    length: int = struct.unpack("<I", data[-8:-4])[0]
    footer = decode_struct(data[-8 - length : -8])
    found = []
    for group in structs_of(footer[4][1]):
        for chunk in structs_of(group[1][1]):
            offset, size = int_of(chunk, 4), int_of(chunk, 5)
            assert offset is not None
            assert size is not None
            found.append((offset, size))
    return found
