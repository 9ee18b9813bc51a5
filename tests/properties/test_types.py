"""Round trips of types, and what every cast keeps, over random types and values."""

from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow import from_arrow, to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.casts.allowed_type_changes import is_executable
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    VECTOR_ELEMENTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.data_types.formatter import type_text, type_to_json
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.data_types.type_parser import parse_type_text

PLAIN = (
    *(TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT),
    *(TypeRoot.FLOAT, TypeRoot.DOUBLE, TypeRoot.DATE, TypeRoot.VARIANT, TypeRoot.BLOB),
)
SIZED = (TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY)
TIMED = (TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)


@st.composite
def atomic_types(draw: st.DrawFn) -> AtomicType:
    nullable = draw(st.booleans())
    root = draw(st.sampled_from((*PLAIN, *SIZED, *TIMED, TypeRoot.DECIMAL)))
    if root in SIZED:
        length = draw(st.one_of(st.integers(1, 30), st.just(MAX_LENGTH)))
        return AtomicType(root=root, nullable=nullable, length=length)
    if root in TIMED:
        return AtomicType(root=root, nullable=nullable, precision=draw(st.integers(0, 9)))
    if root is TypeRoot.DECIMAL:
        precision = draw(st.integers(1, 38))
        scale = draw(st.integers(0, precision))
        return AtomicType(root=root, nullable=nullable, precision=precision, scale=scale)
    return AtomicType(root=root, nullable=nullable)


NUMBERS = st.builds(
    AtomicType, root=st.sampled_from(sorted(VECTOR_ELEMENTS, key=str)), nullable=st.booleans()
)


def nested_types(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    nullable = st.booleans()
    fields = st.lists(
        st.builds(DataField, id=st.just(0), name=st.text(min_size=1, max_size=5), type=inner),
        max_size=3,
        unique_by=lambda field: field.name,
    )
    return st.one_of(
        st.builds(ArrayType, element=inner, nullable=nullable),
        st.builds(MultisetType, element=inner, nullable=nullable),
        st.builds(VectorType, element=NUMBERS, length=st.integers(1, 9), nullable=nullable),
        st.builds(MapType, key=inner, value=inner, nullable=nullable),
        st.builds(RowType, fields=fields.map(tuple), nullable=nullable),
    )


TYPES = st.recursive(atomic_types(), nested_types, max_leaves=6)


def numbered(data_type: DataType) -> DataType:
    """The type with fresh field ids from 0, as a reader of its text would number them."""
    return assigned_ids([DataField(id=0, name="", type=data_type)], -2)[0].type


@given(TYPES)
def test_types_survive_schema_files(data_type: DataType) -> None:
    data_type = numbered(data_type)
    assert parse_type(type_to_json(data_type), "here") == data_type


@given(TYPES)
def test_types_survive_ddl(data_type: DataType) -> None:
    data_type = numbered(data_type)
    assert parse_type_text(type_text(data_type)) == data_type


@given(TYPES)
def test_arrow_types_survive_the_way_there_and_back(data_type: DataType) -> None:
    arrow = to_arrow(data_type)
    assert to_arrow(from_arrow(arrow)) == arrow


@given(st.text(max_size=40))
def test_any_text_is_a_type_or_an_error(text: str) -> None:
    try:
        parse_type_text(text)
    except ValueError as error:
        assert "Invalid type" in str(error)  # noqa: PT017 - either outcome is fine


VALUES: dict[TypeRoot, st.SearchStrategy[object]] = {
    TypeRoot.BOOLEAN: st.booleans(),
    TypeRoot.TINYINT: st.integers(-(2**7), 2**7 - 1),
    TypeRoot.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    TypeRoot.INT: st.integers(-(2**31), 2**31 - 1),
    TypeRoot.BIGINT: st.integers(-(2**63), 2**63 - 1),
    TypeRoot.FLOAT: st.floats(width=32),
    TypeRoot.DOUBLE: st.floats(),
    TypeRoot.VARCHAR: st.text(max_size=5),
    TypeRoot.DATE: st.dates(),
    TypeRoot.TIMESTAMP: st.datetimes(),
    TypeRoot.TIMESTAMP_LTZ: st.datetimes(timezones=st.just(ZoneInfo("UTC"))),
    TypeRoot.TIME: st.times().map(lambda t: t.replace(microsecond=0)),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[Column, AtomicType]:
    root = draw(st.sampled_from(sorted(VALUES, key=lambda root: root.value)))
    data_type = AtomicType(
        root=root,
        length=MAX_LENGTH if root is TypeRoot.VARCHAR else None,
        precision=6 if root in TIMED else None,
    )
    values = draw(st.lists(st.one_of(st.none(), VALUES[root]), max_size=8))
    array: Column = pa.array(values, to_arrow(data_type))
    return array, data_type


@given(columns(), atomic_types(), st.sampled_from(["UTC", "America/New_York"]))
def test_casts_keep_length_and_type_and_never_fill_nulls(
    column: tuple[Column, AtomicType], target: AtomicType, zone: str
) -> None:
    array, source = column
    if not is_executable(source, target):
        return
    try:
        result = cast_column(array, source, target, ZoneInfo(zone))
    except UncastableError:
        return
    result.validate()
    assert result.type == to_arrow(target)
    assert len(result) == len(array)
    assert all(
        not found.is_valid
        for found, given_ in zip(result, array, strict=True)
        if not given_.is_valid
    )


@given(columns(), atomic_types(), st.integers(0, 4), st.integers(0, 4))
def test_casts_of_slices_are_slices_of_casts(
    column: tuple[Column, AtomicType], target: AtomicType, start: int, length: int
) -> None:
    array, source = column
    if not is_executable(source, target):
        return
    try:
        whole = cast_column(array, source, target, ZoneInfo("UTC"))
    except UncastableError:
        return
    part = cast_column(array.slice(start, length), source, target, ZoneInfo("UTC"))
    nothing: Column = pa.array([], whole.type)
    assert str(pa.concat_arrays([part, nothing])) == str(
        pa.concat_arrays([whole.slice(start, length), nothing])
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_printed_doubles_are_the_doubles_they_print(value: float) -> None:
    assert float(double_text(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_printed_floats_are_the_floats_they_print(value: float) -> None:
    read = pa.array([float_text(value)]).cast(pa.float32())
    assert read[0].as_py() == value
