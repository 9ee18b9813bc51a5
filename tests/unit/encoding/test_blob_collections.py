"""Arrays and maps of BLOB in blob files."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore import Table
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.blob.blob_collections import (
    decode_array,
    decode_map,
    encode_array,
    encode_map,
)
from paimon_explore.encoding.blob.map_keys import Key
from paimon_explore.errors import UnsupportedFeatureError
from support.shredded_maps import table_of
from support.small_tables import new_catalog

JAVA_ARRAY = "42434241 01 03000000 78 797a 020306 03000000"
"""Of x, null and yz."""
JAVA_EMPTY_ARRAY = "42434241 01 00000000 00000000"
JAVA_MAPS: dict[str, tuple[list[tuple[Key, bytes | None]], str]] = {
    "STRING": (
        [("a", b"x"), ("b", b"yy")],
        "4243424d 01 02000000 61 62 78 7979 0200 0202 02000000 02000000",
    ),
    "CHAR(3)": ([("c", None)], "4243424d 01 01000000 63 02 01 01000000 01000000"),
    "TINYINT": (
        [(5, b"x"), (-2, b"xy")],
        "4243424d 01 02000000 05 fe 78 7879 0200 0202 02000000 02000000",
    ),
    "SMALLINT": ([(5, b"x")], "4243424d 01 01000000 0500 78 04 02 01000000 01000000"),
    "INT": (
        [(5, b"x"), (-2, b"xy")],
        "4243424d 01 02000000 05000000 feffffff 78 7879 0800 0202 02000000 02000000",
    ),
    "BIGINT": ([], "4243424d 01 00000000 00000000 00000000"),
    "BYTES": ([(b"\xff\x00", None)], "4243424d 01 01000000 ff00 04 01 01000000 01000000"),
    "BOOLEAN": (
        [(True, b"x"), (False, b"xy")],
        "4243424d 01 02000000 01 00 78 7879 0200 0202 02000000 02000000",
    ),
    "DECIMAL(10, 2)": (
        [(Decimal("-1.25"), b"x")],
        "4243424d 01 01000000 83ffffffffffffff 78 10 02 01000000 01000000",
    ),
    "DECIMAL(30, 3)": (
        [(Decimal("-1.250"), b"x"), (Decimal("0.128"), b"xy")],
        "4243424d 01 02000000 fb1e 0080 78 7879 0400 0202 02000000 02000000",
    ),
}
"""Entries as Java 2.0.0 writes them; bytes, BOOLEAN and DECIMAL as the next version does."""
BLOBS = st.none() | st.binary(max_size=300)


def test_arrays_are_those_of_java() -> None:
    values = [b"x", None, b"yz"]
    assert encode_array(values) == bytes.fromhex(JAVA_ARRAY)
    assert decode_array(bytes.fromhex(JAVA_ARRAY)) == values
    assert encode_array([]) == bytes.fromhex(JAVA_EMPTY_ARRAY)
    assert decode_array(bytes.fromhex(JAVA_EMPTY_ARRAY)) == []


@pytest.mark.parametrize("key", JAVA_MAPS)
def test_maps_are_those_of_java(key: str) -> None:
    entries, text = JAVA_MAPS[key]
    kind = parse_type(key, "test")
    assert encode_map(entries, kind) == bytes.fromhex(text)
    assert decode_map(bytes.fromhex(text), kind) == entries


@given(st.lists(BLOBS, max_size=9), st.lists(st.tuples(st.text(max_size=9), BLOBS), max_size=9))
def test_values_come_back(
    values: list[bytes | None], entries: list[tuple[Key, bytes | None]]
) -> None:
    assert decode_array(encode_array(values)) == values
    text = parse_type("STRING", "test")
    assert decode_map(encode_map(entries, text), text) == entries


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), BLOBS), max_size=9))
def test_whole_numbers_as_keys_come_back(entries: list[tuple[Key, bytes | None]]) -> None:
    kind = parse_type("BIGINT", "test")
    assert decode_map(encode_map(entries, kind), kind) == entries


def test_dates_and_times_are_stored_as_numbers() -> None:
    for name, key, number in (
        ("DATE", dt.date(1969, 12, 31), -1),
        ("TIME(3)", dt.time(0, 0, 1, 5000), 1005),
    ):
        kind = parse_type(name, "test")
        assert decode_map(encode_map([(key, b"x")], kind), kind) == [(number, b"x")]


@pytest.mark.parametrize("key", ["DOUBLE", "TIMESTAMP(3)"])
def test_other_types_of_keys_are_unsupported(key: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match="BLOB"):
        encode_map([], parse_type(key, "test"))


@pytest.mark.parametrize("text", [JAVA_ARRAY, JAVA_MAPS["INT"][1]])
def test_another_version_is_unsupported(text: str) -> None:
    data = bytearray(bytes.fromhex(text))
    data[4] = 2
    with pytest.raises(UnsupportedFeatureError, match="Version 2"):  # noqa: PT012 - one of two
        if text == JAVA_ARRAY:
            decode_array(bytes(data))
        else:
            decode_map(bytes(data), parse_type("INT", "test"))


# ------------------------------------------------------------ tables


EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
Rows = Sequence[dict[str, object]]


def rows_of(table: Table) -> list[dict[str, object]]:
    return sorted(table.to_arrow().to_pylist(), key=lambda row: int(str(row["id"])))


def test_a_table_of_java_is_read_and_written(tmp_path: Path) -> None:
    table = table_of("java_map_of_blobs", tmp_path)
    first: list[dict[str, object]] = [
        {"id": 1, "m": [("a", b"x"), ("b", b"yy")]},
        {"id": 2, "m": None},
        {"id": 3, "m": [("c", None)]},
    ]
    assert rows_of(table) == first
    assert table.scan(["id"], "m IS NULL").to_arrow().to_pylist() == [{"id": 2}]
    more: list[dict[str, object]] = [{"id": 4, "m": [("d", b"z" * 1000)]}, {"id": 5, "m": []}]
    table.append(pa.Table.from_pylist(more, schema=table.to_arrow().schema))
    assert rows_of(table) == [*first, *more]
    assert table.scan().count() == 5
    assert table.maintenance.fsck(read_rows=True) == []


TYPES: dict[str, tuple[pa.DataType, object]] = {
    "arrays": (pa.list_(pa.large_binary()), [b"1", None, b""]),
    "maps by text": (pa.map_(pa.string(), pa.large_binary()), [("k", b"1"), ("é", None)]),
    "maps by number": (pa.map_(pa.int32(), pa.large_binary()), [(7, b"1"), (-1, b"")]),
}


@pytest.mark.parametrize("kind", TYPES)
def test_columns_of_many_blobs_are_written_read_and_rewritten(kind: str, tmp_path: Path) -> None:
    data_type, value = TYPES[kind]
    schema = pa.schema([("id", pa.int32()), ("v", pa.int32()), ("b", data_type)])
    table = new_catalog(tmp_path).create_table("db.t", schema, options=EVOLVING)
    rows: list[dict[str, object]] = [
        {"id": n, "v": n, "b": None if n % 3 == 0 else [] if n % 3 == 1 else value}
        for n in range(8)
    ]
    for part in (rows[:5], rows[5:]):
        table.append(pa.Table.from_pylist(part, schema=schema))
    assert rows_of(table) == rows
    table.update({"v": 100}, where="id >= 6")
    wanted = [{**row, "v": 100 if int(str(row["id"])) >= 6 else row["v"]} for row in rows]
    assert rows_of(table) == wanted
    table.compact(full=True)
    assert rows_of(table) == wanted
    assert table.maintenance.fsck(read_rows=True) == []


def test_keys_that_blob_files_do_not_hold_are_named(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int32()), ("b", pa.map_(pa.float64(), pa.large_binary()))])
    table = new_catalog(tmp_path).create_table("db.t", schema, options=EVOLVING)
    with pytest.raises(UnsupportedFeatureError, match="MAP<DOUBLE"):
        table.append(pa.Table.from_pylist([{"id": 1, "b": []}], schema=schema))
