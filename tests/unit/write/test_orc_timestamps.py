"""Timestamps before 1970 in ORC files: what is stored is what Java stores."""

import io
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import orc

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.encoding.orc.file_tail import read_tail
from paimon_explore.encoding.orc.protobuf import decode_message, number
from paimon_explore.encoding.orc.reader import open_orc
from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.write.formats.orc_format import OrcWriter
from support.files import stored

NANOS = AtomicType(root=TypeRoot.TIMESTAMP, precision=9)
MICROS = AtomicType(root=TypeRoot.TIMESTAMP, precision=6)
MILLIS = AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=3)
INT = AtomicType(root=TypeRoot.INT)


def written(
    columns: Sequence["pa.Array[pa.Scalar[pa.DataType]]"],
    types: Sequence[DataType],
    compression: str = "none",
    repeat: int = 1,
) -> bytes:
    fields = [DataField(id=i, name=f"c{i}", type=kind) for i, kind in enumerate(types)]
    file = io.BytesIO()
    sink = pa.PythonFile(file, mode="w")
    writer = OrcWriter(sink, fields, compression=compression, stripe_bytes=1024)
    for _ in range(repeat):
        writer.write(columns)
    writer.close()
    assert writer.position() == len(file.getvalue())
    return file.getvalue()


def stamps(ticks: Sequence[int | None], kind: DataType) -> "pa.Array[pa.Scalar[pa.DataType]]":
    return pa.array(ticks, pa.int64()).cast(to_arrow(kind))


def streams(data: bytes) -> dict[tuple[int, int], bytes]:
    """The bytes of the first stripe's streams by column and kind."""
    file = pa.BufferReader(data)
    tail = read_tail(file, "test")
    at, size = tail.stripe_footers[0]
    found: dict[tuple[int, int], bytes] = {}
    place = len(b"ORC")
    for value in decode_message(data[at : at + size])[1]:
        assert isinstance(value, bytes)
        told = decode_message(value)
        length = number(told, 3)
        found[number(told, 2), number(told, 1)] = data[place : place + length]
        place += length
    assert place == at
    return found


def numbers(stream: bytes, *, signed: bool) -> list[int]:
    """Runs of the kind DIRECT, whole bytes wide."""
    widths = {7: 1, 15: 2, 23: 3, 27: 4, 28: 5, 29: 6, 30: 7, 31: 8}
    found: list[int] = []
    at = 0
    while at < len(stream):
        assert stream[at] >> 6 == 1
        width = widths[stream[at] >> 1 & 31]
        count = ((stream[at] & 1) << 8 | stream[at + 1]) + 1
        at += 2
        found += [int.from_bytes(stream[at + i * width :][:width], "big") for i in range(count)]
        at += count * width
    return [(n >> 1) ^ -(n & 1) for n in found] if signed else found


def test_seconds_and_nanoseconds_are_those_that_java_stores() -> None:
    ticks = [-1_500_000_000, -1_000_000_001, -1_999_999_999, -999_999_999, 1_500_000_000]
    found = streams(written([stamps(ticks, NANOS)], [NANOS]))
    seconds = [second + 1_420_070_400 for second in numbers(found[1, 1], signed=True)]
    assert seconds == [-1, -1, -2, -1, 1]
    zeros = 7  # eight of them are left out
    assert numbers(found[1, 5], signed=False) == [
        5 << 3 | zeros,
        999_999_999 << 3,
        1 << 3,
        1 << 3,
        5 << 3 | zeros,
    ]


NESTED = RowType(
    fields=(
        DataField(id=1, name="l", type=ArrayType(element=MICROS)),
        DataField(id=2, name="m", type=MapType(key=MILLIS, value=NANOS)),
        DataField(id=3, name="n", type=INT),
    )
)


@pytest.mark.parametrize("compression", ["none", "zlib", "snappy", "lz4", "zstd"])
def test_everything_reads_back(compression: str) -> None:
    random = np.random.default_rng(7)
    ticks = random.integers(-(10**18), 10**18, 3000).tolist()
    plain = stamps([None if tick % 7 == 0 else tick for tick in ticks], NANOS)
    rows = [
        None
        if tick % 5 == 0
        else {
            "l": None if tick % 3 == 0 else [tick // 1000, None][: tick % 3],
            "m": None if tick % 11 == 0 else [(tick // 10**6, tick)][: tick % 2],
            "n": tick % 100,
        }
        for tick in ticks
    ]
    nested = pa.array(
        rows,
        pa.struct(
            [
                ("l", pa.list_(pa.int64())),
                ("m", pa.map_(pa.int64(), pa.int64())),
                ("n", pa.int32()),
            ]
        ),
    ).cast(to_arrow(NESTED))
    ids = pa.array(range(len(ticks)), pa.int32())
    data = written([ids, plain, nested], [INT, NANOS, NESTED], compression, repeat=3)
    file = orc.ORCFile(pa.BufferReader(data))
    assert file.nstripes > 1 or compression != "none"
    back = file.read()
    for column, given in zip(back.columns, (ids, plain, nested), strict=True):
        whole = pa.chunked_array([given] * 3)
        assert column.to_pylist() == whole.cast(column.type).to_pylist()


def test_a_file_without_such_values_is_what_pyarrow_writes() -> None:
    data = written([stamps([-2_000_000, None, 5], MICROS)], [MICROS])
    assert (1, 6) in streams(data)  # its row groups
    past = written([stamps([-2_000_001, None, 5], MICROS)], [MICROS])
    assert {kind for _, kind in streams(past)} == {0, 1, 5}
    assert orc.ORCFile(pa.BufferReader(past)).nrows == 3


def test_times_that_nanoseconds_cannot_represent_are_stored() -> None:
    ticks = [253_402_300_799_999_999, -62_135_596_800_000_000, -1_500_000, None, 5]
    data = written([stamps(ticks, MICROS)], [MICROS])
    (batch,) = open_orc(pa.BufferReader(data), "f.orc", LocalZoned()).batches(
        [stored("c0", "TIMESTAMP(6)")], (0,), 9
    )
    assert batch.columns[0].cast(pa.int64()).to_pylist() == ticks
    seconds = numbers(streams(data)[1, 1], signed=True)
    assert seconds[2] + 1_420_070_400 == -1  # as Java


def test_the_last_second_before_1970_has_no_place_in_the_format() -> None:
    field = DataField(id=0, name="c0", type=MICROS)
    writer = OrcWriter(pa.PythonFile(io.BytesIO(), mode="w"), [field], compression="none")
    with pytest.raises(UnsupportedFeatureError, match="last second before 1970"):
        writer.write([stamps([0, -500_000], MICROS)])
    writer.abort()
    (found,) = orc.read_table(
        pa.BufferReader(written([stamps([-999_999_999], NANOS)], [NANOS]))
    ).to_pylist()
    assert found["c0"].value == -999_999_999


def test_an_aborted_writer_leaves_nothing_behind() -> None:
    file = io.BytesIO()
    field = DataField(id=0, name="c0", type=MICROS)
    writer = OrcWriter(pa.PythonFile(file, mode="w"), [field], compression="none")
    writer.write([stamps([-1_500_000], MICROS)])
    writer.abort()
    assert file.getvalue() == b""
