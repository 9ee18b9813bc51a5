"""Every kind of value into every type, by every door: unchanged, or refused with the reason.

The tables say what becomes of a value: for each type the value that is read back, or words of the
error. Types that are named nowhere refuse the value for its kind ("without a cast").
"""

import datetime as dt
import math
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column, build_list, build_struct
from paimon_explore.data_types.definitions import ArrayType, DataField, DataType, MapType, RowType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input.python_values import constant_column
from paimon_explore.write.input.table_batches import InputShape, Rows, open_rows
from support.depth import some

TYPES = {
    "B": "BOOLEAN",
    "I1": "TINYINT",
    "I2": "SMALLINT",
    "I4": "INT",
    "I8": "BIGINT",
    "F4": "FLOAT",
    "F8": "DOUBLE",
    "DEC": "DECIMAL(5, 2)",
    "CH": "CHAR(3)",
    "STR": "STRING",
    "BIN": "BINARY(3)",
    "BYT": "BYTES",
    "BLOB": "BLOB",
    "DATE": "DATE",
    "TIME": "TIME(3)",
    "TS3": "TIMESTAMP(3)",
    "TS6": "TIMESTAMP(6)",
    "TS9": "TIMESTAMP(9)",
    "TZ3": "TIMESTAMP_LTZ(3)",
    "TZ6": "TIMESTAMP_LTZ(6)",
    "TZ9": "TIMESTAMP_LTZ(9)",
}
KINDS: Mapping[str, DataType] = {name: parse_type_text(text) for name, text in TYPES.items()}
ALL = " ".join(TYPES)
INTS, FLOATS, TEXT, BYTES = "I1 I2 I4 I8", "F4 F8", "CH STR", "BIN BYT BLOB"
LOCAL, ZONED = "TS3 TS6 TS9", "TZ3 TZ6 TZ9"
WITHOUT_CAST = "cannot be stored without a cast"
NOT_WHOLE = "is not a whole number"
RANGE = "is out of range"
TOO_FINE = "fractional-second digits"
PLACES = "has more than 2 decimal places"
DIGITS = "has more than 3 digits before the decimal point"

Outcome = tuple[str, object]
"""Types, and the value that is read back from each."""
Refusal = tuple[str, str]
"""Types, and words of the error."""


class Color(Enum):
    """A member is not its value."""

    RED = 1


class Level(IntEnum):
    """A member is an int."""

    LOW = 1


class Word(StrEnum):
    """A member is a str."""

    YES = "yes"


NO_NAN: list[Refusal] = [(INTS, NOT_WHOLE), ("DEC", "not a finite")]


def number(value: int) -> list[Outcome]:
    """An integer that all types of numbers have."""
    return [(INTS, value), (FLOATS, float(value)), ("DEC", Decimal(f"{value}.00"))]


def day(value: dt.date) -> list[Outcome]:
    return [("DATE", value), (LOCAL, dt.datetime(value.year, value.month, value.day))]  # noqa: DTZ001 - wall clock


def single(value: float) -> float:
    """The nearest value of 32 bits."""
    return float(np.float32(value))


DAY = dt.date(2024, 1, 2)
MIDNIGHT = dt.datetime(2024, 1, 2)  # noqa: DTZ001 - wall clock
MILLIS = dt.datetime(2024, 1, 2, 3, 4, 5, 678_000)  # noqa: DTZ001 - wall clock
MICROS = MILLIS.replace(microsecond=678_001)
ZONE = dt.timezone(dt.timedelta(hours=2))
AWARE = MILLIS.replace(tzinfo=ZONE)
INSTANT = dt.datetime(2024, 1, 2, 1, 4, 5, 678_000, dt.UTC)
FAR = dt.datetime(9999, 12, 31, 23)  # noqa: DTZ001 - wall clock
NANOS = "2024-01-02 03:04:05.678000001"

PYTHON: list[tuple[object, list[Outcome], list[Refusal]]] = [
    # missing
    (None, [(ALL, None)], []),
    (pd.NA, [(ALL, None)], []),
    (pd.NaT, [(ALL, None)], []),
    (np.datetime64("NaT", "us"), [(ALL, None)], []),
    (pa.scalar(None, pa.int32()), [(ALL, None)], []),
    # not a number
    (math.nan, [(FLOATS, math.nan)], NO_NAN),
    (np.float32("nan"), [(FLOATS, math.nan)], NO_NAN),
    (Decimal("NaN"), [(FLOATS, math.nan)], NO_NAN),
    (pa.scalar(math.nan), [(FLOATS, math.nan)], NO_NAN),
    # booleans
    (True, [("B", True)], []),
    (np.bool_(False), [("B", False)], []),  # noqa: FBT003 - a value
    # integers
    (1, number(1), []),
    (0, number(0), []),
    (-128, number(-128), []),
    (Level.LOW, number(1), []),
    (np.int8(1), number(1), []),
    (np.uint64(100), number(100), []),
    (pa.scalar(1), number(1), []),
    (pa.scalar(7, pa.uint8()), number(7), []),
    (128, [*number(128)[1:], ("I2 I4 I8", 128)], [("I1", RANGE)]),
    (
        -40_000,
        [("I4 I8", -40_000), (FLOATS, -40_000.0)],
        [("I1 I2", RANGE), ("DEC", DIGITS)],
    ),
    (
        2**24 + 1,
        [("I4 I8", 2**24 + 1), ("F8", 2.0**24 + 1)],
        [("I1 I2", RANGE), ("F4", "cannot be represented exactly as FLOAT"), ("DEC", DIGITS)],
    ),
    (
        np.int64(2**53 + 1),
        [("I8", 2**53 + 1)],
        [
            ("I1 I2 I4", RANGE),
            ("F4", "cannot be represented exactly as FLOAT"),
            ("F8", "cannot be represented exactly as DOUBLE"),
            ("DEC", DIGITS),
        ],
    ),
    (2**60, [("I8", 2**60), (FLOATS, 2.0**60)], [("I1 I2 I4", RANGE), ("DEC", DIGITS)]),
    (
        2**63 - 1,
        [("I8", 2**63 - 1)],
        [("I1 I2 I4", RANGE), (FLOATS, "cannot be represented exactly"), ("DEC", DIGITS)],
    ),
    (-(2**63), [("I8", -(2**63)), (FLOATS, -(2.0**63))], [("I1 I2 I4", RANGE), ("DEC", DIGITS)]),
    (np.uint64(2**63), [(FLOATS, 2.0**63)], [(INTS, RANGE), ("DEC", DIGITS)]),
    (2**70, [(FLOATS, 2.0**70)], [(INTS, RANGE), ("DEC", DIGITS)]),
    (2**70 + 1, [], [(INTS, RANGE), (FLOATS, "cannot be represented exactly"), ("DEC", DIGITS)]),
    (10**400, [], [(ALL, RANGE)]),
    # floats
    (1.0, number(1), []),
    (-0.0, number(0), []),
    (np.float64(2), number(2), []),
    (np.float32(3), number(3), []),
    (1.5, [(FLOATS, 1.5), ("DEC", Decimal("1.50"))], [(INTS, NOT_WHOLE)]),
    (np.float64(1.5), [(FLOATS, 1.5), ("DEC", Decimal("1.50"))], [(INTS, NOT_WHOLE)]),
    (np.float16(1.5), [(FLOATS, 1.5), ("DEC", Decimal("1.50"))], [(INTS, NOT_WHOLE)]),
    (pa.scalar(1.5), [(FLOATS, 1.5), ("DEC", Decimal("1.50"))], [(INTS, NOT_WHOLE)]),
    (
        0.1,
        [("F4", single(0.1)), ("F8", 0.1), ("DEC", Decimal("0.10"))],
        [(INTS, NOT_WHOLE)],
    ),
    (
        np.float32(0.1),
        [(FLOATS, single(0.1)), ("DEC", Decimal("0.10"))],
        [(INTS, NOT_WHOLE)],
    ),
    (
        0.1 + 0.2,
        [("F4", single(0.3)), ("F8", 0.30000000000000004)],
        [(INTS, NOT_WHOLE), ("DEC", PLACES)],
    ),
    (1.555, [("F4", single(1.555)), ("F8", 1.555)], [(INTS, NOT_WHOLE), ("DEC", PLACES)]),
    (
        999.99,
        [("F4", single(999.99)), ("F8", 999.99), ("DEC", Decimal("999.99"))],
        [(INTS, NOT_WHOLE)],
    ),
    (2.0**31, [("I8", 2**31), (FLOATS, 2.0**31)], [("I1 I2 I4", RANGE), ("DEC", DIGITS)]),
    (2.0**63, [(FLOATS, 2.0**63)], [(INTS, RANGE), ("DEC", DIGITS)]),
    (1e300, [("F8", 1e300)], [("F4", "is too large for FLOAT"), (INTS, RANGE), ("DEC", DIGITS)]),
    (1e-300, [("F4", 0.0), ("F8", 1e-300)], [(INTS, NOT_WHOLE), ("DEC", PLACES)]),
    (math.inf, [(FLOATS, math.inf)], [(INTS, NOT_WHOLE), ("DEC", "is not a finite number")]),
    # decimals
    (Decimal(1), number(1), []),
    (Decimal("1E+2"), number(100), []),
    (Decimal("1.00"), number(1), []),
    (Decimal("1.5"), [(FLOATS, 1.5), ("DEC", Decimal("1.50"))], [(INTS, NOT_WHOLE)]),
    (
        Decimal("0.1"),
        [("F4", single(0.1)), ("F8", 0.1), ("DEC", Decimal("0.10"))],
        [(INTS, NOT_WHOLE)],
    ),
    (
        Decimal("1.555"),
        [("F4", single(1.555)), ("F8", 1.555)],
        [(INTS, NOT_WHOLE), ("DEC", PLACES)],
    ),
    (Decimal(1000), [("I2 I4 I8", 1000), (FLOATS, 1000.0)], [("I1", RANGE), ("DEC", DIGITS)]),
    (Decimal("1E+50"), [("F8", 1e50)], [("F4", "is too large"), (INTS, RANGE), ("DEC", DIGITS)]),
    (Decimal("1E+90"), [], [(ALL, RANGE)]),
    (Decimal("Infinity"), [(FLOATS, math.inf)], [(INTS, NOT_WHOLE), ("DEC", "not a finite")]),
    # text and bytes
    ("1", [(TEXT, "1")], []),
    ("äöü", [(TEXT, "äöü")], []),
    ("abcd", [("STR", "abcd")], [("CH", "has more than 3 characters")]),
    ("2024-01-02", [("STR", "2024-01-02")], [("CH", "has more than 3 characters")]),
    (np.str_("ab"), [(TEXT, "ab")], []),
    (Word.YES, [(TEXT, "yes")], []),
    ("\ud800", [], [(ALL, "cannot be stored")]),
    (b"1", [(BYTES, b"1")], []),
    (bytearray(b"ab"), [(BYTES, b"ab")], []),
    (memoryview(b"ab"), [(BYTES, b"ab")], []),
    (np.bytes_(b"ab"), [(BYTES, b"ab")], []),
    (b"abcd", [("BYT BLOB", b"abcd")], [("BIN", "has more than 3 bytes")]),
    (uuid.UUID(int=5), [("BYT BLOB", bytes(15) + b"\x05")], [("BIN", "has more than 3 bytes")]),
    # days and times
    (DAY, day(DAY), []),
    (MIDNIGHT, day(DAY), []),
    (np.datetime64("2024-01-02"), day(DAY), []),
    (np.datetime64("2024"), day(dt.date(2024, 1, 1)), []),
    (np.datetime64("2024-01-02T00", "h"), day(DAY), []),
    (pd.Timestamp("2024-01-02"), day(DAY), []),
    (MILLIS, [(LOCAL, MILLIS)], [("DATE", "has a time of day")]),
    (pd.Timestamp(MILLIS), [(LOCAL, MILLIS)], [("DATE", "has a time of day")]),
    (np.datetime64(MILLIS, "ns"), [(LOCAL, MILLIS)], [("DATE", "has a time of day")]),
    (MICROS, [("TS6 TS9", MICROS)], [("TS3", TOO_FINE), ("DATE", "has a time of day")]),
    (
        pd.Timestamp(NANOS),
        [("TS9", pd.Timestamp(NANOS))],
        [("TS3 TS6", TOO_FINE), ("DATE", "has a time of day")],
    ),
    (
        np.datetime64(NANOS, "ns"),
        [("TS9", pd.Timestamp(NANOS))],
        [("TS3 TS6", TOO_FINE), ("DATE", "has a time of day")],
    ),
    (FAR, [("TS3 TS6", FAR)], [("TS9", RANGE), ("DATE", "has a time of day")]),
    (AWARE, [(ZONED, INSTANT)], []),
    (MIDNIGHT.replace(tzinfo=dt.UTC), [(ZONED, MIDNIGHT.replace(tzinfo=dt.UTC))], []),
    (pd.Timestamp(AWARE), [(ZONED, INSTANT)], []),
    (pa.scalar(AWARE), [(ZONED, INSTANT)], []),
    (
        MICROS.replace(tzinfo=dt.UTC),
        [("TZ6 TZ9", MICROS.replace(tzinfo=dt.UTC))],
        [("TZ3", TOO_FINE)],
    ),
    (dt.time(1, 2, 3, 4000), [("TIME", dt.time(1, 2, 3, 4000))], []),
    (dt.time(1, 2, 3, 4), [], [("TIME", TOO_FINE)]),
    (dt.time(1, 2, tzinfo=dt.UTC), [], []),
    # what no column holds
    (dt.timedelta(days=1), [], []),
    (np.timedelta64(1, "D"), [], []),
    (1j, [], []),
    (Color.RED, [], []),
    ({"x": 1}, [], []),
    ([1], [], []),
    (object(), [], []),
]


def expected(
    outcomes: Sequence[Outcome], refusals: Sequence[Refusal], name: str
) -> tuple[bool, object]:
    """Whether a type takes the value, and the value read back or words of the error."""
    for types, value in outcomes:
        if name in types.split():
            return True, value
    for types, words in refusals:
        if name in types.split():
            return False, words
    return False, WITHOUT_CAST


def field_of(data_type: DataType) -> DataField:
    return DataField(id=0, name="a", type=data_type)


def taken(data: Rows, data_type: DataType) -> list[object]:
    shape = InputShape(row_type=RowType(fields=(field_of(data_type),), nullable=False))
    return [value for batch in open_rows(data, shape) for value in batch.column(0).to_pylist()]


def alone(value: object, data_type: DataType) -> object:
    """A value that is given for a column, as an update does."""
    return constant_column(value, field_of(data_type))[0].as_py()


def row_of(data_type: DataType) -> DataType:
    return RowType(fields=(DataField(id=1, name="x", type=data_type),))


STRING = parse_type_text("STRING")
Door = Callable[[object, DataType], object]
"""Stores a value as a type behind another row, and reads it back."""


def part(value: object, step: str | int) -> object:
    """A field, an element, or the value of a key."""
    if isinstance(value, list):
        return dict(value)[step] if isinstance(step, str) else value[step]
    assert isinstance(value, dict)
    return value[step]


def in_frame(value: object) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series([None, value], dtype=object)})


def second(values: Sequence[object], data_type: DataType) -> object:
    return taken([{"a": value} for value in values], data_type)[1]


DOORS: Mapping[str, tuple[str, Door]] = {
    "dictionaries": ("'a' (", lambda v, t: second([None, v], t)),
    "columns": ("'a' (", lambda v, t: taken({"a": [None, v]}, t)[1]),
    "pandas": ("'a' (", lambda v, t: taken(in_frame(v), t)[1]),
    "a row": ("'a.x' (", lambda v, t: part(second([None, {"x": v}], row_of(t)), "x")),
    "a list": ("'a[]' (", lambda v, t: part(second([[], [v]], ArrayType(element=t)), 0)),
    "a map": (
        "'a{value}' (",
        lambda v, t: part(second([{}, {"j": None, "k": v}], MapType(key=STRING, value=t)), "k"),
    ),
}


def outcome(store: Callable[[], object]) -> tuple[bool, object]:
    """What is stored, or the message of the refusal."""
    try:
        return True, store()
    except InvalidInputError as error:
        return False, str(error)


def is_nan(value: object) -> bool:
    """Whether pandas takes a value for missing, though it is a number."""
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


def is_as_told(found: tuple[bool, object], wanted: tuple[bool, object]) -> bool:
    if found[0] != wanted[0]:
        return False
    if not wanted[0]:
        return str(wanted[1]) in str(found[1])
    if isinstance(wanted[1], float) and isinstance(found[1], float):
        return found[1] == wanted[1] or (math.isnan(found[1]) and math.isnan(wanted[1]))
    return bool(found[1] == wanted[1]) and isinstance(found[1], bool) == isinstance(wanted[1], bool)


def named(value: object) -> str:
    return f"{type(value).__name__} {re.sub(' at 0x.*', '', str(value))[:30]!a}"


@pytest.mark.parametrize(
    ("value", "outcomes", "refusals"), PYTHON, ids=[named(value) for value, _, _ in PYTHON]
)
def test_a_value_has_one_outcome_by_every_door(
    value: object, outcomes: Sequence[Outcome], refusals: Sequence[Refusal]
) -> None:
    wrong = []
    for turn, (name, data_type) in enumerate(KINDS.items()):
        wanted = expected(outcomes, refusals, name)
        for door, (place, store) in some([*DOORS.items()], 3, turn):
            found = outcome(partial(store, value, data_type))
            if door == "pandas" and is_nan(value):  # pandas has no other missing number
                assert found == (True, None)
                continue
            if not is_as_told(found, wanted):
                wrong.append((TYPES[name], door, found, wanted))
            elif not found[0]:
                text = str(found[1])
                assert text.startswith(
                    f"Column {place}{type_text(data_type)}), row 1 (counted from 0): "
                ), text
        found = outcome(partial(alone, value, data_type))
        if not is_as_told(found, wanted):
            wrong.append((TYPES[name], "a single value", found, wanted))
    assert wrong == []


# ---------------------------------------------------------------- Arrow

UNITS: tuple[Literal["s", "ms", "us", "ns"], ...] = ("s", "ms", "us", "ns")
WIDE = pa.decimal256(40, 3)
TENTH = [("F4", single(0.1)), ("F8", 0.1), ("DEC", Decimal("0.10"))]
TEXT_OF_ARROW: list[Outcome] = [(TEXT, "1")]

ARROW: list[tuple[Column, list[Outcome], list[Refusal]]] = [
    (pa.array([1], kind), number(1), [])
    for kind in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
    )
]
ARROW += [
    (pa.array([True]), [("B", True)], []),
    (
        pa.array([2**64 - 1], pa.uint64()),
        [],
        [(INTS, RANGE), (FLOATS, "cannot be represented exactly"), ("DEC", DIGITS)],
    ),
    (
        pa.array([np.float16(1.5)], pa.float16()),
        [(FLOATS, 1.5), ("DEC", Decimal("1.50"))],
        [(INTS, NOT_WHOLE)],
    ),
    (pa.array([np.float16(1.0)], pa.float16()), number(1), []),
    (
        pa.array([0.1], pa.float32()),
        [(FLOATS, single(0.1)), ("DEC", Decimal("0.10"))],
        [(INTS, NOT_WHOLE)],
    ),
    (pa.array([0.1]), TENTH, [(INTS, NOT_WHOLE)]),
    (pa.array([math.nan]), [(FLOATS, math.nan)], [(INTS, NOT_WHOLE), ("DEC", "not a finite")]),
    (
        pa.array([1e39]),
        [("F8", 1e39)],
        [("F4", "is too large for FLOAT"), (INTS, RANGE), ("DEC", DIGITS)],
    ),
    (
        pa.array([3.4028235e38]),
        [("F4", single(3.4028235e38)), ("F8", 3.4028235e38)],
        [(INTS, RANGE), ("DEC", DIGITS)],
    ),
    (pa.array([None], pa.float64()), [(ALL, None)], []),
    (pa.nulls(1), [(ALL, None)], []),
    (pa.array([Decimal("0.1")]), TENTH, [(INTS, NOT_WHOLE)]),
    (pa.array([Decimal("0.100")], WIDE), TENTH, [(INTS, NOT_WHOLE)]),
    (pa.array([Decimal(7)], WIDE), number(7), []),
    (
        pa.array([Decimal("12345678901234567.89")]),
        [("F4", single(12345678901234567.89)), ("F8", 12345678901234567.89)],
        [(INTS, NOT_WHOLE), ("DEC", DIGITS)],
    ),
    (pa.array(["1"]), TEXT_OF_ARROW, []),
    (pa.array(["1"], pa.large_string()), TEXT_OF_ARROW, []),
    (pa.array(["1"], pa.string_view()), TEXT_OF_ARROW, []),
    (pa.array(["1"]).dictionary_encode(), TEXT_OF_ARROW, []),
    (pa.RunEndEncodedArray.from_arrays(pa.array([1]), pa.array(["1"])), TEXT_OF_ARROW, []),
    (pa.array([b"1"]), [(BYTES, b"1")], []),
    (pa.array([b"ab"], pa.binary(2)), [(BYTES, b"ab")], []),
    (pa.array([b"ab"], pa.large_binary()), [(BYTES, b"ab")], []),
    (pa.array([b"ab"], pa.binary_view()), [(BYTES, b"ab")], []),
    (pa.array([DAY]), day(DAY), []),
    (pa.array([DAY], pa.date64()), day(DAY), []),
    (
        pa.array([1], pa.timestamp("ns")),
        [("TS9", pd.Timestamp(1))],
        [("TS3 TS6", TOO_FINE), ("DATE", "time of day")],
    ),
    (pa.array([2**62], pa.timestamp("s")), [], [(LOCAL, RANGE), ("DATE", "time of day")]),
    (pa.array([4000], pa.time32("s")), [("TIME", dt.time(1, 6, 40))], []),
    (pa.array([dt.time(1, 2, 3, 4000)]), [("TIME", dt.time(1, 2, 3, 4000))], []),
    (pa.array([1], pa.time64("ns")), [], [("TIME", TOO_FINE)]),
    (pa.array([1], pa.duration("s")), [], []),
    (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), [], []),
    (pa.array([[1]]), [], []),
    (pa.array([{"x": 1}]), [], []),
]


ALONE = np.ones(1, np.bool_)
BOTH = np.ones(2, np.bool_)
SECOND = np.array([0, 0, 1], np.int64)


for unit in UNITS:
    midnight = pa.array([MIDNIGHT], pa.timestamp(unit))
    ARROW.append((midnight, day(DAY), []))
for unit in UNITS[1:]:
    millis = pa.array([MILLIS], pa.timestamp(unit))
    ARROW.append((millis, [(LOCAL, MILLIS)], [("DATE", "time of day")]))
    instant = pa.array([AWARE], pa.timestamp(unit, "Asia/Tokyo"))
    ARROW.append((instant, [(ZONED, INSTANT)], []))


def in_row(array: Column) -> Column:
    return build_struct(pa.struct([("x", array.type)]), [array], ALONE)


def in_list(array: Column) -> Column:
    """The value in the second of two lists."""
    return build_list(pa.list_(array.type), SECOND, [array], BOTH)


def in_map(array: Column) -> Column:
    kind = pa.map_(pa.string(), array.type)
    pair = build_struct(kind.field(0).type, [pa.array(["k"]), array], ALONE)
    return build_list(kind, SECOND, [pair], BOTH)


ARROW_DOORS: Mapping[str, tuple[str, Callable[[Column, DataType], object]]] = {
    "table": ("'a' (", lambda a, t: taken(pa.table({"a": a}), t)[0]),
    "batches": ("'a' (", lambda a, t: taken([pa.record_batch({"a": a})], t)[0]),
    "reader": ("'a' (", lambda a, t: taken(pa.table({"a": a}).to_reader(), t)[0]),
    "columns": ("'a' (", lambda a, t: taken({"a": a}, t)[0]),
    "a row": ("'a.x' (", lambda a, t: part(taken(pa.table({"a": in_row(a)}), row_of(t))[0], "x")),
    "a list": (
        "'a[]' (",
        lambda a, t: part(taken(pa.table({"a": in_list(a)}), ArrayType(element=t))[1], 0),
    ),
    "a map": (
        "'a{value}' (",
        lambda a, t: part(taken(pa.table({"a": in_map(a)}), MapType(key=STRING, value=t))[1], "k"),
    ),
}


@pytest.mark.parametrize(
    ("place", "array", "outcomes", "refusals"), [(n, *case) for n, case in enumerate(ARROW)]
)
def test_an_arrow_value_has_the_same_outcome_by_every_door(
    place: int, array: Column, outcomes: Sequence[Outcome], refusals: Sequence[Refusal]
) -> None:
    wrong = []
    for turn, (name, data_type) in enumerate(KINDS.items(), place):
        wanted = expected(outcomes, refusals, name)
        for door, (column, store) in some([*ARROW_DOORS.items()], 4, turn):
            found = outcome(partial(store, array, data_type))
            row = int(door in {"a list", "a map"})
            told = f"Column {column}{type_text(data_type)}), row {row} (counted from 0): "
            if not is_as_told(found, wanted) or not (found[0] or str(found[1]).startswith(told)):
                wrong.append((place, TYPES[name], door, found, wanted))
    assert wrong == []


# ---------------------------------------------------------------- data frames

FRAMES: list[tuple[object, str, list[object] | str]] = [
    (pd.Series([1.0, None]), "INT", [1, None]),
    (pd.Series([1.5, None]), "INT", NOT_WHOLE),
    (pd.Series([1, None], dtype="Int64"), "TINYINT", [1, None]),
    (pd.Series([1, None], dtype="Int64"), "STRING", WITHOUT_CAST),
    (pd.Series([0.1, None]), "DECIMAL(5, 2)", [Decimal("0.10"), None]),
    (pd.Series([1e39]), "FLOAT", "is too large for FLOAT"),
    (pd.Series([True, False]), "BOOLEAN", [True, False]),
    (pd.Series([True, False]), "INT", WITHOUT_CAST),
    (pd.Series([0, 1]), "BOOLEAN", WITHOUT_CAST),
    (pd.Series([0, 1]), "DATE", WITHOUT_CAST),
    (pd.Series(["1", None], dtype="string"), "STRING", ["1", None]),
    (pd.Series(["1", None], dtype="string"), "INT", WITHOUT_CAST),
    (pd.Series(["1", None], dtype="category"), "STRING", ["1", None]),
    (pd.Series([MILLIS]).astype("datetime64[ns]"), "TIMESTAMP(3)", [MILLIS]),
    (pd.Series([MILLIS]), "DATE", "has a time of day"),
    (pd.Series([MILLIS]), "TIMESTAMP_LTZ(3)", WITHOUT_CAST),
    (pd.Series([AWARE]), "TIMESTAMP_LTZ(3)", [INSTANT]),
    (pd.Series([AWARE]), "TIMESTAMP(3)", WITHOUT_CAST),
    (pd.Series([dt.timedelta(1)]), "BIGINT", WITHOUT_CAST),
    (pd.Series([1, 1.5, Decimal(2)], dtype=object), "DOUBLE", [1.0, 1.5, 2.0]),
    (pd.Series([1, True], dtype=object), "INT", "row 1 (counted from 0): True of type bool"),
    (pd.Series([DAY, MILLIS], dtype=object), "DATE", "row 1 (counted from 0): datetime"),
    (pd.Series([MILLIS, AWARE], dtype=object), "TIMESTAMP(3)", "row 1 (counted from 0): datetime"),
    (pd.Series(["a", b"b"], dtype=object), "STRING", "row 1 (counted from 0): b'b' of type bytes"),
    (
        pd.Series([1.0, None, "x"], dtype=object),
        "STRING",
        "row 0 (counted from 0): 1.0 of type float",
    ),
    (
        pd.Series([{"x": 1.5}], dtype=object),
        "ROW<x INT>",
        "Column 'a.x' (INT), row 0 (counted from 0): 1.5 is not",
    ),
    (pl.Series([1, None]), "TINYINT", [1, None]),
    (pl.Series([1.5]), "INT", NOT_WHOLE),
    (pl.Series([math.nan]), "INT", NOT_WHOLE),
    (pl.Series([2**40]), "INT", RANGE),
    (pl.Series([2**40], dtype=pl.UInt64), "BIGINT", [2**40]),
    (pl.Series([1e39]), "FLOAT", "is too large for FLOAT"),
    (pl.Series(["1"]), "STRING", ["1"]),
    (pl.Series(["1"]), "INT", WITHOUT_CAST),
    (pl.Series(["1"], dtype=pl.Categorical), "STRING", ["1"]),
    (pl.Series([b"1"]), "STRING", WITHOUT_CAST),
    (pl.Series([Decimal("1.555")]), "DECIMAL(5, 2)", PLACES),
    (pl.Series([DAY]), "DATE", [DAY]),
    (pl.Series([MILLIS]), "TIMESTAMP(3)", [MILLIS]),
    (pl.Series([MICROS]), "TIMESTAMP(3)", TOO_FINE),
    (pl.Series([INSTANT]), "TIMESTAMP_LTZ(3)", [INSTANT]),
    (pl.Series([INSTANT]), "TIMESTAMP(3)", WITHOUT_CAST),
    (pl.Series([dt.timedelta(1)]), "BIGINT", WITHOUT_CAST),
    (
        pl.Series([[1.0], [1.0, 2.5]]),
        "ARRAY<INT>",
        "Column 'a[]' (INT), row 1 (counted from 0): 2.5 is not",
    ),
    (pl.Series([{"x": 1.0}]), "ROW<x INT>", [{"x": 1}]),
    (np.array([1.0, np.nan]), "INT", f"row 1 (counted from 0): nan {NOT_WHOLE}"),
    (pd.Series([1.0, np.nan]), "INT", [1, None]),
    (pd.Series([1.0, np.nan]), "DOUBLE", [1.0, None]),
    (pl.Series([1.0, None]), "INT", [1, None]),
    (pl.Series([math.nan, None]), "DOUBLE", [math.nan, None]),
    (np.array([[1.0, np.nan]]), "ARRAY<INT>", NOT_WHOLE),
    (np.array([1.5]), "INT", NOT_WHOLE),
    (np.array([1.0, np.nan]), "DOUBLE", [1.0, math.nan]),
    (np.array([True]), "INT", WITHOUT_CAST),
    (np.array(["a"]), "STRING", ["a"]),
    (np.array([b"a"]), "STRING", WITHOUT_CAST),
    (np.array(["2024-01-02T00"], "datetime64[h]"), "DATE", [DAY]),
    (np.array(["2024-01-02T03"], "datetime64[h]"), "DATE", "has a time of day"),
    (np.array([1], "timedelta64[s]"), "BIGINT", WITHOUT_CAST),
    (
        np.array([[0.5, 1e39]]),
        "ARRAY<FLOAT>",
        "Column 'a[]' (FLOAT), row 0 (counted from 0): 1e+39 is too large",
    ),
    (np.array([[0.5, 1e39]]), "VECTOR<FLOAT, 2>", "is too large for FLOAT"),
    (np.array([[0.5, 1.0]]), "VECTOR<FLOAT, 2>", [[0.5, 1.0]]),
    (np.array([[0.5, 1.0]]), "VECTOR<FLOAT, 3>", "the vector must have 3 elements, not 2"),
]


@pytest.mark.parametrize(
    ("place", "values", "text", "result"), [(n, *case) for n, case in enumerate(FRAMES)]
)
def test_columns_of_data_frames_follow_the_same_policy(
    place: int, values: object, text: str, result: list[object] | str
) -> None:
    kind = parse_type_text(text)
    assert isinstance(values, Iterable)
    datas: list[Rows] = [{"a": values}]
    if isinstance(values, pd.Series):
        datas.append(pd.DataFrame({"a": values}))
    if isinstance(values, pl.Series):
        datas.append(pl.DataFrame({"a": values}))
    for data in datas:
        stored, found = outcome(partial(taken, data, kind))
        assert stored is isinstance(result, list), (place, found)
        if isinstance(result, str):
            assert result in str(found)
        else:
            assert is_as_told((True, repr(found)), (True, repr(result))) or found == result
