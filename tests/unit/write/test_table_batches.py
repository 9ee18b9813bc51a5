"""What callers may write: kinds of data, safe casts, and the messages of what does not fit."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset

from paimon_explore.data_types.arrow_buffers import Column, as_buffer, build_list
from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullable,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input import arrow_stream, python_values
from paimon_explore.write.input.python_values import column_of_values
from paimon_explore.write.input.table_batches import InputShape, Rows, open_rows

INT = AtomicType(root=TypeRoot.INT)
BIGINT = AtomicType(root=TypeRoot.BIGINT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BYTES = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
EIGHT_BYTES = AtomicType(root=TypeRoot.BINARY, length=8)
PERIODS = pd.DataFrame({"a": pd.period_range("2024-01", periods=2, freq="M")})
PERIOD_TABLE = pa.table(PERIODS)
LISTS_OF_PERIODS = pa.ListArray.from_arrays([0, 1, 2], PERIOD_TABLE.to_batches()[0]["a"])


def row_type(**types: DataType) -> RowType:
    fields = [DataField(id=i, name=name, type=t) for i, (name, t) in enumerate(types.items())]
    return RowType(fields=tuple(fields), nullable=False)


def written(data: Rows, **types: DataType) -> list[Mapping[str, object]]:
    shape = InputShape(row_type=row_type(**types))
    return [row for batch in open_rows(data, shape) for row in batch.to_pylist()]


def refused(data: Rows, **types: DataType) -> str:
    with pytest.raises(InvalidInputError) as caught:
        written(data, **types)
    return str(caught.value)


ROWS: list[dict[str, object]] = [{"a": 1, "b": "x"}, {"a": None, "b": None}]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        pa.Table.from_pylist(ROWS),
        pa.Table.from_pylist(ROWS).to_batches()[0],
        pa.Table.from_pylist(ROWS).to_reader(),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": ["x", None]}),
        pa.Table.from_pylist([{"b": "x", "a": 1}, {"b": None, "a": None}]),
    ],
    ids=["dictionaries", "table", "batch", "reader", "pandas", "other order"],
)
def test_all_kinds_of_data_give_the_same_rows(data: Rows) -> None:
    assert written(data, a=INT, b=STRING) == ROWS


def test_batches_have_exactly_the_arrow_types_of_the_table() -> None:
    shape = InputShape(row_type=row_type(a=INT))
    batch = next(open_rows([{"a": 1}], shape))
    assert batch.schema.field("a").type == pa.int32()


def test_a_pandas_index_is_not_a_column() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=[7, 9])
    assert written(frame, a=INT) == [{"a": 1}, {"a": 2}]


def test_missing_columns_become_null_or_their_default_value() -> None:
    fields = (
        DataField(id=0, name="a", type=INT),
        DataField(id=1, name="b", type=INT, default_value="5"),
        DataField(id=2, name="d", type=AtomicType(root=TypeRoot.DATE), default_value="2024-01-02"),
    )
    shape = InputShape(row_type=RowType(fields=fields))
    batches = list(open_rows(pa.table({"a": pa.array([1, 2], pa.int32())}), shape))
    day = dt.date(2024, 1, 2)
    assert batches[0].to_pylist() == [{"a": 1, "b": 5, "d": day}, {"a": 2, "b": 5, "d": day}]


def test_a_dictionary_without_the_column_gets_the_default_value() -> None:
    fields = (DataField(id=0, name="b", type=INT, default_value="5"),)
    rows: list[Mapping[str, object]] = [{"b": 1}, {}, {"b": None}]
    batches = list(open_rows(rows, InputShape(row_type=RowType(fields=fields))))
    assert batches[0].to_pylist() == [{"b": 1}, {"b": 5}, {"b": None}]


def test_rows_are_counted_over_all_batches() -> None:
    table = pa.concat_tables([pa.table({"a": [1, 2]}), pa.table({"a": [2**40]})])
    assert "row 2" in refused(table, a=INT)


def test_texts_bytes_and_fractions_beyond_the_type_are_refused() -> None:
    short = AtomicType(root=TypeRoot.VARCHAR, length=2)
    assert "'a' (VARCHAR(2)), row 1 (counted from 0): 'xyz' has more than 2 characters" in refused(
        [{"a": "中文"}, {"a": "xyz"}], a=short
    )
    blob = AtomicType(root=TypeRoot.VARBINARY, length=1)
    assert "VARBINARY(1)" in refused([{"a": b"xx"}], a=blob)
    tenth = AtomicType(root=TypeRoot.TIMESTAMP, precision=1)
    late = dt.datetime(2024, 1, 1, 0, 0, 0, 120_000)  # noqa: DTZ001  # without zone
    assert "TIMESTAMP(1)" in refused([{"a": late}], a=tenth)


def test_dictionary_and_view_and_large_arrays_are_taken() -> None:
    table = pa.table(
        {
            "a": pa.array(["x", "y"]).dictionary_encode(),
            "b": pa.array(["x", "y"], pa.large_string()),
            "c": pa.array([[1], None], pa.large_list(pa.int64())),
            "d": pa.array([[1, 2], None], pa.list_view(pa.int64())),
            "e": pa.array([None, [3]], pa.large_list_view(pa.int64())),
        }
    )
    ints = ArrayType(element=INT)
    assert written(table, a=STRING, b=STRING, c=ints, d=ints, e=ints) == [
        {"a": "x", "b": "x", "c": [1], "d": [1, 2], "e": None},
        {"a": "y", "b": "y", "c": None, "d": None, "e": [3]},
    ]


VALUE = with_nullable(row_type(x=INT, y=ArrayType(element=INT)), nullable=True)
NESTED = MapType(key=STRING, value=VALUE)


def test_nested_values_are_cast_part_by_part() -> None:
    rows: list[Mapping[str, object]] = [
        {"m": {"k": {"y": [1, None], "x": 1}, "j": None}},
        {"m": None},
        {"m": {}},
    ]
    assert written(rows, m=NESTED) == [
        {"m": [("k", {"x": 1, "y": [1, None]}), ("j", None)]},
        {"m": None},
        {"m": []},
    ]
    arrow = pa.table(
        {
            "m": pa.array(
                [[("k", {"y": [1], "x": 2**33})], None],
                pa.map_(pa.string(), pa.struct([("y", pa.list_(pa.int64())), ("x", pa.int64())])),
            )
        }
    )
    assert "'m{value}.x'" in refused(arrow, m=NESTED)
    sliced = arrow.slice(1)
    assert written(sliced, m=NESTED) == [{"m": None}]


def test_lists_that_are_sliced_or_hold_values_under_nulls_are_taken() -> None:
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 4], pa.int32()),
        pa.array([1, 2**40, 3, 4]),
        mask=pa.array([False, True, False]),
    )
    table = pa.table({"a": lists}).slice(1)
    assert written(table, a=ArrayType(element=INT)) == [{"a": None}, {"a": [4]}]


def test_maps_whose_entries_are_a_slice_keep_their_entries() -> None:
    kind = pa.map_(pa.int32(), pa.int32())
    fields = [kind.key_field, kind.item_field]
    numbers = pa.array([9, 1, 2, 3], pa.int32())
    entries = pa.StructArray.from_arrays([numbers, numbers], fields=fields).slice(1)
    offsets = as_buffer(np.array([0, 1, 3], np.int32))
    maps = pa.Array.from_buffers(kind, 2, [None, offsets], children=[entries])
    data = pa.table(
        {
            "map": maps,
            "list": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), maps),
            "row": pa.StructArray.from_arrays([maps], ["x"]),
        }
    )
    data_type = MapType(key=INT, value=INT)
    types: dict[str, DataType] = {
        "map": data_type,
        "list": ArrayType(element=data_type),
        "row": RowType(fields=(DataField(id=9, name="x", type=data_type),)),
    }
    first, second = [(1, 1)], [(2, 2), (3, 3)]
    assert written(data, **types) == [
        {"map": first, "list": [first], "row": {"x": first}},
        {"map": second, "list": [second], "row": {"x": second}},
    ]


def texts(*values: bytes | None, kind: pa.DataType | None = None) -> Column:
    wide = kind is not None and pa.types.is_large_string(kind)
    made = pa.array(values, pa.large_binary() if wide else pa.binary())
    return pa.Array.from_buffers(kind or pa.string(), len(made), made.buffers())


NO_UTF8 = texts(b"a", None, b"\xc3\xa4", b"\xff\xfe", b"z")


@pytest.mark.parametrize(
    ("array", "data_type", "place"),
    [
        (NO_UTF8, STRING, "'a' (STRING), row 3"),
        (NO_UTF8.slice(1), STRING, "'a' (STRING), row 2"),
        (texts(b"\xff\xfe", kind=pa.large_string()), STRING, "'a' (STRING), row 0"),
        (NO_UTF8, AtomicType(root=TypeRoot.CHAR, length=9), "'a' (CHAR(9)), row 3"),
        (NO_UTF8.dictionary_encode(), STRING, "'a' (STRING), row 3"),
        (pa.ListArray.from_arrays([0, 2, 5], NO_UTF8), ArrayType(element=STRING), "'a[]'"),
        (
            build_list(
                pa.map_(pa.string(), pa.int64()),
                np.array([0, 1]),
                [pa.StructArray.from_arrays([texts(b"\xff\xfe"), pa.array([1])], ["key", "value"])],
                np.array([True]),
            ),
            MapType(key=STRING, value=BIGINT),
            "'a{key}'",
        ),
        (
            pa.StructArray.from_arrays([NO_UTF8], ["x"]),
            RowType(fields=(DataField(id=9, name="x", type=STRING),)),
            "'a.x'",
        ),
    ],
)
def test_texts_that_are_not_utf_8_are_refused(
    array: Column, data_type: DataType, place: str
) -> None:
    message = refused(pa.table({"a": array}), a=data_type)
    assert place in message
    assert r"b'\xff\xfe' is not UTF-8" in message


def raw(kind: pa.DataType, *numbers: int) -> Column:
    """Values of a type from the numbers in its buffer, after a null."""
    width = kind.bit_width // 8
    data = b"".join(number.to_bytes(width, "little", signed=True) for number in (0, *numbers))
    buffers: list[pa.Buffer | None] = [pa.py_buffer(b"\xfe"), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, 1 + len(numbers), buffers)


@pytest.mark.parametrize(
    ("array", "data_type", "problem"),
    [
        (raw(pa.decimal128(4, 2), 9999, 10**4), (4, 2), "100.00 has more than 2 digits"),
        (raw(pa.decimal128(4, 2), -(10**4)).slice(1), (4, 2), "-100.00 has more than 2 digits"),
        (raw(pa.decimal128(18, 0), 1, 10**18), (18, 0), "has more than 18 digits"),
        (raw(pa.decimal128(38, 0), 1, 10**38), (38, 0), "has more than 38 digits"),
        (raw(pa.time32("ms"), 86_399_999, 86_400_000), None, "stored as 86400000 milliseconds"),
        (raw(pa.time32("ms"), 0, -1), None, "stored as -1 milliseconds"),
        (raw(pa.time32("s"), 0, 86_400), None, "stored as 86400000 milliseconds"),
        (raw(pa.time64("us"), 0, 86_400_000_000), None, "stored as 86400000 milliseconds"),
    ],
)
def test_numbers_that_arrow_does_not_allow_in_a_type_are_refused(
    array: Column, data_type: tuple[int, int] | None, problem: str
) -> None:
    kind = AtomicType(root=TypeRoot.TIME, precision=3)
    if data_type is not None:
        kind = AtomicType(root=TypeRoot.DECIMAL, precision=data_type[0], scale=data_type[1])
    row = f"row {len(array) - 1} (counted from 0)"
    found = refused(pa.table({"a": array}), a=kind)
    assert problem in found
    assert row in found
    inside = pa.table({"a": pa.ListArray.from_arrays([0, len(array)], array)})
    assert problem in refused(inside, a=ArrayType(element=kind))
    assert written(pa.table({"a": array.slice(0, len(array) - 1)}), a=kind) is not None


def test_nulls_inside_not_null_parts_are_refused() -> None:
    strict = AtomicType(root=TypeRoot.INT, nullable=False)
    assert "'a[]'" in refused([{"a": [1, None]}], a=ArrayType(element=strict))
    assert "'a.x'" in refused([{"a": {"x": None}}], a=row_type(x=strict))
    nullable_row = RowType(fields=(DataField(id=0, name="x", type=strict),))
    assert written([{"a": None}, {"a": {"x": 1}}], a=nullable_row) == [
        {"a": None},
        {"a": {"x": 1}},
    ]


def test_unknown_fields_of_rows_are_refused() -> None:
    arrow = pa.table({"a": pa.array([{"z": 1}])})
    assert "no field 'z'" in refused(arrow, a=row_type(x=INT))


def test_vectors_and_multisets_are_taken() -> None:
    floats = AtomicType(root=TypeRoot.FLOAT)
    rows: list[Mapping[str, object]] = [{"v": [1.0, 2.0], "s": {"a": 2}}, {"v": None, "s": None}]
    assert written(
        rows, v=VectorType(element=floats, length=2), s=MultisetType(element=STRING)
    ) == [{"v": [1.0, 2.0], "s": [("a", 2)]}, {"v": None, "s": None}]
    lists = pa.table({"v": pa.array([[1.0, 2.0]], pa.list_(pa.float64()))})
    assert written(lists, v=VectorType(element=floats, length=2)) == [{"v": [1.0, 2.0]}]


@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()),
        pa.list_(pa.float64(), 2),
        pa.list_(pa.field("item", pa.float32(), nullable=False), 2),
    ],
    ids=str,
)
def test_vectors_are_null_also_if_their_elements_are_not(
    kind: pa.DataType, *, nullable: bool
) -> None:
    vector = VectorType(element=AtomicType(root=TypeRoot.FLOAT, nullable=nullable), length=2)
    rows: list[Mapping[str, object]] = [{"v": v} for v in (None, [1.0, 2.0], None, [3.0, 4.0])]
    array = pa.array([row["v"] for row in rows], kind)
    for part in (slice(0, 4), slice(1, 4), slice(2, 3), slice(0, 1), slice(0, 0)):
        assert written(pa.table({"v": array[part]}), v=vector) == rows[part]
        nested = pa.StructArray.from_arrays([array[part]], ["v"])
        assert written(pa.table({"r": nested}), r=row_type(v=vector)) == [
            {"r": row} for row in rows[part]
        ]


def test_columns_of_nothing_but_nulls_are_taken_for_any_type() -> None:
    table = pa.table({"a": pa.nulls(2), "r": pa.nulls(2)})
    row = with_nullable(row_type(x=INT), nullable=True)
    assert written(table, a=INT, r=row) == [{"a": None, "r": None}] * 2


@pytest.mark.parametrize(
    ("column", "data_type", "problem"),
    [
        (pa.array([1]), ArrayType(element=INT), "must be lists"),
        (pa.array([1]), VectorType(element=INT, length=2), "must be vectors"),
        (
            pa.array([[1, 2, 3]], pa.list_(pa.int32(), 3)),
            VectorType(element=INT, length=2),
            "the vectors must have 2 elements, not 3",
        ),
        (pa.array([1]), MapType(key=STRING, value=INT), "must be maps"),
        (pa.array([1]), RowType(fields=()), "must be rows"),
    ],
)
def test_other_shapes_than_the_columns_are_refused(
    column: "pa.Array[pa.Scalar[pa.DataType]]", data_type: DataType, problem: str
) -> None:
    assert problem in refused(pa.table({"a": column}), a=data_type)


def test_missing_fields_of_rows_are_null() -> None:
    row = with_nullable(row_type(x=INT, y=INT), nullable=True)
    assert written(pa.table({"a": pa.array([{"x": 1}])}), a=row) == [{"a": {"x": 1, "y": None}}]


def test_rows_of_no_columns_are_counted() -> None:
    rows: list[Mapping[str, object]] = [{}, {}]
    assert written(rows, a=INT) == [{"a": None}, {"a": None}]


def test_two_columns_of_one_name_are_refused() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "two columns named 'a'" in refused(twice, a=INT)


def test_a_default_value_that_does_not_fit_is_refused() -> None:
    fields = (DataField(id=0, name="b", type=INT, default_value="x"),)
    shape = InputShape(row_type=RowType(fields=fields))
    with pytest.raises(InvalidInputError, match="default value 'x' of column 'b'"):
        list(open_rows([{}], shape))


def test_extra_columns_are_passed_on_behind_the_others() -> None:
    shape = InputShape(row_type=row_type(a=INT), extra=frozenset({"_ROW_KIND"}))
    rows: list[Mapping[str, object]] = [{"_ROW_KIND": "-D", "a": 1}]
    (batch,) = open_rows(rows, shape)
    assert batch.to_pylist() == [{"a": 1, "_ROW_KIND": "-D"}]
    assert batch.schema.names == ["a", "_ROW_KIND"]


def test_variants_may_have_their_parts_in_any_order_and_be_null() -> None:
    variant = AtomicType(root=TypeRoot.VARIANT)
    shape = pa.struct([("metadata", pa.large_binary()), ("value", pa.binary())])
    values = [{"value": b"v", "metadata": b"m"}, None]
    table = pa.table({"v": pa.array(values, shape)})
    assert written(table, v=variant) == [{"v": {"value": b"v", "metadata": b"m"}}, {"v": None}]
    broken = pa.table({"v": pa.array([{"value": b"v", "metadata": None}], shape)})
    assert "field 'metadata' of the VARIANT value is null" in refused(broken, v=variant)


def test_a_dictionary_that_names_no_row_kind_is_an_insert() -> None:
    shape = InputShape(
        row_type=RowType(fields=(DataField(id=0, name="b", type=INT),)),
        extra=frozenset({"_ROW_KIND"}),
    )
    for told, kinds in (("-D", ["+I", "-D"]), (3, [0, 3])):
        (batch,) = open_rows([{"b": 1}, {"b": 2, "_ROW_KIND": told}], shape)
        assert batch.column("_ROW_KIND").to_pylist() == kinds


def test_a_default_value_may_be_quoted_as_in_sql() -> None:
    text = AtomicType(root=TypeRoot.VARCHAR, length=10)
    fields = (
        DataField(id=0, name="b", type=INT),
        DataField(id=1, name="s", type=text, default_value="'x'"),
    )
    (batch,) = open_rows([{"b": 1}], InputShape(row_type=RowType(fields=fields)))
    assert batch.column("s").to_pylist() == ["x"]


def test_a_dictionary_for_a_row_has_the_fields_of_the_row() -> None:
    row = RowType(fields=(DataField(id=1, name="x", type=INT),))
    shape = InputShape(row_type=RowType(fields=(DataField(id=0, name="r", type=row),)))
    with pytest.raises(
        InvalidInputError, match=r"row 0 .counted from 0.: the ROW type has no field 'z'"
    ):
        list(open_rows([{"r": {"z": 1}}], shape))


def parts() -> Iterator[pa.RecordBatch]:
    for row in ROWS:
        yield pa.RecordBatch.from_pylist([row])


@pytest.mark.parametrize(
    "data",
    [
        {"a": [1, None], "b": ["x", None]},
        {"a": pd.Series([1, None], dtype="Int64"), "b": pa.array(["x", None])},
        {"b": np.array(["x", None], np.object_), "a": pl.Series([1, None])},
        (dict(row) for row in ROWS),
        parts(),
        list(parts()),
        [pd.DataFrame([ROWS[0]]), pa.table({"a": pa.nulls(1), "b": pa.nulls(1)})],
        [ROWS[0], pl.DataFrame({"a": [None], "b": [None]})],
        pl.DataFrame(ROWS),
        dataset.dataset(pa.Table.from_pylist(ROWS)),
        dataset.dataset(pa.Table.from_pylist(ROWS)).scanner(),
    ],
    ids=[
        *("lists", "series and arrays", "numpy", "generator of rows", "generator of batches"),
        *("list of batches", "list of frames", "rows, then a frame", "polars"),
        *("dataset", "scanner"),
    ],
)
def test_columns_streams_and_parts_give_the_same_rows(data: Rows) -> None:
    assert written(data, a=INT, b=STRING) == ROWS


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"a": 1}, "'a' must be a list of values, not 1. Pass a list for each column"),
        ({"a": "text"}, "must be a list of values"),
        ({"a": [1], "b": [1, 2]}, "different lengths: 'a' has 1 rows, 'b' has 2 rows"),
        ({"A": [1]}, "no column 'A'. Did you mean 'a'? Column names are case-sensitive"),
        ([(1, "x")], "Row 0 is a tuple, which has no column names"),
        ([{"a": 1}, "text"], "Row 1 is a str"),
        (pl.LazyFrame({"a": [1]}), "LazyFrame. Call collect() first"),
        (pd.Series([1], name="a"), "Cannot read rows from "),
        (np.array([[1, 2]]), "Cannot read rows from a value of type ndarray"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
    ],
)
def test_what_names_no_columns_is_refused_with_what_to_give(data: Rows, problem: str) -> None:
    assert problem in refused(data, a=INT, b=INT)


@pytest.mark.parametrize(
    "data",
    [
        PERIODS,
        PERIODS.astype("category"),
        PERIODS.set_index("a"),
        {"a": PERIODS["a"]},
        [PERIODS],
        PERIOD_TABLE,
        PERIOD_TABLE.to_reader(),
        pa.table({"a": LISTS_OF_PERIODS}),
        pa.table({"a": pa.StructArray.from_arrays(PERIOD_TABLE["a"].chunks, names=["x"])}),
    ],
    ids=["frame", "category", "index", "series", "frames", "Arrow", "reader", "list", "struct"],
)
@pytest.mark.parametrize("column", [BIGINT, STRING, ArrayType(element=BIGINT)])
def test_counts_of_pandas_periods_are_not_stored(data: Rows, column: DataType) -> None:
    if isinstance(data, pa.RecordBatchReader):
        data = PERIOD_TABLE.to_reader()
    problem = refused(data, a=column)
    if "Could not convert Period" not in problem:  # categories, by pandas 2.2 and Arrow 19
        assert "Column 'a' has pandas periods" in problem
        assert "dt.to_timestamp()" in problem


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
def test_ends_of_pandas_intervals_are_not_stored_without_what_belongs_to_them(
    closed: Literal["left", "right", "both", "neither"],
) -> None:
    frame = pd.DataFrame({"a": pd.interval_range(0, 2, closed=closed)})
    table = pa.table(frame)
    ends = RowType(
        fields=(
            DataField(id=0, name="left", type=BIGINT),
            DataField(id=1, name="right", type=BIGINT),
        )
    )
    parts = pa.StructArray.from_arrays(table["a"].chunks, names=["x"])
    for data in (
        *(frame, frame.set_index("a"), {"a": frame["a"]}, [frame], table, pa.table({"a": parts})),
        pd.DataFrame({"a": pd.Categorical(frame["a"])}),
    ):
        for column in (ends, BIGINT, STRING):
            problem = refused(data, a=column)
            assert "Column 'a' has pandas intervals" in problem
            assert "array.left" in problem


OBJECTS = pl.Series("a", [{1}, None], dtype=pl.Object)


@pytest.mark.parametrize(
    "data",
    [
        OBJECTS.to_frame(),
        {"a": OBJECTS},
        [OBJECTS.to_frame()],
        pl.DataFrame({"a": OBJECTS, "b": [1, 2]}),
    ],
    ids=["frame", "series", "list of frames", "beside numbers"],
)
@pytest.mark.parametrize("column", [STRING, BYTES, EIGHT_BYTES])
def test_addresses_of_polars_objects_are_not_stored(data: Rows, column: DataType) -> None:
    problem = refused(data, a=column, b=INT)
    assert "Column 'a' has the polars type Object" in problem
    assert "to_dicts()" in problem


def test_a_value_that_cannot_represent_itself_is_named_by_its_type() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    problem = refused([{"a": Broken()}], a=INT)
    assert "Column 'a'" in problem
    assert "Broken" in problem


def test_objects_of_pandas_have_the_types_of_the_table() -> None:
    frame = pd.DataFrame(
        {
            "m": [{"k": 1}, None, {"j": 2}],
            "p": [[("k", 1)], float("nan"), []],
            "r": [{"x": 1}, None, {}],
            "o": [1, None, 3],
        },
        dtype=object,
    )
    row = with_nullable(row_type(x=INT), nullable=True)
    maps = MapType(key=STRING, value=INT)
    assert written(frame, m=maps, p=maps, r=row, o=INT) == [
        {"m": [("k", 1)], "p": [("k", 1)], "r": {"x": 1}, "o": 1},
        {"m": None, "p": None, "r": None, "o": None},
        {"m": [("j", 2)], "p": [], "r": {"x": None}, "o": 3},
    ]
    mixed = pd.DataFrame({"a": ["x", 1]}, dtype=object)
    assert "Column 'a' (STRING), row 1 (counted from 0): 1 of type int cannot be stored" in refused(
        mixed, a=STRING
    )


def test_runs_views_in_dictionaries_and_extension_types_are_resolved() -> None:
    words = pa.array(["x", "y"]).cast(pa.string_view())
    table = pa.table(
        {
            "a": pa.RunEndEncodedArray.from_arrays(pa.array([2]), pa.array([7])),
            "b": pa.DictionaryArray.from_arrays(pa.array([1, None], pa.int8()), words),
            "u": pa.array([b"0123456789abcdef", None], pa.uuid()),
        }
    )
    sixteen = AtomicType(root=TypeRoot.BINARY, length=16)
    assert written(table, a=INT, b=STRING, u=sixteen) == [
        {"a": 7, "b": "y", "u": b"0123456789abcdef"},
        {"a": 7, "b": None, "u": None},
    ]


@pytest.mark.parametrize(
    ("value", "data_type"),
    [
        ("abc", ArrayType(element=STRING)),
        (5, ArrayType(element=INT)),
        (5, MapType(key=STRING, value=INT)),
        (["ab"], MapType(key=STRING, value=INT)),
        ("x", RowType(fields=(DataField(id=0, name="x", type=INT),))),
    ],
)
def test_a_value_that_is_no_list_map_or_row_is_refused(value: object, data_type: DataType) -> None:
    assert "row 0" in refused([{"a": value}], a=data_type)


def test_times_with_and_without_zone_have_a_hint() -> None:
    zoned = pa.table({"t": pa.array([1], pa.timestamp("us", "Europe/Berlin"))})
    message = refused(zoned, t=AtomicType(root=TypeRoot.TIMESTAMP, precision=6))
    assert "dt.tz_localize" in message


def test_arrays_of_two_dimensions_are_lists() -> None:
    data = {"a": np.array([[1, 2], [3, 4]])}
    assert written(data, a=ArrayType(element=INT)) == [{"a": [1, 2]}, {"a": [3, 4]}]
    vectors = {"a": np.array([[1.0, 2.0]], np.float32)}
    kind = VectorType(element=AtomicType(root=TypeRoot.FLOAT), length=2)
    assert written(vectors, a=kind) == [{"a": [1.0, 2.0]}]


def test_rows_behind_two_gibibytes_of_text_are_taken() -> None:
    size, count = 2**31 // 1000 + 10, 1000
    data = as_buffer(np.zeros(size * count, np.uint8))  # never written to: takes no memory
    offsets = as_buffer(np.arange(count + 1, dtype=np.int64) * size)
    texts = pa.Array.from_buffers(pa.large_string(), count, [None, offsets, data])
    last = pa.table({"a": texts}).slice(count - 2)

    assert [len(str(row["a"])) for row in written(last, a=STRING)] == [size, size]


@pytest.mark.parametrize(
    "data",
    [
        [{"a": at} for at in range(10)],
        {"a": list(range(10))},
        pd.DataFrame({"a": pd.Series(range(10), dtype=object)}),
    ],
    ids=["rows", "columns", "frame"],
)
def test_python_values_that_one_array_cannot_have_are_converted_in_parts(
    data: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def three(
        values: Sequence[object], name: str, data_type: DataType, first_row: int = 0
    ) -> Column:
        if len(values) > 3:
            raise pa.ArrowCapacityError("too many")
        return column_of_values(values, name, data_type, first_row)

    monkeypatch.setattr(python_values, "column_of_values", three)
    monkeypatch.setattr(arrow_stream, "column_of_values", three)

    assert written(data, a=BIGINT) == [{"a": at} for at in range(10)]
    if not isinstance(data, pd.DataFrame):
        return
    text = pd.DataFrame({"a": pd.Series([*range(9), "x"], dtype=object)})
    assert "row 9 (counted from 0)" in refused(text, a=BIGINT)


def test_a_single_row_that_no_array_can_have_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> Column:
        raise pa.ArrowCapacityError("1 values take 3000000000 bytes")

    monkeypatch.setattr(arrow_stream, "column_of_rows", none)

    message = refused([{"a": 1}, {"a": 2}], a=BIGINT)
    assert message == "Row 0 is larger than 2 GiB: 1 values take 3000000000 bytes."
