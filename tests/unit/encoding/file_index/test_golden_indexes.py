"""Every index of the golden tables, asked for every value of its column and for bounds between."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import DataType, MapType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.file_index.bloom_filter import BloomFilter
from paimon_explore.encoding.file_index.container import decode_container, encode_container
from paimon_explore.encoding.file_index.index_condition import Condition, FileIndex, Relation
from paimon_explore.encoding.file_index.index_keys import IndexValue
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings, decode_index
from support.avro_records import records
from support.golden import GoldenTables

TABLES = [
    "fi_bitmap",
    "fi_bloom_embedded",
    "fi_bloom_external",
    "fi_bloom_types",
    "fi_map",
    "fi_more",
    "fi_pk",
]
WRITERS = ["java200", "java142", "java09"]
ORDERS = {Relation.LT, Relation.LE, Relation.GT, Relation.GE}


@dataclass
class GoldenIndex:
    """One index of one data file, and the values of its column as literals."""

    kind: str
    column: str
    data_type: DataType
    data: bytes | None
    settings: IndexSettings
    stored: Column
    values: Sequence[IndexValue | None]


def indexes_of(folder: Path) -> Iterator[GoldenIndex]:
    for manifest in sorted(folder.glob("manifest/manifest-*-[0-9]*")):
        if manifest.name.startswith("manifest-list"):
            continue
        for entry in records(manifest):
            file = entry["_FILE"]
            assert isinstance(file, dict)
            path = folder / "bucket-0" / file["_FILE_NAME"]
            container = file["_EMBEDDED_FILE_INDEX"]
            for extra in file["_EXTRA_FILES"]:
                if extra.endswith(".index"):
                    container = (path.parent / extra).read_bytes()
            if entry["_KIND"] == 0 and container is not None and path.exists():
                yield from indexes_in(container, path, schema_of(folder, file["_SCHEMA_ID"]))


@dataclass
class GoldenSchema:
    """Columns and options of a schema file."""

    types: dict[str, DataType]
    options: dict[str, str]

    def settings(self, column: str) -> IndexSettings:
        prefix = f"file-index.bloom-filter.{column}"
        return IndexSettings(
            items=int(self.options.get(f"{prefix}.items", "1000000")),
            fpp=float(self.options.get(f"{prefix}.fpp", "0.1")),
        )


def schema_of(folder: Path, schema_id: int) -> GoldenSchema:
    schema = json.loads((folder / "schema" / f"schema-{schema_id}").read_text(encoding="utf-8"))
    types = {field["name"]: parse_type(field["type"], "a schema") for field in schema["fields"]}
    return GoldenSchema(types, schema["options"])


def indexes_in(container: bytes, path: Path, schema: GoldenSchema) -> Iterator[GoldenIndex]:
    table = pq.ParquetFile(path).read()
    parts = decode_container(container, path=path.name)
    found: list[tuple[str, str, bytes | None]] = []
    for part in parts:
        name, _, key = part.column.removesuffix("]").partition("[")
        data_type = schema.types[name]
        column = table.column(name).combine_chunks()
        if isinstance(data_type, MapType):
            maps = [dict(pairs or ()) for pairs in column.to_pylist()]
            data_type = data_type.value
            column = pa.array([entries.get(key) for entries in maps], to_arrow(data_type))
        stored = column.cast(to_arrow(data_type))
        data = None if part.start is None else container[part.start : part.start + part.length]
        found.append((part.column, part.kind, data))
        settings = schema.settings(part.column)
        yield GoldenIndex(
            part.kind, part.column, data_type, data, settings, stored, literals(stored)
        )
    assert encode_container(found) == container


def literals(column: Column) -> list[IndexValue | None]:
    plain = column
    if pa.types.is_temporal(column.type):
        narrow = pa.types.is_date32(column.type) or pa.types.is_time32(column.type)
        plain = column.cast(pa.int32() if narrow else pa.int64())
    values = []
    for value in as_python(plain):
        assert value is None or isinstance(value, IndexValue)
        values.append(value)
    return values


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("table", TABLES)
def test_an_index_finds_exactly_the_rows_of_every_value(
    golden: GoldenTables, writer: str, table: str
) -> None:
    if table not in golden.names(writer):
        pytest.skip("a release without this table")
    kinds = set()
    for found in indexes_of(golden.table(writer, table).folder):
        kinds.add(found.kind)
        check_index(found, decode_index(found.kind, found.data, found.data_type, path="a file"))
        check_our_own(found)
    assert kinds or (writer, table) == ("java09", "fi_pk")  # 0.9 writes none for PK tables


def check_our_own(found: GoldenIndex) -> None:
    """An index that we make of the same column answers alike."""
    builder = IndexBuilder(found.kind, found.data_type, found.settings)
    builder.add(found.stored.slice(0, 3))
    builder.add(found.stored.slice(3))
    data = builder.encode()
    check_index(found, decode_index(found.kind, data, found.data_type, path="ours"))
    if found.kind != "bitmap" and found.data is not None:  # there Java has the order of a hash map
        assert data == found.data


def check_index(found: GoldenIndex, index: FileIndex) -> None:
    held = {value for value in found.values if value is not None}
    for value in held:
        check_one_value(found, index, value)
    some = tuple(sorted(held, key=str)[:3])
    check(found, index, Condition(Relation.IN, some), lambda other: other in some)
    check(found, index, Condition(Relation.NOT_IN, some), lambda other: other not in some)
    present = rows_where(found, lambda _: True)
    nulls = BitMap(range(len(found.values))) - present
    if index.rows(Condition(Relation.IS_NOT_NULL)) is not None:
        assert index.rows(Condition(Relation.IS_NOT_NULL)) == present
        assert index.rows(Condition(Relation.IS_NULL)) == (nulls if found.data else None)


def check_one_value(found: GoldenIndex, index: FileIndex, value: IndexValue) -> None:
    tests: list[tuple[Relation, Callable[[IndexValue], bool]]] = [
        (Relation.EQ, lambda other: other == value),
        (Relation.NE, lambda other: other != value),
        (Relation.LT, lambda other: other < value),  # type: ignore[operator]
        (Relation.LE, lambda other: other <= value),  # type: ignore[operator]
        (Relation.GT, lambda other: other > value),  # type: ignore[operator]
        (Relation.GE, lambda other: other >= value),  # type: ignore[operator]
    ]
    for test, holds in tests:
        check(found, index, Condition(test, (value,)), holds)


def check(
    found: GoldenIndex,
    index: FileIndex,
    condition: Condition,
    holds: Callable[[IndexValue], bool],
) -> None:
    expected = rows_where(found, holds)
    if isinstance(index, BloomFilter):
        assert index.may_match(condition) or not expected
        return
    rows = index.rows(condition)
    if rows is None:
        assert found.kind == "bitmap"
        assert condition.relation in ORDERS
        return
    assert rows == expected, (found.kind, found.column, condition)
    assert index.may_match(condition) == bool(expected)


def rows_where(found: GoldenIndex, holds: Callable[[IndexValue], bool]) -> BitMap:
    return BitMap(
        [row for row, value in enumerate(found.values) if value is not None and holds(value)]
    )
