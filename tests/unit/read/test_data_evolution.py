from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyroaring import BitMap

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_evolution import ColumnFile, merge_columns
from paimon_explore.read.data_file import SystemColumn
from support.predicates import row_type_of

FIELDS = row_type_of({"a": "INT", "b": "STRING"}).fields
SCHEMA = TableSchema(
    id=0, fields=FIELDS, highest_field_id=1, partition_keys=(), primary_keys=(), options={}
)


def file(
    first: int, newest: int, values: Mapping[str, Sequence[object]], *, partial: bool = True
) -> ColumnFile:
    """A file of some columns, in batches of two rows."""

    def read(wanted: tuple[DataField, ...], selection: BitMap | None) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(RowType(fields=wanted))
        kept = range(count) if selection is None else list(selection)
        for start in range(0, len(kept), 2):
            rows = {f.name: [values[f.name][i] for i in kept[start : start + 2]] for f in wanted}
            yield pa.RecordBatch.from_pydict(rows, schema=schema)

    count = len(next(iter(values.values())))
    return ColumnFile(
        first=first,
        row_count=count,
        newest=newest,
        schema=SCHEMA,
        write_cols=tuple(values) if partial else None,
        read=read,
    )


def merged(*files: ColumnFile, system: tuple[SystemColumn, ...] = ()) -> list[dict[str, object]]:
    batches = list(merge_columns(files, FIELDS, system))
    return pa.Table.from_batches(batches).to_pylist()


def test_each_column_comes_from_its_newest_file() -> None:
    old = file(10, 1, {"a": [1, 2, 3], "b": ["x", "y", "z"]}, partial=False)
    new = file(10, 2, {"b": ["X", None, "Z"]})
    assert merged(old, new) == [
        {"a": 1, "b": "X"},
        {"a": 2, "b": None},
        {"a": 3, "b": "Z"},
    ]


def test_only_the_requested_rows_are_read_from_each_file() -> None:
    whole = file(10, 1, {"a": [1, 2, 3, 4], "b": ["w", "x", "y", "z"]}, partial=False)
    part = file(11, 2, {"b": ["X", "Y"]})
    batches = merge_columns(
        [whole, part], FIELDS, (SystemColumn.ROW_ID,), row_ids=np.array([10, 12, 13])
    )
    assert pa.Table.from_batches(batches).to_pylist() == [
        {"a": 1, "b": "w", "_ROW_ID": 10},
        {"a": 3, "b": "Y", "_ROW_ID": 12},
        {"a": 4, "b": "z", "_ROW_ID": 13},
    ]
    assert list(merge_columns([whole, part], FIELDS, row_ids=np.zeros(0, np.int64))) == []


def test_a_file_may_cover_a_part_of_the_rows() -> None:
    whole = file(0, 1, {"a": [1, 2, 3], "b": ["x", "y", "z"]}, partial=False)
    part = file(1, 2, {"b": ["Y"]})
    assert merged(whole, part) == [{"a": 1, "b": "x"}, {"a": 2, "b": "Y"}, {"a": 3, "b": "z"}]


def test_a_column_that_no_file_holds_is_null() -> None:
    assert merged(file(0, 1, {"a": [1]}), file(0, 2, {"a": [2]})) == [{"a": 2, "b": None}]


def test_rows_that_no_file_holds_are_null() -> None:
    assert merged(file(0, 1, {"a": [1]}), file(1, 2, {"a": [2], "b": ["y"]})) == [
        {"a": 1, "b": None},
        {"a": 2, "b": "y"},
    ]


def test_system_columns_come_behind() -> None:
    system = (
        SystemColumn.ROW_ID,
        SystemColumn.SEQUENCE_NUMBER,
        SystemColumn.VALUE_KIND,
        SystemColumn.POSITION,
    )
    found = merged(file(5, 1, {"a": [1, 2]}), file(5, 7, {"b": ["x", "y"]}), system=system)
    assert [[*row.values()] for row in found] == [[1, "x", 5, 7, 0, 0], [2, "y", 6, 7, 0, 1]]
