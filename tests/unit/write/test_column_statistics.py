"""Statistics of data files: modes, truncation, bounds that cannot be given."""

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
)
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.column_statistics import (
    NONE,
    ColumnStats,
    StatsCollector,
    StatsKind,
    StatsMode,
    StatsPlan,
    column_modes,
    encode_stats,
    parse_mode,
)

INT = AtomicType(root=TypeRoot.INT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BYTES = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
DOUBLE = AtomicType(root=TypeRoot.DOUBLE)
FULL = StatsMode(kind=StatsKind.FULL)
COUNTS = StatsMode(kind=StatsKind.COUNTS)


def cut(length: int) -> StatsMode:
    return StatsMode(kind=StatsKind.TRUNCATE, length=length)


def field(data_type: DataType, name: str = "c", number: int = 0) -> DataField:
    return DataField(id=number, name=name, type=data_type)


def gathered(data_type: DataType, mode: StatsMode, *batches: Column) -> ColumnStats:
    collector = StatsCollector(StatsPlan([field(data_type)], [mode]))
    for batch in batches:
        collector.add([batch])
    return collector.finish()[0]


def bounds(stats: ColumnStats) -> list[object]:
    return [bound.as_py() for bound in stats.bounds]


def test_bounds_and_null_counts_span_all_batches() -> None:
    stats = gathered(INT, FULL, pa.array([5, None], pa.int32()), pa.array([-2, 9], pa.int32()))
    assert bounds(stats) == [-2, 9]
    assert stats.null_count == 1


def test_a_column_of_nulls_has_a_count_but_no_bounds() -> None:
    stats = gathered(INT, FULL, pa.nulls(3, pa.int32()))
    assert bounds(stats) == [None, None]
    assert stats.null_count == 3


def test_counts_mode_gathers_null_counts_only() -> None:
    stats = gathered(INT, COUNTS, pa.array([1, None], pa.int32()))
    assert bounds(stats) == [None, None]
    assert stats.null_count == 1


def test_none_mode_gathers_nothing() -> None:
    stats = gathered(INT, NONE, pa.array([1, None], pa.int32()))
    assert bounds(stats) == [None, None]
    assert stats.null_count is None


@pytest.mark.parametrize(
    ("values", "length", "expected"),
    [
        (["abcd", "abcz"], 3, ["abc", "abd"]),
        (["abc"], 3, ["abc", "abc"]),
        (["a", "ab\U0010ffff\U0010ffff!"], 4, ["a", "ac"]),
        (["", "\U0010ffff\U0010ffff!"], 2, [None, None]),
        (["中文中文"], 2, ["中文", "中斈"]),
        (["a\ud7ffx"], 2, ["a\ud7ff", "a\ue000"]),
    ],
)
def test_texts_are_cut_by_code_points_and_the_maximum_raised(
    values: Sequence[str], length: int, expected: list[object]
) -> None:
    assert bounds(gathered(STRING, cut(length), pa.array(values))) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([b"\x01\x02\x03"], [b"\x01\x02", b"\x01\x03"]),
        ([b"\x01\xff\x03"], [b"\x01\xff", b"\x02"]),
        ([b"\xff\xff\xff"], [None, None]),
        ([b"\xff\xff"], [b"\xff\xff", b"\xff\xff"]),
    ],
)
def test_binaries_are_cut_by_bytes_and_the_maximum_raised(
    values: Sequence[bytes], expected: list[object]
) -> None:
    assert bounds(gathered(BYTES, cut(2), pa.array(values))) == expected


def test_a_nan_drops_the_bounds_of_the_whole_column_but_not_the_null_count() -> None:
    stats = gathered(DOUBLE, FULL, pa.array([1.0]), pa.array([float("nan"), None]), pa.array([2.0]))
    assert bounds(stats) == [None, None]
    assert stats.null_count == 1


def test_zero_bounds_cover_both_zeros() -> None:
    stats = gathered(DOUBLE, FULL, pa.array([0.0, -0.0]))
    assert [str(value) for value in bounds(stats)] == ["-0.0", "0.0"]


def test_nested_columns_have_no_bounds() -> None:
    array_type = ArrayType(element=INT)
    stats = gathered(array_type, FULL, pa.array([[1], None], pa.list_(pa.int32())))
    assert bounds(stats) == [None, None]
    assert stats.null_count == 1


def test_dense_statistics_leave_out_columns_without_any_and_name_the_others() -> None:
    fields = [field(INT, "a", 0), field(INT, "b", 1)]
    collector = StatsCollector(StatsPlan(fields, [NONE, FULL]))
    collector.add([pa.array([1], pa.int32()), pa.array([7], pa.int32())])
    encoded = encode_stats(fields, collector.finish(), dense=True)
    assert encoded.columns == ("b",)
    assert encoded.null_counts == (0,)
    assert encoded.minimum.hex() == "0000000100000000000000000700000000000000"


def test_dense_statistics_of_all_columns_name_none() -> None:
    fields = [field(INT, "a", 0)]
    collector = StatsCollector(StatsPlan(fields, [FULL]))
    collector.add([pa.array([1], pa.int32())])
    assert encode_stats(fields, collector.finish(), dense=True).columns is None


def test_statistics_that_are_not_dense_hold_nulls_for_columns_without_any() -> None:
    fields = [field(INT, "a", 0), field(INT, "b", 1)]
    collector = StatsCollector(StatsPlan(fields, [NONE, FULL]))
    collector.add([pa.array([1], pa.int32()), pa.array([7], pa.int32())])
    encoded = encode_stats(fields, collector.finish(), dense=False)
    assert encoded.columns is None
    assert encoded.null_counts == (None, 0)
    low = decode_rows(pa.array([encoded.minimum], pa.binary()), [INT, INT], where="min")
    assert [column[0].as_py() for column in low] == [None, 7]


def test_no_statistics_at_all_are_rows_without_fields() -> None:
    fields = [field(INT)]
    encoded = encode_stats(fields, StatsCollector(StatsPlan(fields, [NONE])).finish(), dense=True)
    assert encoded.minimum == bytes(12)
    assert encoded.columns == ()


@pytest.mark.parametrize(
    ("text", "mode"),
    [("full", FULL), ("COUNTS", COUNTS), ("none", NONE), ("truncate(16)", cut(16))],
)
def test_modes_are_parsed_in_any_case(text: str, mode: StatsMode) -> None:
    assert parse_mode(text) == mode


@pytest.mark.parametrize("text", ["", "truncate", "truncate(0)", "truncate(x)", "some"])
def test_an_unknown_mode_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="mode for column statistics"):
        parse_mode(text)


def test_only_the_first_columns_keep_the_default_mode_and_explicit_modes_win() -> None:
    modes = column_modes(["a", "b", "c"], FULL, explicit={"c": COUNTS}, keep_first=1)
    assert modes == (FULL, NONE, COUNTS)


NAN = float("nan")
COLUMNS: list[tuple[AtomicType, list[object]]] = [
    (AtomicType(root=TypeRoot.BOOLEAN), [True, None, False]),
    (AtomicType(root=TypeRoot.TINYINT), [-1, None, 5]),
    (AtomicType(root=TypeRoot.SMALLINT), [-300, 4, None]),
    (AtomicType(root=TypeRoot.INT), [7, 7, 7]),
    (AtomicType(root=TypeRoot.BIGINT), [None, None, None]),
    (AtomicType(root=TypeRoot.BIGINT), [-(2**63), 2**63 - 1, 0]),
    (AtomicType(root=TypeRoot.FLOAT), [0.0, -0.0, 1.5]),
    (AtomicType(root=TypeRoot.DOUBLE), [1.0, NAN, 2.0]),
    (AtomicType(root=TypeRoot.DOUBLE), [-0.0, None, -2.5]),
    (STRING, ["inline", "longer than a word", ""]),
    (STRING, ["é" * 20, None, "\U0010ffff" * 20]),
    (BYTES, [b"\xff" * 30, b"", b"\x00"]),
    (AtomicType(root=TypeRoot.DATE), [19000, None, -1]),
    (AtomicType(root=TypeRoot.TIME), [0, 86_399_999, 5]),
    (AtomicType(root=TypeRoot.TIMESTAMP, precision=0), [-1, 5, 9]),
    (AtomicType(root=TypeRoot.TIMESTAMP, precision=3), [-1, None, 1]),
    (AtomicType(root=TypeRoot.TIMESTAMP, precision=6), [-1, 1234567, None]),
    (AtomicType(root=TypeRoot.TIMESTAMP, precision=6), [None, None, None]),
    (AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=9), [-1, 1234567891, 3]),
    (AtomicType(root=TypeRoot.DECIMAL, precision=5, scale=2), [Decimal("-1.25"), None, Decimal(9)]),
    (
        AtomicType(root=TypeRoot.DECIMAL, precision=30, scale=1),
        [Decimal("9e20"), Decimal(-1), None],
    ),
    (AtomicType(root=TypeRoot.DECIMAL, precision=30, scale=1), [None, None, None]),
]


def arrays(rows: Sequence[int]) -> list[Column]:
    """Some rows of all columns."""
    times = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
    found: list[Column] = []
    for kind, column in COLUMNS:
        values = [column[at] for at in rows]
        raw = pa.array(values, pa.int64() if kind.root in times else to_arrow(kind))
        found.append(raw.cast(to_arrow(kind)))
    return found


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("mode", [FULL, COUNTS, NONE, cut(3)])
@pytest.mark.parametrize("batches", [[[0, 1, 2]], [[0], [1], [2]], [[1], [0, 2] * 3000]])
def test_statistics_of_all_types_are_encoded_as_their_values_are(
    *, dense: bool, mode: StatsMode, batches: list[list[int]]
) -> None:
    fields = [field(kind, f"c{at}", at) for at, (kind, _) in enumerate(COLUMNS)]
    modes = [mode, FULL] * (len(fields) // 2)
    collector = StatsCollector(StatsPlan(fields, modes))
    again = StatsCollector(StatsPlan(fields, modes))
    for batch in batches:
        collector.add(arrays(batch))
        again.add(arrays(batch))
    expected = encode_stats(fields, again.finish(), dense=dense)
    assert collector.encode(dense=dense) == expected
