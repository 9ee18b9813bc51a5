"""Types on the way to Spark and back, without a session."""

from datetime import UTC, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import types as st

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.spark_types import (
    from_spark,
    spark_schema,
    spark_type,
    to_spark,
    wire_schema,
    wire_type,
)
from paimon_explore.write.input.arrow_cast import conform


def row_type(**columns: object) -> RowType:
    parsed = [(name, parse_type(kind, name)) for name, kind in columns.items()]
    return RowType(
        fields=tuple(DataField(id=i, name=name, type=t) for i, (name, t) in enumerate(parsed))
    )


@pytest.mark.parametrize(
    ("paimon", "spark"),
    [
        ("BOOLEAN", st.BooleanType()),
        ("TINYINT", st.ByteType()),
        ("SMALLINT", st.ShortType()),
        ("BIGINT", st.LongType()),
        ("DECIMAL(20, 3)", st.DecimalType(20, 3)),
        ("CHAR(3)", st.StringType()),
        ("VARBINARY(9)", st.BinaryType()),
        ("DATE", st.DateType()),
        ("TIME(3)", st.TimeType(3)),
        ("TIME(9)", st.TimeType(6)),
        ("TIMESTAMP(9)", st.TimestampNTZType()),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", st.TimestampType()),
        ("VARIANT", st.VariantType()),
        ("BLOB", st.BinaryType()),
        ({"type": "ARRAY", "element": "INT NOT NULL"}, st.ArrayType(st.IntegerType(), False)),  # noqa: FBT003
        (
            {"type": "MULTISET", "element": "STRING"},
            st.MapType(st.StringType(), st.IntegerType(), False),  # noqa: FBT003
        ),
        (
            {"type": "MAP", "key": "STRING", "value": "INT"},
            st.MapType(st.StringType(), st.IntegerType(), True),  # noqa: FBT003
        ),
    ],
)
def test_every_type_has_one_in_spark(paimon: object, spark: st.DataType) -> None:
    assert spark_type(parse_type(paimon, "c")) == spark


def test_nullability_and_comments_are_kept() -> None:
    field = DataField(id=0, name="a", type=parse_type("INT NOT NULL", "a"), description="the key")
    made = spark_schema(RowType(fields=(field,))).fields[0]
    assert (made.name, made.nullable, made.metadata) == ("a", False, {"comment": "the key"})


def batch_of(columns: RowType, rows: list[dict[str, object]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(columns))


def test_batches_have_the_declared_schema_to_the_letter() -> None:
    columns = row_type(
        a="INT NOT NULL",
        s="TIMESTAMP(0)",
        l="TIMESTAMP(3) WITH LOCAL TIME ZONE",
        t="TIME(3)",
        b="BLOB",
        m={"type": "MULTISET", "element": "STRING"},
    )
    rows: list[dict[str, object]] = [
        {
            "a": 1,
            "s": datetime(1969, 12, 31, 23, 59, 59),  # noqa: DTZ001 - without zone on purpose
            "l": datetime(2026, 1, 1, tzinfo=UTC),
            "t": time(1, 2, 3, 4000),
            "b": b"x",
            "m": [("k", 2)],
        },
        {"a": 2, "s": None, "l": None, "t": None, "b": None, "m": None},
    ]
    wire = wire_schema(spark_schema(columns))
    found = to_spark(batch_of(columns, rows), columns, wire)
    assert found.schema.equals(wire, check_metadata=True)
    assert found.schema.types[1:4] == [
        pa.timestamp("us"),
        pa.timestamp("us", "UTC"),
        pa.time64("ns"),
    ]
    assert found.to_pylist() == rows


def test_nanoseconds_are_cut_towards_the_past_at_any_depth() -> None:
    columns = row_type(
        t="TIMESTAMP(9)",
        r={
            "type": "ROW",
            "fields": [
                {"id": 5, "name": "x", "type": {"type": "ARRAY", "element": "TIMESTAMP(9)"}},
                {
                    "id": 6,
                    "name": "y",
                    "type": {"type": "MAP", "key": "TIMESTAMP(9)", "value": "DECIMAL(5, 2)"},
                },
            ],
        },
    )
    moment = pa.scalar(-1, pa.timestamp("ns"))
    schema = arrow_schema(columns)
    nested = pa.array(
        [None, {"x": [moment, None], "y": [(moment, Decimal("1.25"))]}, {"x": None, "y": None}],
        schema.field("r").type,
    )
    batch = pa.RecordBatch.from_arrays(
        [pa.array([None, -1, 1999], pa.timestamp("ns")), nested], schema=schema
    )
    wire = wire_schema(spark_schema(columns))
    for part in (batch, batch.slice(1)):
        found = to_spark(part, columns, wire)
        found.validate(full=True)
        flat = found.column(0).cast(pa.int64()).to_pylist()
        assert flat == [None, -1, 1][-part.num_rows :]
        inside = found.column(1).slice(part.num_rows - 2, 1)
        assert inside.field("x").values.cast(pa.int64()).to_pylist()[:1] == [-1]  # type: ignore[attr-defined]
        assert found.column(1)[-1].as_py() == {"x": None, "y": None}


def test_variants_get_the_mark_that_spark_looks_for() -> None:
    columns = row_type(v="VARIANT")
    rows: list[dict[str, object]] = [
        {"v": {"value": b"\x0c\x05", "metadata": b"\x01"}},
        {"v": None},
    ]
    found = to_spark(batch_of(columns, rows), columns, wire_schema(spark_schema(columns)))
    metadata = found.schema.field("v").type.field("metadata").metadata
    assert metadata == {b"variant": b"true"}
    assert found.to_pylist() == rows


def test_times_of_spark_are_handed_on_in_full() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1_999_999], pa.time64("ns"))], names=["c"])
    found = from_spark(batch, ["t"])
    assert found.schema == pa.schema([("t", pa.time64("ns"))])
    times = row_type(t="TIME(3)").fields[0].type
    assert conform(pa.array([2_000_000], pa.time64("ns")), times, where="t").type == pa.time32("ms")
    with pytest.raises(InvalidInputError, match="more than 3 fractional-second digits"):
        conform(found.column(0), times, where="t")


def test_types_that_paimon_lacks_are_null_on_the_wire() -> None:
    assert wire_type(st.DayTimeIntervalType()) == pa.null()
