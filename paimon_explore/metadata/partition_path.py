"""Partition paths such as `dt=2024-01-01/hr=10`.

The path is used only to locate files; a partition is identified by its binary row. A value is
formatted like Java's `toString` by default (a DATE is its day number), or like a cast to STRING if
the option `partition.legacy-name` is false: a TIMESTAMP_LTZ is then a local time of the process.
Spec: concepts/spec/overview, partitions. Seen in: golden java200 `append_part_types`,
`append_part_types2`, `append_part_null`, `part_nonlegacy`.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np

from paimon_explore.data_types.arrow import PER_SECOND
from paimon_explore.data_types.arrow_buffers import Column, as_python, fixed_values, valid_mask
from paimon_explore.data_types.casts.java_formatting import (
    date_text,
    decimal_text,
    double_text,
    float_text,
    time_text,
    timestamp_text,
)
from paimon_explore.data_types.definitions import INTEGERS, TEXTS, AtomicType, DataType, TypeRoot
from paimon_explore.data_types.time_zones import wall_clock
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError

DEFAULT_NAME = "__DEFAULT_PARTITION__"
"""Default of the option `partition.default-name`: the folder name of null and blank values."""

_ESCAPED = frozenset("\"#%'*/:=?\\{}[]^\x7f") | {chr(code) for code in range(0x20)}
_NOT_WHITESPACE_IN_JAVA = frozenset("\u0085\u00a0\u2007\u202f")
"""Characters that `str.isspace` accepts and Java's `Character.isWhitespace` does not."""
_NANOS_PER_SECOND = 1_000_000_000


def partition_paths(
    keys: Sequence[str],
    columns: Sequence[Column],
    types: Sequence[DataType],
    *,
    legacy_names: bool = True,
    default_name: str = DEFAULT_NAME,
) -> list[str]:
    """Return the paths of n partitions relative to the table's data root; "" without keys.

    Args:
        keys: names of the k partition keys.
        columns: their values, k arrays of n values with the types of `to_arrow`.
        types: the k types of the keys.
        legacy_names: option `partition.legacy-name`.
        default_name: option `partition.default-name`.

    Raises:
        UnsupportedFeatureError: a type is not supported in a path.
        InvalidInputError: a key name is empty.
    """
    if not keys:
        return [""] * (len(columns[0]) if columns else 1)
    texts = partition_texts(columns, types, legacy_names=legacy_names)
    folders = [
        [f"{escape_name(key)}={escape_name(partition_name(text, default_name))}" for text in column]
        for key, column in zip(keys, texts, strict=True)
    ]
    return ["/".join(parts) for parts in zip(*folders, strict=True)]


def partition_texts(
    columns: Sequence[Column], types: Sequence[DataType], *, legacy_names: bool = True
) -> list[list[str | None]]:
    """Format the values of partition keys, one list per key, unescaped; null becomes None."""
    return [
        _texts(column, data_type, legacy_names=legacy_names)
        for column, data_type in zip(columns, types, strict=True)
    ]


def escape_name(text: str) -> str:
    """Escape a text for a folder name.

    >>> escape_name("a b/c=d%"), escape_name("10:30")
    ('a b%2Fc%3Dd%25', '10%3A30')
    """
    if not text:
        raise InvalidInputError("A partition key or value must not be empty.")
    if _ESCAPED.isdisjoint(text):
        return text
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def partition_name(text: str | None, default_name: str) -> str:
    """Return the text of a partition value, or the default name if it is null or blank.

    Blank is what Java's `Character.isWhitespace` accepts, which excludes no-break spaces.

    >>> partition_name(" ", "none"), partition_name("\u00a0", "none") == "\u00a0"
    ('none', True)
    """
    is_blank = not text or (text.isspace() and _NOT_WHITESPACE_IN_JAVA.isdisjoint(text))
    return default_name if text is None or is_blank else text


def _texts(column: Column, data_type: DataType, *, legacy_names: bool) -> list[str | None]:
    if not isinstance(data_type, AtomicType):
        raise UnsupportedFeatureError("a partition key of a nested type")
    if data_type.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        return _timestamps(column, data_type, legacy_names=legacy_names)
    if data_type.root in (TypeRoot.DATE, TypeRoot.TIME):
        return _days_and_times(column, data_type, legacy_names=legacy_names)
    show = _SHOW.get(data_type.root)
    if show is None:
        raise UnsupportedFeatureError(f"a partition key of type {data_type.root.value}")
    return [None if value is None else show(value) for value in as_python(column)]


def _days_and_times(
    column: Column, data_type: AtomicType, *, legacy_names: bool
) -> list[str | None]:
    numbers = _values(column, np.int32)
    if legacy_names:
        return [None if number is None else str(number) for number in numbers]
    if data_type.root is TypeRoot.DATE:
        return [None if number is None else date_text(number) for number in numbers]
    precision = data_type.precision or 0
    return [None if number is None else time_text(number, precision) for number in numbers]


def _timestamps(column: Column, data_type: AtomicType, *, legacy_names: bool) -> list[str | None]:
    unit = str(column.type).partition("[")[2].partition("]")[0].partition(",")[0]
    per_second = PER_SECOND[unit]
    texts: list[str | None] = []
    for number in _values(column, np.int64):
        if number is None:
            texts.append(None)
            continue
        seconds, rest = divmod(number, per_second)
        nanos = rest * (_NANOS_PER_SECOND // per_second)
        if legacy_names:
            texts.append(_local_date_time(seconds, nanos))
        else:
            if data_type.root is TypeRoot.TIMESTAMP_LTZ:
                seconds = int(wall_clock(np.array([seconds], np.int64), None)[0])
            texts.append(timestamp_text(seconds, nanos, data_type.precision or 0))
    return texts


def _local_date_time(seconds: int, nanos: int) -> str:
    """Format like Java's `LocalDateTime.toString`: seconds if not 0, fraction of 3, 6, 9 digits."""
    date, _, clock = timestamp_text(seconds, 0, 0).partition(" ")
    if not nanos:
        clock = clock.removesuffix(":00")
        return f"{date}T{clock}"
    fraction = f"{nanos:09d}"
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    return f"{date}T{clock}.{fraction}"


def _values(column: Column, kind: type[np.int32 | np.int64]) -> list[int | None]:
    numbers = fixed_values(column, kind).tolist()
    valid = valid_mask(column).tolist()
    return [number if known else None for number, known in zip(numbers, valid, strict=True)]


def _boolean(value: object) -> str:
    return "true" if value else "false"


def _double(value: object) -> str:
    assert isinstance(value, float)  # noqa: S101 - of a float column
    return double_text(value)


def _float(value: object) -> str:
    assert isinstance(value, float)  # noqa: S101 - of a float column
    return float_text(value)


def _decimal(value: object) -> str:
    assert isinstance(value, Decimal)  # noqa: S101 - of a decimal column
    return decimal_text(value)


_SHOW: dict[TypeRoot, Callable[[object], str]] = {
    **dict.fromkeys(INTEGERS | TEXTS, str),
    TypeRoot.BOOLEAN: _boolean,
    TypeRoot.FLOAT: _float,
    TypeRoot.DOUBLE: _double,
    TypeRoot.DECIMAL: _decimal,
}
