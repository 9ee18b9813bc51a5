"""The physical layout of data files per format."""

import datetime as dt
import io
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.formats.orc_format import OrcWriter
from paimon_explore.write.formats.parquet_format import ParquetWriter
from paimon_explore.write.input.table_batches import InputShape, open_rows
from support.new_tables import all_files, new_table
from support.small_tables import new_catalog

Rows = list[dict[str, object]]
EARLY = dt.datetime(1950, 1, 1, 0, 0, 0, 1)  # noqa: DTZ001  # without zone
LATE = dt.datetime(2024, 1, 2, 3, 4, 5, 6)  # noqa: DTZ001  # without zone


def fields_of(columns: Mapping[str, object]) -> tuple[DataField, ...]:
    return assigned_ids(
        [DataField(id=0, name=n, type=parse_type(t, n)) for n, t in columns.items()]
    )


def batches(columns: Mapping[str, object], rows: Rows) -> list[pa.RecordBatch]:
    shape = InputShape(row_type=RowType(fields=fields_of(columns)))
    return list(open_rows(rows, shape))


def parquet(columns: Mapping[str, object], *groups: Rows) -> pq.ParquetFile:
    sink = pa.BufferOutputStream()
    writer = ParquetWriter(sink, fields_of(columns), compression="zstd")
    for rows in groups:
        for batch in batches(columns, rows):
            writer.write(batch.columns)
    writer.close()
    data = sink.getvalue().to_pybytes()
    assert writer.position() == len(data)
    return pq.ParquetFile(io.BytesIO(data))


NANOS = {"type": "ARRAY", "element": "TIMESTAMP(9)"}
PHYSICAL = {
    "i8": ("TINYINT", "INT32"),
    "i32": ("INT NOT NULL", "INT32"),
    "d9": ("DECIMAL(9, 2)", "INT32"),
    "d18": ("DECIMAL(18, 2)", "INT64"),
    "d20": ("DECIMAL(20, 2)", "FIXED_LEN_BYTE_ARRAY"),
    "tm": ("TIME(3)", "INT32"),
    "t0": ("TIMESTAMP(0)", "INT64"),
    "t6": ("TIMESTAMP(6)", "INT64"),
    "t9": ("TIMESTAMP(9)", "INT96"),
    "l9": ("TIMESTAMP(9) WITH LOCAL TIME ZONE", "INT96"),
    "s": ("STRING", "BYTE_ARRAY"),
}


def test_parquet_columns_have_the_physical_types_of_paimon() -> None:
    file = parquet({name: kind for name, (kind, _) in PHYSICAL.items()})
    found = {c.name: c.physical_type for c in map(file.schema.column, range(len(PHYSICAL)))}
    assert found == {name: physical for name, (_, physical) in PHYSICAL.items()}
    assert file.schema_arrow.field("i32").nullable is False
    assert file.metadata.metadata is None


def test_parquet_fields_carry_the_ids_of_columns_and_derived_ids() -> None:
    columns = {
        "a": "INT",
        "l": {"type": "ARRAY", "element": {"type": "ARRAY", "element": "INT"}},
        "m": {"type": "MAP", "key": "INT NOT NULL", "value": "INT"},
        "r": {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "INT"}]},
    }
    text = str(parquet(columns).schema)
    for expected in (
        "field_id=0 a",
        "field_id=1 l",
        "field_id=536871936 element",  # 536870911 + 1024 * 1 + 1
        "field_id=536871937 element",
        "required int32 field_id=536868862 key",  # 536870911 - 1024 * 2 - 1
        "field_id=536872960 value",
        "field_id=3 r",
        "field_id=4 x",
    ):
        assert expected in text


def test_parquet_keeps_nanoseconds_in_int96_over_all_row_groups() -> None:
    columns = {"t": "TIMESTAMP(9)", "n": NANOS, "a": "INT"}
    groups: list[Rows] = [
        [{"t": EARLY, "n": [EARLY, None], "a": 1}, {"t": None, "n": None, "a": 2}],
        [{"t": LATE, "n": [], "a": 3}],
    ]
    file = parquet(columns, *groups)
    assert file.num_row_groups == 2
    table = file.read()
    nanos = [value.value for value in table.column("t")]
    assert nanos == [-631151999999999000, None, 1704164645000006000]
    assert file.metadata.row_group(0).column(0).statistics is None
    plain = file.metadata.row_group(0).column(2).statistics
    assert plain is not None
    assert plain.max == 2
    lists = [value.as_py() for value in table.column("n").cast(pa.list_(pa.timestamp("us")))]
    assert lists == [[EARLY, None], None, []]


def test_parquet_vectors_and_multisets_are_lists_and_maps() -> None:
    columns = {
        "v": {"type": "VECTOR", "element": "FLOAT", "length": 2},
        "m": {"type": "MULTISET", "element": "STRING"},
        "x": "VARIANT",
    }
    rows: Rows = [
        {"v": [1.0, 2.0], "m": {"a": 2}, "x": {"value": b"v", "metadata": b"m"}},
        {"v": None, "m": None, "x": None},
    ]
    table = parquet(columns, rows).read()
    assert table.column("v").to_pylist() == [[1.0, 2.0], None]
    assert table.column("m").to_pylist() == [[("a", 2)], None]
    assert table.column("x").to_pylist() == [{"value": b"v", "metadata": b"m"}, None]


def test_parquet_keeps_nanoseconds_inside_maps_and_rows() -> None:
    columns = {
        "m": {"type": "MAP", "key": "STRING NOT NULL", "value": "TIMESTAMP(9)"},
        "r": {"type": "ROW", "fields": [{"id": 9, "name": "t", "type": "TIMESTAMP(9)"}]},
        "s": {"type": "MULTISET", "element": "TIMESTAMP(0)"},
    }
    rows: Rows = [
        {"m": {"k": EARLY, "n": None}, "r": {"t": LATE}, "s": {LATE.replace(microsecond=0): 3}},
        {"m": None, "r": None, "s": None},
        {"m": {}, "r": {"t": None}, "s": {}},
    ]
    file = parquet(columns, rows)
    paths = [file.schema.column(i).path for i in range(len(file.schema))]
    assert paths == [
        "m.key_value.key",
        "m.key_value.value",
        "r.t",
        "s.key_value.key",
        "s.key_value.value",
    ]
    kinds = [file.schema.column(i).physical_type for i in range(len(file.schema))]
    assert kinds == ["BYTE_ARRAY", "INT96", "INT96", "INT64", "INT32"]
    table = file.read()
    micros = pa.map_(pa.string(), pa.timestamp("us"))
    maps = [value.as_py() for value in table.column("m").cast(micros)]
    assert maps == [[("k", EARLY), ("n", None)], None, []]
    seconds = [
        [key.replace(microsecond=0) for key, _ in row or []]
        for row in table.column("s").to_pylist()
    ]
    assert seconds == [[LATE.replace(microsecond=0)], [], []]
    assert [row is None for row in table.column("r").to_pylist()] == [False, True, False]


def test_parquet_uses_dictionaries_where_values_repeat() -> None:
    rows: Rows = [{"a": i, "b": i % 3} for i in range(1000)]
    meta = parquet({"a": "INT", "b": "INT"}, rows).metadata.row_group(0)
    assert meta.column(0).has_dictionary_page is False
    assert meta.column(1).has_dictionary_page is True


def test_parquet_looks_for_repeated_values_inside_columns_and_between_nulls() -> None:
    kinds = {
        "n": "INT",
        "l": {"type": "ARRAY", "element": "INT"},
        "m": {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
    }
    rows: Rows = [
        {"n": i if i % 10 == 0 else None, "l": [i, -i - 1], "m": {f"k{i % 3}": i}}
        for i in range(1000)
    ]
    meta = parquet(kinds, rows).metadata.row_group(0)
    found = [meta.column(at).has_dictionary_page for at in range(4)]
    assert found == [False, False, True, False]


def test_parquet_finds_values_that_recur_far_apart() -> None:
    numbers = np.random.default_rng(1).integers(0, [[6_000], [60_000]], (2, 120_000))
    rows: Rows = [{"a": a, "b": b} for a, b in zip(*numbers.tolist(), strict=True)]
    meta = parquet({"a": "INT", "b": "INT"}, rows).metadata.row_group(0)
    assert [meta.column(at).has_dictionary_page for at in range(2)] == [True, False]


def test_a_parquet_file_without_rows_is_a_file() -> None:
    assert parquet({"a": "INT", "t": "TIMESTAMP(9)"}).read().num_rows == 0


SPATIAL = {
    "g": "GEOMETRY",
    "h": "GEOMETRY('EPSG:3857')",
    "e": "GEOGRAPHY",
    "f": "GEOGRAPHY(EPSG:4326, karney)",
    "a": {"type": "ARRAY", "element": "GEOMETRY"},
    "t": "TIMESTAMP(9)",
}


@pytest.mark.skipif(
    int(pa.__version__.partition(".")[0]) < 21, reason="the type is unknown before Arrow 21"
)
def test_geo_columns_have_the_logical_types_of_java() -> None:
    place = struct.pack("<BIdd", 1, 1, 2.0, 3.0)
    row: dict[str, object] = dict.fromkeys("ghef", place)
    rows: Rows = [{**row, "a": [place, None], "t": dt.datetime(1970, 1, 1)}, {}]  # noqa: DTZ001
    file = parquet(SPATIAL, rows)
    found = {c.path: str(c.logical_type) for c in map(file.schema.column, range(6))}
    assert found == {
        "g": "Geometry(crs=OGC:CRS84)",
        "h": "Geometry(crs=EPSG:3857)",
        "e": "Geography(crs=OGC:CRS84, algorithm=spherical)",
        "f": "Geography(crs=EPSG:4326, algorithm=karney)",
        "a.list.element": "Geometry(crs=OGC:CRS84)",
        "t": "None",
    }
    assert file.schema.column(5).physical_type == "INT96"
    assert file.metadata.row_group(0).column(0).statistics is None
    assert file.read().column("g").to_pylist() == [place, None]
    assert file.read().column("a").to_pylist() == [[place, None], None]


def test_blobs_in_parquet_are_binaries() -> None:
    file = parquet({"b": "BLOB"}, [{"b": b"x"}, {"b": None}])
    assert file.schema_arrow.field("b").type == pa.binary()
    assert file.read().column("b").to_pylist() == [b"x", None]


def orc_table(columns: Mapping[str, object], rows: Rows) -> pa.Table:
    sink = pa.BufferOutputStream()
    writer = OrcWriter(sink, fields_of(columns), compression="zstd")
    for batch in batches(columns, rows):
        writer.write(batch.columns)
    writer.close()
    return orc.ORCFile(pa.BufferReader(sink.getvalue())).read()


ROW_OF_INT = {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "INT"}]}


@pytest.mark.parametrize(
    ("data_type", "wrapped"),
    [
        (ROW_OF_INT, lambda row: row),
        ({"type": "ARRAY", "element": ROW_OF_INT}, lambda row: [row]),
        ({"type": "MAP", "key": "INT NOT NULL", "value": ROW_OF_INT}, lambda row: [(1, row)]),
        (
            {"type": "ROW", "fields": [{"id": 8, "name": "r", "type": ROW_OF_INT}]},
            lambda row: {"r": row},
        ),
    ],
)
@pytest.mark.parametrize("first", [0, 5])
def test_orc_stores_slices_of_rows_with_nulls(
    data_type: object, wrapped: Callable[[object], object], first: int
) -> None:
    columns = {"v": data_type}
    rows: Rows = [{"v": wrapped({"x": i} if i % 3 else None)} for i in range(20)]
    sink = pa.BufferOutputStream()
    writer = OrcWriter(sink, fields_of(columns), compression="zstd")
    [batch] = batches(columns, rows)
    writer.write(batch.slice(first, 9).columns)
    writer.close()
    found = orc.ORCFile(pa.BufferReader(sink.getvalue())).read()
    assert found.to_pylist() == rows[first : first + 9]


def test_orc_stores_times_as_integers_and_the_rest_as_it_is() -> None:
    columns = {
        "t": "TIME(3)",
        "d": "DECIMAL(20, 2)",
        "l": {"type": "ARRAY", "element": "TIME(0)"},
        "m": {"type": "MULTISET", "element": "STRING"},
    }
    rows: Rows = [
        {"t": dt.time(0, 0, 1), "d": Decimal("1.25"), "l": [dt.time(1, 0)], "m": {"a": 1}},
        {"t": None, "d": None, "l": None, "m": None},
    ]
    assert orc_table(columns, rows).to_pylist() == [
        {"t": 1000, "d": Decimal("1.25"), "l": [3_600_000], "m": [("a", 1)]},
        {"t": None, "d": None, "l": None, "m": None},
    ]


def test_an_orc_file_without_rows_is_a_file() -> None:
    columns = {
        "m": {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        "r": {"type": "ROW", "fields": [{"id": 9, "name": "t", "type": "TIMESTAMP(9)"}]},
    }
    assert orc_table(columns, []).num_rows == 0


def test_orc_holds_early_timestamps_with_a_fraction() -> None:
    columns = {"t": "TIMESTAMP(6)"}
    given: list[dict[str, object]] = [{"t": EARLY}, {"t": LATE}, {"t": None}]
    assert orc_table(columns, given).to_pylist() == given


def test_orc_holds_descriptors_of_blobs() -> None:
    found = orc_table({"b": "BLOB"}, [{"b": b"x"}, {"b": None}])
    assert (found.schema.field("b").type, found.to_pylist()) == (
        pa.binary(),
        [{"b": b"x"}, {"b": None}],
    )


@pytest.mark.parametrize(
    "data_type",
    ["VARIANT", {"type": "VECTOR", "element": "FLOAT", "length": 2}],
)
def test_orc_refuses_types_that_it_cannot_hold(data_type: object) -> None:
    with pytest.raises(UnsupportedFeatureError, match="ORC"):
        orc_table({"x": data_type}, [])


@pytest.mark.parametrize(("size", "groups"), [("40 kb", 5), ("1 mb", 1)])
def test_row_groups_have_the_size_that_the_options_ask_for(size: str, groups: int) -> None:
    options = {"file.block-size": size, "metadata.stats-mode": "none"}
    store, schema = new_table({"a": "BIGINT"}, options=options)
    write_append(store, schema, pa.table({"a": range(24_000)}))
    (name,) = [path for path in all_files(store) if path.endswith(".parquet")]
    data = store.file_io.read(f"{store.paths.root}/{name}")
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == groups


def test_parquet_has_no_rows_without_fields(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", {"r": "ROW<>"})
    with pytest.raises(UnsupportedFeatureError, match="ROW without fields to a Parquet file"):
        table.append([{"r": {}}])
