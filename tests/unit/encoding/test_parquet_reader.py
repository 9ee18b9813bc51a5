"""Parquet data files: positions, columns, row groups, and footers that Arrow refuses."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.data_file_reader import Span, StoredColumn
from paimon_explore.encoding.parquet.footer_fixes import (
    footer_as_file,
    footer_length,
    readable_footer,
)
from paimon_explore.encoding.parquet.reader import ParquetDataFile, consecutive, open_parquet
from paimon_explore.encoding.parquet.thrift_compact import (
    Wire,
    decode_struct,
    encode_struct,
    structs_of,
)
from paimon_explore.errors import CorruptFileError
from support.files import parquet_bytes, stored
from support.foreign_files import PARQUET_0_8_2

TEN_INTS = {"i": pa.array(range(10), pa.int32())}


def opened(data: bytes) -> ParquetDataFile:
    return open_parquet(pa.BufferReader(data), "/t/f.parquet")


def read(
    data: bytes, columns: Sequence[StoredColumn], spans: Sequence[int] = (0,), rows: int = 100
) -> list[tuple[int, list[list[object]]]]:
    """First position and columns of each batch."""
    batches = opened(data).batches(columns, spans, rows)
    return [(batch.first, [as_python(array) for array in batch.columns]) for batch in batches]


def test_row_groups_are_the_spans() -> None:
    file = opened(parquet_bytes(TEN_INTS, rows_per_group=4))
    assert file.names == {"i"}
    assert file.spans == (Span(first=0, rows=4), Span(first=4, rows=4), Span(first=8, rows=2))


def test_positions_stay_physical_when_row_groups_are_skipped() -> None:
    data = parquet_bytes(TEN_INTS, rows_per_group=4)
    assert read(data, [stored("i", "INT")], spans=(0, 2)) == [
        (0, [[0, 1, 2, 3]]),
        (8, [[8, 9]]),
    ]


def test_no_batch_is_longer_than_asked_for() -> None:
    found = read(parquet_bytes(TEN_INTS), [stored("i", "INT")], rows=4)
    assert found == [(0, [[0, 1, 2, 3]]), (4, [[4, 5, 6, 7]]), (8, [[8, 9]])]


def test_without_columns_there_are_still_rows() -> None:
    batches = opened(parquet_bytes(TEN_INTS, rows_per_group=4)).batches([], (1,), 3)
    assert [(batch.first, batch.rows, batch.columns) for batch in batches] == [
        (4, 3, ()),
        (7, 1, ()),
    ]


def test_columns_come_in_the_order_asked_for() -> None:
    data = parquet_bytes({"a": pa.array([1]), "b": pa.array(["x"])})
    assert read(data, [stored("b", "STRING"), stored("a", "BIGINT")]) == [(0, [["x"], [1]])]


def test_only_the_wanted_members_of_a_row_are_decoded() -> None:
    rows = pa.array([{"a": 1, "b": {"c": 2, "d": 3}}, None])
    inner = {"type": "ROW", "fields": [{"id": 2, "name": "d", "type": "BIGINT"}]}
    wanted = stored("r", {"type": "ROW", "fields": [{"id": 1, "name": "b", "type": inner}]})
    assert read(parquet_bytes({"r": rows}), [wanted]) == [(0, [[{"b": {"d": 3}}, None]])]


def test_names_may_hold_dots() -> None:
    data = parquet_bytes({"a.b": pa.array([1]), "a": pa.array([{"b": 2}])})
    row = {"type": "ROW", "fields": [{"id": 1, "name": "b", "type": "BIGINT"}]}
    assert read(data, [stored("a.b", "BIGINT"), stored("a", row)]) == [(0, [[1], [{"b": 2}]])]


def test_files_of_release_0_8_with_optional_map_keys_are_read() -> None:
    inner = {"type": "MAP", "key": "INT NOT NULL", "value": "STRING"}
    columns = [
        stored("i", "INT NOT NULL"),
        stored("m", {"type": "MAP", "key": "STRING", "value": "INT"}),
        stored("ms", {"type": "MULTISET", "element": "STRING"}),
        stored(
            "r",
            {
                "type": "ROW",
                "fields": [
                    {"id": 0, "name": "x", "type": "INT"},
                    {"id": 1, "name": "mm", "type": inner},
                ],
            },
        ),
        stored("a", {"type": "ARRAY", "element": "INT"}),
    ]
    assert read(PARQUET_0_8_2, columns) == [
        (
            0,
            [
                [1, 2, 3, 4],
                [
                    [("a1", 1), ("b", None)],
                    None,
                    [("a3", 3), ("b", None)],
                    [("a4", 4), ("b", None)],
                ],
                [[("p", 1)], None, [("p", 3)], [("p", 4)]],
                [
                    {"x": 1, "mm": [(5, "v1"), (6, None)]},
                    None,
                    {"x": 3, "mm": None},
                    {"x": 4, "mm": [(5, "v4"), (6, None)]},
                ],
                [[1, None], None, [3, None], [4, None]],
            ],
        )
    ]


def test_int96_keeps_every_nanosecond() -> None:
    batch = next(opened(PARQUET_0_8_2).batches([stored("t", "TIMESTAMP(9)")], (0,), 9))
    assert as_python(batch.columns[0].cast(pa.int64())) == [
        -1_499_999_993,
        None,
        -4_499_999_993,
        -5_999_999_993,
    ]


@pytest.mark.parametrize("keep", [0, 3, 8, 100, -1])
def test_a_file_that_was_cut_is_corrupt(keep: int) -> None:
    data = parquet_bytes(TEN_INTS)[:keep]
    with pytest.raises(CorruptFileError, match=r"/t/f\.parquet"):
        opened(data)


def test_a_broken_footer_is_told_of() -> None:
    with pytest.raises(CorruptFileError, match="FileMetaData"):
        readable_footer(b"\x19\xff", path="/t/f")
    with pytest.raises(CorruptFileError, match="FileMetaData"):
        readable_footer(b"\0", path="/t/f")
    with pytest.raises(CorruptFileError, match="is greater than the file size"):
        footer_length(b"\xff\0\0\0PAR1", path="/t/f", size=20)
    with pytest.raises(CorruptFileError, match="PAR1"):
        footer_length(b"", path="/t/f", size=20)


def test_a_footer_with_nothing_to_mend_stays_as_it_is() -> None:
    data = parquet_bytes(TEN_INTS)
    length = footer_length(data[-8:], path="f", size=len(data))
    footer = data[-8 - length : -8]
    assert readable_footer(footer, path="f") == footer


def test_columns_of_logical_types_that_arrow_does_not_know_have_their_values() -> None:
    data = parquet_bytes(TEN_INTS)
    length = footer_length(data[-8:], path="f", size=len(data))
    footer = decode_struct(data[-8 - length : -8])
    column = list(structs_of(footer[2][1]))[1]
    column[10] = (Wire.STRUCT, {99: (Wire.STRUCT, {})})
    changed = data[: -8 - length] + footer_as_file(encode_struct(footer))[4:]
    batch = next(opened(changed).batches([stored("i", "INT")], (0,), 10))
    assert as_python(batch.columns[0]) == TEN_INTS["i"].to_pylist()


@pytest.mark.parametrize(
    ("column", "data_type", "low", "high"),
    [
        (pa.array([3, 1, None], pa.int32()), "INT", 1, 3),
        (pa.array([3, 1, None], pa.int8()), "TINYINT", 1, 3),
        (pa.array([-3, 1, None]), "BIGINT", -3, 1),
        (pa.array([1.5, 0.5]), "DOUBLE", 0.5, 1.5),
        (pa.array(["b", "a"]), "STRING", "a", "b"),
        (pa.array([b"b", b"a"]), "BYTES", b"a", b"b"),
        (pa.array([True, False]), "BOOLEAN", False, True),
        (pa.array([2, 1], pa.date32()), "DATE", dt.date(1970, 1, 2), dt.date(1970, 1, 3)),
        (
            pa.array([2, 1], pa.time32("ms")),
            "TIME(3)",
            dt.time(0, 0, 0, 1000),
            dt.time(0, 0, 0, 2000),
        ),
        (
            pa.array([Decimal("-1.50"), Decimal("2.25")], pa.decimal128(30, 2)),
            "DECIMAL(30, 2)",
            Decimal("-1.50"),
            Decimal("2.25"),
        ),
    ],
)
def test_statistics_of_row_groups_are_told(
    column: Column, data_type: object, low: object, high: object
) -> None:
    found = opened(parquet_bytes({"c": column})).bounds(stored("c", data_type))
    assert found is not None
    assert as_python(found.minimum) == [low]
    assert as_python(found.maximum) == [high]
    assert as_python(found.null_count) == [column.null_count]


def test_statistics_of_timestamps_are_told_in_their_unit() -> None:
    column = pa.array([5, 7], pa.timestamp("us"))
    file = opened(parquet_bytes({"c": column}))
    found = file.bounds(stored("c", "TIMESTAMP(6)"))
    assert found is not None
    assert as_python(found.maximum.cast(pa.int64())) == [7]
    assert file.bounds(stored("c", "TIMESTAMP(3)")) is None


def test_there_are_no_statistics_of_nested_or_differing_columns() -> None:
    file = opened(parquet_bytes({"a": pa.array([[1]]), "i": pa.array([1], pa.int32())}))
    assert file.bounds(stored("a", {"type": "ARRAY", "element": "BIGINT"})) is None
    assert file.bounds(stored("i", "BIGINT")) is None


def test_an_empty_row_group_has_no_bounds() -> None:
    found = opened(parquet_bytes({"c": pa.array([None, None], pa.int32())})).bounds(
        stored("c", "INT")
    )
    assert found is not None
    assert as_python(found.minimum) == [None]
    assert as_python(found.null_count) == [2]


def test_runs_of_indexes_are_cut_at_gaps() -> None:
    assert consecutive([]) == []
    assert consecutive([1, 2, 4, 7, 8]) == [[1, 2], [4], [7, 8]]
