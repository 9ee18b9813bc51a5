"""ORC data files: stripes, CHAR, zones, and what the tail tells."""

import datetime as dt
import random
from collections.abc import Sequence
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.orc.protobuf import (
    ProtobufError,
    decode_message,
    number,
    raw,
    signed,
)
from paimon_explore.encoding.orc.reader import OrcDataFile, open_orc
from paimon_explore.encoding.orc.run_length import decode_runs
from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned, zone_of
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from support.files import orc_bytes, stored
from support.foreign_files import ORC_FROM_TOKYO, ORC_WITHOUT_ZONE

LTZ = "TIMESTAMP(6) WITH LOCAL TIME ZONE"
INSTANT = dt.datetime(2024, 7, 1, 0, 30, 0, 123_000, tzinfo=dt.UTC)
UTC_READER = LocalZoned(reader_zone=dt.UTC)
NINE_HOURS = dt.timedelta(hours=9)


def opened(data: bytes, ltz: LocalZoned = UTC_READER) -> OrcDataFile:
    return open_orc(pa.BufferReader(data), "/t/f.orc", ltz)


def read(
    data: bytes, columns: Sequence[StoredColumn], spans: Sequence[int] = (0,), rows: int = 100
) -> list[tuple[int, list[list[object]]]]:
    """First position and columns of each batch."""
    batches = opened(data).batches(columns, spans, rows)
    return [(batch.first, [as_python(array) for array in batch.columns]) for batch in batches]


def many_stripes() -> bytes:
    return orc_bytes({"i": pa.array(range(3000)), "s": pa.array(["x" * 99] * 3000)}, 1)


def test_stripes_are_the_spans_and_positions_stay_physical() -> None:
    file = opened(many_stripes())
    assert len(file.spans) > 2
    assert file.spans[0].rows + file.spans[1].rows == file.spans[2].first
    first = file.spans[1].first
    batch = next(file.batches([stored("i", "BIGINT")], (1,), 5))
    assert batch.first == first
    assert as_python(batch.columns[0]) == list(range(first, first + 5))


def test_without_columns_there_are_still_rows() -> None:
    file = opened(orc_bytes({"i": pa.array(range(5))}))
    batches = list(file.batches([], (0,), 3))
    assert [(batch.first, batch.rows) for batch in batches] == [(0, 3), (3, 2)]


def test_columns_and_members_are_found_by_name() -> None:
    rows = pa.array([{"a": 1, "b": {"c": 2, "d": 3}}, None])
    data = orc_bytes({"r": rows, "x.y": pa.array([4, 5])})
    inner = {"type": "ROW", "fields": [{"id": 2, "name": "d", "type": "BIGINT"}]}
    wanted = stored("r", {"type": "ROW", "fields": [{"id": 1, "name": "b", "type": inner}]})
    assert read(data, [stored("x.y", "BIGINT"), wanted]) == [(0, [[4, 5], [{"b": {"d": 3}}, None]])]


def test_time_is_an_int_of_milliseconds() -> None:
    data = orc_bytes({"t": pa.array([1000, None], pa.int32())})
    assert read(data, [stored("t", "TIME(3)")]) == [(0, [[dt.time(0, 0, 1), None]])]


def test_instants_written_in_another_zone_are_restored() -> None:
    columns = [
        stored("z", LTZ),
        stored("r", {"type": "ROW", "fields": [{"id": 0, "name": "z", "type": LTZ}]}),
        stored("a", {"type": "ARRAY", "element": LTZ}),
        stored("m", {"type": "MAP", "key": "CHAR(3)", "value": LTZ}),
    ]
    assert read(ORC_FROM_TOKYO, columns) == [
        (
            0,
            [
                [INSTANT, None],
                [{"z": INSTANT}, None],
                [[INSTANT, None], None],
                [[("k", INSTANT)], None],
            ],
        )
    ]


def test_a_file_that_names_no_zone_is_read_in_that_of_the_reader() -> None:
    for zone, expected in ((ZoneInfo("Asia/Tokyo"), INSTANT), (dt.UTC, INSTANT - NINE_HOURS)):
        file = opened(ORC_WITHOUT_ZONE, LocalZoned(reader_zone=zone))
        batch = next(file.batches([stored("z", LTZ)], (0,), 9))
        assert as_python(batch.columns[0]) == [expected, None]


@pytest.mark.parametrize(
    ("name", "hours"), [("GMT+8", 8), ("GMT-03:30", -3.5), ("UTC+0100", 1), ("Asia/Tokyo", 9)]
)
def test_java_names_of_zones_are_known(name: str, hours: float) -> None:
    offset = dt.datetime(2024, 1, 1, tzinfo=zone_of(name)).utcoffset()
    assert offset == dt.timedelta(hours=hours)


def test_an_unknown_zone_is_named() -> None:
    with pytest.raises(UnsupportedFeatureError, match="Nowhere"):
        zone_of("Nowhere/Land")


def test_without_the_legacy_type_instants_are_taken_as_they_are() -> None:
    file = opened(ORC_FROM_TOKYO, LocalZoned(legacy=False))
    batch = next(file.batches([stored("z", LTZ)], (0,), 9))
    assert as_python(batch.columns[0]) == [INSTANT - NINE_HOURS, None]


def test_the_padding_of_char_is_cut() -> None:
    assert read(ORC_FROM_TOKYO, [stored("c", "CHAR(5)")]) == [(0, [["ab", None]])]


def test_a_string_that_is_a_char_to_the_table_is_cut_too() -> None:
    data = orc_bytes({"s": pa.array(["ab  "]), "l": pa.array([["a ", None, " "]])})
    listed = stored("l", {"type": "ARRAY", "element": "CHAR(5)"})
    assert read(data, [stored("s", "CHAR(5)"), listed]) == [(0, [["ab"], [["a", None, ""]]])]
    assert opened(data).bounds(stored("s", "CHAR(5)")) is None


def test_trailing_spaces_of_a_string_stay() -> None:
    data = orc_bytes({"s": pa.array(["ab  "])})
    assert read(data, [stored("s", "STRING")]) == [(0, [["ab  "]])]


# examples of the ORC specification, and a run whose second value has a patch
@pytest.mark.parametrize(
    ("version", "data", "values"),
    [
        (1, "61 00 07", [7] * 100),
        (1, "61 ff 64", list(range(100, 0, -1))),
        (1, "fb 02 03 06 07 0b", [2, 3, 6, 7, 11]),
        (2, "0a 27 10", [10000] * 5),
        (2, "5e 03 5c a1 ab 1e de ad be ef", [23713, 43806, 57005, 48879]),
        (
            2,
            "8e 13 2b 21 07 d0 1e 00 14 70 28 32 3c 46 50 5a 64 6e 78 82 8c 96 a0 aa b4 be fc e8",
            [2030, 2000, 2020, 1000000, *range(2040, 2200, 10)],
        ),
        (2, "c6 09 02 02 22 42 42 46", [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
        (2, "c0 04 0a 03", [10, 8, 6, 4, 2]),
    ],
)
def test_runs_of_integers(version: int, data: str, values: list[int]) -> None:
    encoded = bytes.fromhex(data)
    assert decode_runs(encoded * 2, len(values) * 2, version=version).tolist() == values * 2
    for end in range(len(encoded)):
        with pytest.raises(ProtobufError):
            decode_runs(encoded[:end], len(values), version=version)


def wide(count: int) -> "pa.Array[pa.Scalar[pa.DataType]]":
    """Times of the years 1 to 9999, many of whose fractions are equal, ascending or outliers."""
    chosen = random.Random(5)  # noqa: S311
    days = [chosen.randrange(-719_162, 2_932_896) for _ in range(count)]
    fractions = [0, *range(100, 800), *[chosen.randrange(10**6) for _ in range(900)], 7, 7, 7, 7]
    ticks = [day * 86_400_000_000 + fractions[i % 1605] for i, day in enumerate(days)]
    return pa.array([None if i % 7 == 3 else t for i, t in enumerate(ticks)], pa.timestamp("us"))


@pytest.mark.parametrize("rows", [1000, 4096])
def test_times_that_nanoseconds_cannot_represent(rows: int) -> None:
    """Of all years, at any depth, beside other columns; batches of any size."""
    times, count = wide(4000), 4000
    fields = [pa.field("y", pa.int32()), pa.field("t", times.type)]
    numbers = pa.array(range(count), pa.int32())
    struct = pa.StructArray.from_arrays([numbers, times], fields=fields)
    offsets = pa.array([*range(0, count, 2), *[count] * (count // 2 + 1)], pa.int32())
    listed = pa.ListArray.from_arrays(offsets, times)
    data = orc_bytes({"n": numbers, "t": times, "r": struct, "l": listed, "m": listed})
    row = {"type": "ROW", "fields": [{"id": 1, "name": "t", "type": "TIMESTAMP(6)"}]}
    columns = [
        stored("n", "INT"),
        stored("l", {"type": "ARRAY", "element": "TIMESTAMP(6)"}),
        stored("t", "TIMESTAMP(6)"),
        stored("r", row),
    ]
    batches = list(opened(data).batches(columns, (0,), rows))
    found = [pa.concat_arrays([batch.columns[i] for batch in batches]) for i in range(4)]
    assert found[0].equals(numbers)
    assert as_python(found[1]) == as_python(listed)
    assert found[2].equals(times)
    assert pc.struct_field(found[3], 0).equals(times)


def test_nanoseconds_are_not_rounded_to_represent_other_times() -> None:
    data = orc_bytes({"t": pa.array([0, 253_402_300_799_000_001], pa.timestamp("us"))})
    with pytest.raises(UnsupportedFeatureError, match=r"out of range for Arrow's timestamp\[ns\]"):
        next(opened(data).batches([stored("t", "TIMESTAMP(9)")], (0,), 9))
    (rest,) = opened(data).batches([stored("t", "TIMESTAMP(3)")], (0,), 9)
    assert rest.columns[0].cast(pa.int64()).to_pylist() == [0, 253_402_300_799_000]


@pytest.mark.parametrize("keep", [0, 1, 3, 50, -1])
def test_a_file_that_was_cut_is_corrupt(keep: int) -> None:
    with pytest.raises(CorruptFileError, match=r"/t/f\.orc"):
        opened(ORC_FROM_TOKYO[:keep])


def test_statistics_of_stripes_are_told() -> None:
    data = orc_bytes(
        {
            "i": pa.array([3, 1, None], pa.int16()),
            "s": pa.array(["b", None, None]),
            "d": pa.array([2, 1, 0], pa.date32()),
            "f": pa.array([1.5, 2.5, 3.5]),
        }
    )
    file = opened(data)
    numbers = file.bounds(stored("i", "SMALLINT"))
    texts = file.bounds(stored("s", "STRING"))
    dates = file.bounds(stored("d", "DATE"))
    assert numbers is not None
    assert (as_python(numbers.minimum), as_python(numbers.maximum)) == ([1], [3])
    assert as_python(numbers.null_count) == [1]
    assert texts is not None
    assert (as_python(texts.minimum), as_python(texts.maximum)) == (["b"], ["b"])
    assert as_python(texts.null_count) == [2]
    assert dates is not None
    assert as_python(dates.maximum) == [dt.date(1970, 1, 3)]
    assert file.bounds(stored("f", "DOUBLE")) is None


def test_messages_are_read_without_a_schema() -> None:
    message = decode_message(bytes.fromhex("08 96 01 12 02 6869 18 03 25 01020304"))
    assert number(message, 1) == 150
    assert raw(message, 2) == b"hi"
    assert signed(message, 3) == -2
    assert signed(message, 9) is None
    assert raw(message, 4) == bytes([1, 2, 3, 4])


@pytest.mark.parametrize("text", ["08", "12 05 61", "0b", "08 ff ff ff ff ff ff ff ff ff ff ff"])
def test_broken_messages_are_refused(text: str) -> None:
    with pytest.raises(ProtobufError):
        decode_message(bytes.fromhex(text))


def test_a_field_of_another_kind_is_refused() -> None:
    message = decode_message(bytes.fromhex("08 01 12 00"))
    with pytest.raises(ProtobufError):
        raw(message, 1)
    with pytest.raises(ProtobufError):
        number(message, 2)
