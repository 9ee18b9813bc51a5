"""MAP columns with the storage layout `shared-shredding` in Parquet files of this library."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import Catalog, Table
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import DataField, MapType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.encoding.shared_shredding import (
    SharedShreddingEncoder,
    column_count,
    shredding_of,
)
from paimon_explore.write.formats.shredded_parquet import ShreddedParquetWriter
from support.rows import exact
from support.small_tables import new_catalog
from support.type_strategies import types, values

Map = Sequence[tuple[str, object]] | None
KEY = parse_type("STRING NOT NULL", "key")
BIGINTS = MapType(key=KEY, value=parse_type("BIGINT", "value"))
MAPS = to_arrow(BIGINTS)
PREFIX = "paimon.map.shared-shredding."


def file_of(data_type: MapType, groups: Sequence[Column], columns: int) -> bytes:
    """A Parquet file with one row group for each array of maps."""
    sink = pa.BufferOutputStream()
    writer = ShreddedParquetWriter(
        sink,
        [DataField(id=4, name="m", type=data_type)],
        max_columns={"m": columns},
        compression="zstd",
    )
    for group in groups:
        writer.write([group])
    writer.close()
    data = sink.getvalue().to_pybytes()
    assert writer.position() == len(data)
    return data


def read_back(data: bytes, data_type: MapType) -> list[object]:
    file = open_parquet(pa.BufferReader(data), "f")
    groups = tuple(range(pq.ParquetFile(pa.BufferReader(data)).num_row_groups))
    batches = file.batches([StoredColumn(name="m", type=data_type)], groups, 1000)
    return [value for batch in batches for value in exact(batch.columns[0])]


def metadata_in(data: bytes) -> dict[str, str]:
    """The metadata of the column, without its field id."""
    found = pq.ParquetFile(pa.BufferReader(data)).schema_arrow.field("m").metadata or {}
    return {
        key.decode().removeprefix(PREFIX): text.decode()
        for key, text in found.items()
        if not key.startswith(b"PARQUET:")
    }


@st.composite
def maps(draw: st.DrawFn) -> tuple[MapType, list[list[object]]]:
    """A type of maps, and row groups of its values."""
    data_type = MapType(key=KEY, value=draw(types()))
    keys = st.sampled_from(["a", "b", "c", "é", "", "𝄞"])
    pairs = st.tuples(keys, values(data_type.value))
    one = st.none() | st.lists(pairs, max_size=5, unique_by=lambda pair: str(pair[0]))
    return data_type, draw(st.lists(st.lists(one, max_size=5), max_size=3))


@given(maps(), st.integers(1, 4))
def test_maps_of_any_values_come_back(
    drawn: tuple[MapType, list[list[object]]], columns: int
) -> None:
    data_type, groups = drawn
    arrays: list[Column] = [pa.array(group, to_arrow(data_type)) for group in groups]
    found = read_back(file_of(data_type, arrays, columns), data_type)
    assert found == [value for array in arrays for value in exact(array)]


@given(maps(), st.integers(1, 4), st.integers(0, 3))
def test_slices_of_maps_are_encoded_like_their_copies(
    drawn: tuple[MapType, list[list[object]]], columns: int, start: int
) -> None:
    data_type, groups = drawn
    array: Column = pa.array([m for group in groups for m in group], to_arrow(data_type))
    part = array.slice(start, 4)
    copy: Column = pa.array(as_python(part), array.type)
    encoded = [SharedShreddingEncoder(data_type, columns).encode(one) for one in (part, copy)]
    for one in encoded:
        one.validate(full=True)
    assert exact(encoded[0]) == exact(encoded[1])


def test_the_file_has_the_layout_and_metadata_of_java() -> None:
    groups: list[list[Map]] = [
        [[("b", 1), ("a", 2)], None, []],
        [[("a", None), ("c", 4), ("d", 5)], [("c", 6)]],
    ]
    data = file_of(BIGINTS, [pa.array(group, MAPS) for group in groups], 2)
    file = pq.ParquetFile(pa.BufferReader(data))
    text = str(file.schema)
    for line in (
        "optional group field_id=4 m {",
        "optional group field_id=0 __field_mapping (List)",
        "optional int32 field_id=536870912 element",
        "optional int64 field_id=1 __col_0",
        "optional int64 field_id=2 __col_1",
        "optional group field_id=3 __overflow (Map)",
        "required int32 field_id=536867838 key",
        "optional int64 field_id=536873984 value",
    ):
        assert line in text
    assert file.read().column("m").to_pylist() == [
        {"__field_mapping": [0, 1], "__col_0": 1, "__col_1": 2, "__overflow": None},
        None,
        {"__field_mapping": [-1, -1], "__col_0": None, "__col_1": None, "__overflow": None},
        {"__field_mapping": [2, 1], "__col_0": 4, "__col_1": None, "__overflow": [(3, 5)]},
        {"__field_mapping": [2, -1], "__col_0": 6, "__col_1": None, "__overflow": None},
    ]
    found = metadata_in(data)
    stored = {key.encode(): value.encode() for key, value in found.items() if key[0] == "p"}
    stored.update({f"{PREFIX}{k}".encode(): v.encode() for k, v in found.items() if k[0] != "p"})
    assert shredding_of(stored, "f", "m").names == {0: "b", 1: "a", 2: "c", 3: "d"}
    del found["field-dict"]
    assert found == {
        "paimon.map.storage-layout": "shared-shredding",
        "version": "1",
        "field-dict-compression": "zstd",
        "field-dict-original-size": "25",
        "field-columns": '{"0":[0],"1":[1],"2":[0]}',
        "overflow-set": "[3]",
        "num-columns": "2",
        "max-row-width": "3",
    }


def test_a_file_without_rows_has_one_column() -> None:
    data = file_of(BIGINTS, [], 9)
    assert pq.ParquetFile(pa.BufferReader(data)).metadata.num_rows == 0
    assert metadata_in(data)["num-columns"] == "1"


@pytest.mark.parametrize(
    ("sizes", "maximum", "count"),
    [
        ([], 9, 1),
        ([None, None], 9, 1),
        ([0, 0], 9, 1),
        ([3, 1, 2, None], 9, 3),
        ([3, 1, 2], 2, 2),
        ([2] * 19 + [6], 256, 6),  # not much more than the percentile
        ([2] * 19 + [7], 256, 2),
        ([40] * 19 + [50], 256, 50),
        ([40] * 19 + [51], 256, 40),
    ],
)
def test_the_first_rows_of_a_file_decide_the_number_of_columns(
    sizes: list[int | None], maximum: int, count: int
) -> None:
    rows = [None if n is None else [(str(i), i) for i in range(n)] for n in sizes]
    assert column_count(pa.array(rows, MAPS), maximum) == count


def test_many_rows_are_encoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimon_explore.encoding.shared_shredding._CELLS", 6)
    rows: list[Map] = [[(f"k{(n + i) % 7}", n) for i in range(n % 5)] for n in range(40)]
    array: Column = pa.array(rows, MAPS)
    found = read_back(file_of(BIGINTS, [array], 3), BIGINTS)
    assert found == exact(array)


OPTIONS = {
    "fields.m.map.storage-layout": "shared-shredding",
    "fields.m.map.shared-shredding.max-columns": "2",
}


def rows_from(start: int, count: int) -> list[dict[str, object]]:
    shapes: list[Mapping[str, object] | None] = [
        {"a": start, "b": None},
        None,
        {},
        {"c": 3, "d": 4, f"k{start}": 5},
    ]
    return [{"id": start + i, "m": shapes[i % 4]} for i in range(count)]


def catalog_in(folder: Path) -> Catalog:
    return new_catalog(folder)


def as_dicts(table: Table) -> list[dict[str, object]]:
    rows = table.to_arrow().sort_by("id").to_pylist()
    return [{**row, "m": None if row["m"] is None else dict(row["m"])} for row in rows]


def is_shredded(table: Table) -> set[bool]:
    """Whether the Parquet files of a table store structs."""
    schemas = [pq.read_schema(path) for path in Path(table.path).rglob("*-*.parquet")]
    return {pa.types.is_struct(schema.field("m").type) for schema in schemas}


KINDS: dict[str, tuple[list[str], dict[str, str]]] = {
    "append": ([], {"bucket": "-1"}),
    "append with row tracking": ([], {"bucket": "-1", "row-tracking.enabled": "true"}),
    "primary key": (["id"], {"bucket": "1"}),
    "thin primary key": (["id"], {"bucket": "1", "data-file.thin-mode": "true"}),
    "changelog": (["id"], {"bucket": "1", "changelog-producer": "input"}),
    "small files": ([], {"bucket": "-1", "target-file-row-num": "3"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_tables_with_shredded_maps_are_written_and_compacted(kind: str, tmp_path: Path) -> None:
    keys, options = KINDS[kind]
    columns = {"id": "INT", "m": "MAP<STRING NOT NULL, BIGINT>"}
    table = catalog_in(tmp_path).create_table(
        "db.t", columns, primary_key=keys, options={**OPTIONS, **options}
    )
    written = [rows_from(start, 8) for start in (0, 8)]
    for rows in written:
        (table.upsert if keys else table.append)(rows)
    wanted = [*written[0], *written[1]]
    assert as_dicts(table) == wanted
    assert is_shredded(table) == {True}
    table.compact()
    assert as_dicts(table) == wanted
    assert is_shredded(table) == {True}
    assert table.scan(["id"], "m IS NULL").count() == 4


def test_statistics_of_shredded_maps_are_those_of_maps(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    columns = {"id": "INT", "m": "MAP<STRING NOT NULL, BIGINT>"}
    found = []
    for name, options in (("plain", {}), ("shredded", OPTIONS)):
        table = catalog.create_table(f"db.{name}", columns, options=options)
        table.append(rows_from(0, 8))
        files = table.inspect.system_table("files").to_arrow()
        stats = ["null_value_counts", "min_value_stats", "max_value_stats", "record_count"]
        found.append(files.select(stats).to_pylist())
    assert found[0] == found[1]


def test_other_formats_keep_plain_maps(tmp_path: Path) -> None:
    columns = {"id": "INT", "m": "MAP<STRING NOT NULL, BIGINT>"}
    options = {**OPTIONS, "file.format": "orc"}
    table = catalog_in(tmp_path).create_table("db.t", columns, options=options)
    table.append(rows_from(0, 8))
    assert as_dicts(table) == rows_from(0, 8)
