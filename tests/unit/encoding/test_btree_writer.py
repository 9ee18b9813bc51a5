"""Btree index files are the same, byte by byte, as if their entries were encoded one by one."""

import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyroaring import BitMap64

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, as_python
from paimon_explore.data_types.definitions import TIMESTAMPS, TypeRoot
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.encoding.global_index.btree_file import FOOTER
from paimon_explore.encoding.global_index.btree_writer import encode_btree
from paimon_explore.encoding.global_index.column_keys import (
    IndexedRows,
    SortKeys,
    grouped,
    sort_keys,
)
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key, global_index_keys
from paimon_explore.encoding.varint import encode_varint

VALUES: dict[str, Sequence[object]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, -1, 0, 127],
    "SMALLINT": [-(2**15), 0, 300],
    "INT": [-(2**31), -1, 0, 2**31 - 1],
    "BIGINT": [-(2**63), -1, 0, 2**63 - 1],
    "FLOAT": [-math.inf, -1.5, -0.0, 0.0, 1e-40, math.inf, math.nan],
    "DOUBLE": [-math.inf, -1.5, -0.0, 0.0, 1e-310, math.inf, math.nan, -math.nan],
    "DATE": [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)],
    "TIME(3)": [time(0), time(23, 59, 59, 999_000)],
    "DECIMAL(18, 2)": [Decimal("-9999999999999999.99"), Decimal("-0.01"), Decimal(7)],
    "DECIMAL(38, 2)": [Decimal(-(10**35)), Decimal("-1.28"), Decimal("-1.29"), Decimal(0), 10**35],
    "TIMESTAMP(0)": [-62_135_596_800, -1, 0, 253_402_300_799],
    "TIMESTAMP(3)": [-62_135_596_800_000, -1, 0, 253_402_300_799_999],
    "TIMESTAMP(6)": [-62_135_596_800_000_000, -1, 0, 127, 1_000_001, 253_402_300_799_999_999],
    "TIMESTAMP(9)": [-(2**63), -1, 0, 127, 128, 999_999, 1_000_000, 2**63 - 1],
    "TIMESTAMP_LTZ(6)": [-130, 0, 16],
    "CHAR(3)": ["abc", "a  "],
    "STRING": ["", "a", "aa", "é", "z" * 200, "\x00", "😀"],
}


@pytest.mark.parametrize("text", VALUES)
@pytest.mark.parametrize("block_bytes", [1, 40, 100, 64 << 10])
def test_a_file_is_as_if_entries_were_encoded_one_by_one(text: str, block_bytes: int) -> None:
    keys = global_index_keys(parse_type_text(text))
    rng = np.random.default_rng(5)
    for repeated in (1, 40):
        values = [*VALUES[text], None] * repeated
        column = pa.array(values, to_arrow(keys.data_type))
        row_ids = np.sort(rng.choice(1 << 36, len(values), replace=False))
        found, nulls = sort_keys(column, row_ids, keys)
        ordered = found.sorted()
        rows = grouped(ordered, keys)
        whole = b"".join(encode_btree([rows], nulls, block_bytes=block_bytes))
        groups = _groups(column, row_ids, keys)
        assert whole == b"".join(_one_by_one(groups, nulls, keys, block_bytes))
        parts = [grouped(part, keys) for part in _by_key(ordered, rows)]
        assert b"".join(encode_btree(parts, nulls, block_bytes=block_bytes)) == whole


def test_files_without_keys() -> None:
    keys = global_index_keys(parse_type_text("INT"))
    assert b"".join(encode_btree([], BitMap64([3]))) == b"".join(
        _one_by_one([], BitMap64([3]), keys, 100)
    )


@pytest.mark.parametrize("text", ["INT", "STRING"])
@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_entries_of_many_sizes(text: str, seed: int) -> None:
    keys = global_index_keys(parse_type_text(text))
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.integers(0, 10 ** rng.integers(1, 5), 3_000)).tolist()
    values = numbers if text == "INT" else [str(number) for number in numbers]
    column = pa.array(values, to_arrow(keys.data_type))
    row_ids = np.arange(len(values)) + int(rng.integers(0, 20_000))
    block_bytes = int(rng.integers(20, 3_000))
    rows = grouped(sort_keys(column, row_ids, keys)[0].sorted(), keys)
    assert b"".join(encode_btree([rows], BitMap64(), block_bytes=block_bytes)) == b"".join(
        _one_by_one(_groups(column, row_ids, keys), BitMap64(), keys, block_bytes)
    )


def _by_key(ordered: SortKeys, rows: IndexedRows) -> Iterator[SortKeys]:
    for start, end in pairwise(rows.starts.tolist()):
        yield ordered.slice(start, end)


def _groups(column: Column, row_ids: Ints, keys: GlobalIndexKeys) -> list[tuple[Key, list[int]]]:
    root = keys.data_type.root
    if root in TIMESTAMPS:
        column = column.cast(pa.int64())
    elif root in {TypeRoot.DATE, TypeRoot.TIME}:
        column = column.cast(pa.int32())
    found: dict[Key, list[int]] = {}
    for value, row in zip(as_python(column), row_ids.tolist(), strict=True):
        if value is not None:
            found.setdefault(keys.of_value(value), []).append(row)  # type: ignore[arg-type]  # of the type
    return sorted(found.items())


def _one_by_one(
    groups: Sequence[tuple[Key, Sequence[int]]],
    nulls: BitMap64,
    keys: GlobalIndexKeys,
    block_bytes: int,
) -> Iterator[bytes]:
    """The parts of a file as the layout describes them."""
    at = 0
    index: list[bytes] = []
    block: list[bytes] = []
    last = b""

    def end_block() -> bytes:
        nonlocal at, block
        data = _block(block)
        index.append(_entry(last, encode_varint(at) + encode_varint(len(data) - 5)))
        at += len(data)
        block = []
        return data

    for key, rows in groups:
        last = keys.encode(key)
        block.append(_entry(last, b"".join(map(encode_varint, (len(rows), *rows)))))
        if len(_block(block)) - 5 > block_bytes:
            yield end_block()
    if block:
        yield end_block()
    null_part = (0, 0)
    if nulls:
        data = nulls.serialize()
        yield data + struct.pack("<I", zlib.crc32(data))
        null_part = (at, len(data))
        at += len(data) + 4
    data = _block(index)
    yield data
    yield FOOTER.pack(0, 0, 0, at, len(data) - 5, *null_part, 1, 0x50425449)


def _entry(key: bytes, value: bytes) -> bytes:
    return encode_varint(len(key)) + key + encode_varint(len(value)) + value


def _block(entries: Sequence[bytes]) -> bytes:
    data = b"".join(entries)
    if len({len(entry) for entry in entries}) == 1:
        data += struct.pack("<iB", len(entries[0]), 0)
    else:
        starts = accumulate(map(len, entries[:-1]), initial=0) if entries else ()
        data += b"".join(struct.pack("<i", start) for start in starts)
        data += struct.pack("<iB", len(entries), 1)
    return data + b"\0" + struct.pack("<I", zlib.crc32(data + b"\0"))
