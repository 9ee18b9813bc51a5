"""Timestamps whose ORC files are sensitive to the time zone of their writer, and such files.

`orc_zones.tar.xz` holds files that the official Java 2.0.0 wrote in processes of several zones, and
`expected.json` what Java in the same zone reads from them where that is not what was given: times
that a zone skips are moved, and of the last second before 1970 the sign is lost.
`python tests/interop/orc_zones.py FOLDER` makes the archive anew.
"""

import datetime as dt
import io
import json
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column

TypeJson = str | Mapping[str, Any]
"""A type as schema files write it."""
ARCHIVE = Path(__file__).with_name("orc_zones.tar.xz")
ZONES = (
    *("UTC", "Asia/Shanghai", "America/New_York", "America/Sao_Paulo", "Asia/Kolkata"),
    *("Australia/Lord_Howe", "Europe/London", "Pacific/Apia", "Africa/Monrovia"),
    *("America/St_Johns", "GMT+08:00", "PST"),
)
FORMS = ("legacy", "new")
"""Values of `orc.timestamp-ltz.legacy.type`."""

SECOND = 10**9
NEAR_1970 = (
    *("1969-12-31 00:00:00", "1969-12-31 12:00:00", "1969-12-31 15:59:59", "1969-12-31 16:00:00"),
    *("1969-12-31 19:00:00", "1969-12-31 20:00:00", "1969-12-31 23:00:00", "1969-12-31 23:15:30"),
    *("1969-12-31 23:59:58", "1969-12-31 23:59:59", "1970-01-01 00:00:00", "1970-01-01 00:00:01"),
    *("1970-01-01 00:02:03", "1970-01-01 00:59:59", "1970-01-01 01:00:00", "1970-01-01 05:29:59"),
    *("1970-01-01 05:30:00", "1970-01-01 07:59:59", "1970-01-01 08:00:00", "1970-01-01 12:00:00"),
)
FRACTIONS = (0, 1, 999_999, 1_000_000, 123_123_000, 999_999_999)
OTHERS = (
    *("1850-06-01 12:00:00", "1883-11-18 12:00:00", "1899-12-31 23:59:59", "1900-01-01 00:00:00"),
    *("1900-01-01 08:05:43", "1900-01-01 12:00:00", "1901-01-01 00:00:00", "1914-01-01 00:00:00"),
    *("1935-07-01 00:00:00", "1946-01-01 12:00:00", "1955-05-05 05:05:05", "1972-01-07 00:20:00"),
    *("1972-01-07 12:00:00", "1986-05-04 02:30:00", "1991-09-15 00:30:00", "2011-03-13 00:01:30"),
    *("2011-12-29 23:59:59", "2011-12-30 12:00:00", "2014-12-31 23:59:59", "2015-01-01 00:00:00"),
    *("2015-01-01 12:00:00", "2018-11-04 00:30:00", "2019-02-16 23:30:00", "2024-03-10 02:30:00"),
    *("2024-03-10 03:00:00", "2024-03-31 01:30:00", "2024-04-07 01:45:00", "2024-10-06 02:15:00"),
    *("2024-10-27 01:30:00", "2024-11-03 01:30:00", "2026-11-22 05:04:03", "2037-12-31 12:00:00"),
    "2040-07-01 12:00:00",
)
"""Changes of offset, times that a zone skips or has twice, the beginning of 2015."""

PRECISIONS: Mapping[int, str] = {0: "s", 3: "ms", 6: "us", 9: "ns"}
LTZ = " WITH LOCAL TIME ZONE"
NESTED: Mapping[str, TypeJson] = {
    "r": {
        "type": "ROW",
        "fields": [
            {"id": 100, "name": "t", "type": "TIMESTAMP(6)"},
            {"id": 101, "name": "z", "type": "TIMESTAMP(6)" + LTZ},
        ],
    },
    "a": {"type": "ARRAY", "element": "TIMESTAMP(9)"},
    "m": {"type": "MAP", "key": "STRING NOT NULL", "value": "TIMESTAMP(3)" + LTZ},
}
TYPES: Mapping[str, TypeJson] = {
    **{f"t{p}": f"TIMESTAMP({p})" for p in PRECISIONS},
    **{f"z{p}": f"TIMESTAMP({p}){LTZ}" for p in PRECISIONS},
    **NESTED,
}
"""The columns beside `id`."""


def values() -> list[int | None]:
    """Nanoseconds since 1970, every seventh null."""
    found: list[int | None] = [_seconds(t) * SECOND + f for t in NEAR_1970 for f in FRACTIONS]
    found += [_seconds(text) * SECOND + f for text in OTHERS for f in (0, 123_456_789)]
    for place in range(3, len(found) + len(found) // 6, 7):
        found.insert(place, None)
    return found


def _seconds(text: str) -> int:
    return int((dt.datetime.fromisoformat(text + "+00:00")).timestamp())


def given() -> pa.Table:
    """The rows that the writers get."""
    columns: dict[str, Column] = {"id": pa.array(range(len(values())), pa.int32())}
    for letter, zone in (("t", None), ("z", "UTC")):
        for precision in PRECISIONS:
            columns[f"{letter}{precision}"] = times(precision, zone)
    members = [times(6, None), times(6, "UTC")]
    columns["r"] = pa.StructArray.from_arrays(members, names=["t", "z"])
    columns["a"] = pa.array([[v, None, v] for v in values()], pa.list_(pa.timestamp("ns")))
    pairs = [[("k", None if v is None else v // 10**6)] for v in values()]
    columns["m"] = pa.array(pairs, pa.map_(pa.string(), pa.timestamp("ms", "UTC")))
    return pa.table(columns)


def times(precision: int, zone: str | None) -> Column:
    """The values, cut to a precision."""
    unit = 10 ** (9 - precision)
    cut = [None if value is None else value // unit for value in values()]
    kind = pa.timestamp(PRECISIONS[precision], zone)  # type: ignore[call-overload]  # a unit
    found: Column = pa.array(cut, pa.int64()).cast(kind)
    return found


def flat(table: pa.Table) -> dict[str, list[int | None]]:
    """The values of each timestamp column as integers, those inside others as columns."""
    found: dict[str, list[int | None]] = {}
    for name in TYPES:
        column: Column = table.column(name).combine_chunks()
        if isinstance(column, pa.StructArray):
            found["r.t"], found["r.z"] = (_whole(column.field(i)) for i in range(2))
        elif isinstance(column, pa.MapArray):
            found["m"] = _whole(column.items)
        elif isinstance(column, pa.ListArray):
            found["a"] = _whole(column.flatten())
        else:
            found[name] = _whole(column)
    return found


def _whole(column: Column) -> list[int | None]:
    return column.cast(pa.int64()).to_pylist()


def differences(read: pa.Table) -> dict[str, dict[str, int | None]]:
    """Where rows that were read back are not those that were given: by column and place."""
    wanted, found = flat(given()), flat(read)
    return {
        name: different
        for name, column in found.items()
        if (
            different := {
                str(place): value
                for place, value in enumerate(column)
                if value != wanted[name][place]
            }
        )
    }


@cache
def _members() -> Mapping[str, bytes]:
    with tarfile.open(ARCHIVE) as archive:
        return {
            member.name: stream.read()
            for member in archive
            if (stream := archive.extractfile(member)) is not None
        }


def file_of(zone: str, form: str) -> bytes:
    """The file that Java wrote in a zone."""
    return _members()[member_name(zone, form)]


def member_name(zone: str, form: str) -> str:
    """The name of a file in the archive."""
    return f"{zone.replace('/', '_')}-{form}.orc"


def expected(zone: str, form: str) -> dict[str, list[int | None]]:
    """What has to be read from it, as `flat` gives it."""
    different = json.loads(_members()["expected.json"])[zone][form]
    found = flat(given())
    for name, changes in different.items():
        for place, value in changes.items():
            found[name][int(place)] = value
    return found


def pack(files: Mapping[str, bytes]) -> bytes:
    """An archive of files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as archive:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()
