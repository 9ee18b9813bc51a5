import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import arrow_schema, from_arrow, row_type_from_arrow, to_arrow
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError

VARIANT = "struct<value: binary not null, metadata: binary not null>"


@pytest.mark.parametrize(
    ("text", "arrow"),
    [
        ("BOOLEAN", "bool"),
        ("TINYINT", "int8"),
        ("SMALLINT", "int16"),
        ("INT", "int32"),
        ("BIGINT", "int64"),
        ("FLOAT", "float"),
        ("DOUBLE", "double"),
        ("DECIMAL(10, 2)", "decimal128(10, 2)"),
        ("CHAR(3)", "string"),
        ("STRING", "string"),
        ("BINARY(3)", "binary"),
        ("BYTES", "binary"),
        ("DATE", "date32[day]"),
        ("TIME(0)", "time32[ms]"),
        ("TIME(9)", "time32[ms]"),
        ("TIMESTAMP(0)", "timestamp[s]"),
        ("TIMESTAMP(1)", "timestamp[ms]"),
        ("TIMESTAMP(3)", "timestamp[ms]"),
        ("TIMESTAMP(4)", "timestamp[us]"),
        ("TIMESTAMP(6)", "timestamp[us]"),
        ("TIMESTAMP(7)", "timestamp[ns]"),
        ("TIMESTAMP(9)", "timestamp[ns]"),
        ("TIMESTAMP_LTZ(3)", "timestamp[ms, tz=UTC]"),
        ("BLOB", "large_binary"),
        ("VARIANT", VARIANT),
        ("GEOMETRY", "binary"),
        ("ARRAY<INT NOT NULL>", "list<item: int32 not null>"),
        ("VECTOR<FLOAT, 3>", "fixed_size_list<item: float>[3]"),
        ("MAP<INT, DATE>", "map<int32, date32[day]>"),
        ("MULTISET<STRING>", "map<string, int32>"),
        ("ROW<a INT NOT NULL>", "struct<a: int32 not null>"),
    ],
)
def test_each_type_has_one_arrow_type(text: str, arrow: str) -> None:
    assert str(to_arrow(parse_type_text(text))) == arrow


def test_counts_of_multisets_are_never_null() -> None:
    arrow = to_arrow(parse_type_text("MULTISET<STRING>"))
    assert isinstance(arrow, pa.MapType)
    assert arrow.item_field.nullable is False


@pytest.mark.parametrize(
    ("arrow", "text"),
    [
        (pa.large_string(), "STRING"),
        (pa.string_view(), "STRING"),
        (pa.dictionary(pa.int8(), pa.string()), "STRING"),
        (pa.binary(), "BYTES"),
        (pa.binary(5), "BINARY(5)"),
        (pa.large_binary(), "BLOB"),
        (pa.uint8(), "SMALLINT"),
        (pa.uint16(), "INT"),
        (pa.uint32(), "BIGINT"),
        (pa.uint64(), "DECIMAL(20, 0)"),
        (pa.float16(), "FLOAT"),
        (pa.decimal32(5, 2), "DECIMAL(5, 2)"),
        (pa.decimal256(38, 2), "DECIMAL(38, 2)"),
        (pa.date64(), "DATE"),
        (pa.time64("ns"), "TIME(0)"),
        (pa.timestamp("s"), "TIMESTAMP(0)"),
        (pa.timestamp("ms"), "TIMESTAMP(3)"),
        (pa.timestamp("us"), "TIMESTAMP(6)"),
        (pa.timestamp("ns"), "TIMESTAMP(9)"),
        (pa.timestamp("us", "Asia/Tokyo"), "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        (pa.large_list(pa.int32()), "ARRAY<INT>"),
        (pa.list_view(pa.int32()), "ARRAY<INT>"),
        (pa.list_(pa.int32(), 4), "VECTOR<INT, 4>"),
        (pa.list_(pa.string(), 4), "ARRAY<STRING>"),
        (pa.map_(pa.string(), pa.int64()), "MAP<STRING NOT NULL, BIGINT>"),
        (to_arrow(parse_type_text("VARIANT")), "VARIANT"),
        (pa.uuid(), "BINARY(16)"),
    ],
)
def test_arrow_types_find_the_type_that_holds_their_values(arrow: pa.DataType, text: str) -> None:
    assert type_text(from_arrow(arrow)) == text


@pytest.mark.parametrize(
    "arrow",
    [
        pa.null(),
        pa.duration("s"),
        pa.month_day_nano_interval(),
        pa.decimal256(50, 2),
        pa.decimal128(5, -2),
        pa.binary(0),
        pa.dense_union([pa.field("a", pa.int32())]),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ],
)
def test_arrow_types_without_a_counterpart_are_refused(arrow: pa.DataType) -> None:
    with pytest.raises(InvalidInputError, match="Cast the column to another type first"):
        from_arrow(arrow)


def test_columns_of_arrow_data_get_ids_and_comments() -> None:
    inner = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())])
    schema = pa.schema(
        [
            pa.field("a", pa.int64(), nullable=False, metadata={"description": "the key"}),
            pa.field("r", inner, metadata={"comment": "ä"}),
            pa.field("z", pa.list_(inner)),
        ]
    )
    row_type = row_type_from_arrow(schema)
    assert [(field.id, field.name, field.description) for field in row_type] == [
        (0, "a", "the key"),
        (1, "r", "ä"),
        (4, "z", None),
    ]
    nested = row_type.fields[1].type
    assert isinstance(nested, RowType)
    assert [field.id for field in nested] == [2, 3]
    assert arrow_schema(row_type).equals(schema)


def test_the_error_names_the_column() -> None:
    with pytest.raises(
        InvalidInputError,
        match="Column 'a': Column 'b': Arrow type null has no corresponding Paimon type",
    ):
        row_type_from_arrow(pa.schema([("a", pa.struct([("b", pa.null())]))]))


def test_nullability_of_columns_is_kept() -> None:
    field = DataField(id=0, name="a", type=parse_type_text("INT NOT NULL"))
    schema = arrow_schema(RowType(fields=(field,)))
    assert schema.field("a").nullable is False
    assert row_type_from_arrow(schema).fields == (field,)
