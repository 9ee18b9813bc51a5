"""ORC timestamps of writers in other time zones are the wall clocks that they meant."""

import datetime as dt
import io
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.orc as po
import pytest

from paimon_explore.encoding.orc.file_tail import read_tail
from paimon_explore.encoding.orc.reader import open_orc, utc_view
from paimon_explore.encoding.orc.timestamp_fixes import (
    LocalZoned,
    is_utc,
    java_clock,
    offset_of_2015,
    provide_time_zones,
    zone_of,
)
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from support.files import stored
from support.orc_zones import FORMS, TYPES, ZONES, expected, file_of, flat, given

EPOCH_2015 = 1_420_070_400
PROCESS_ZONE = ZoneInfo("Asia/Tokyo")
"""Where the reader is; it must not matter."""


def read(data: bytes, form: str, *names: str, rows: int = 1000) -> pa.Table:
    ltz = LocalZoned(legacy=form == "legacy", reader_zone=PROCESS_ZONE)
    file = open_orc(pa.BufferReader(data), "f.orc", ltz)
    columns = [stored(name, TYPES[name]) for name in names or TYPES]
    batches = list(file.batches(columns, range(len(file.spans)), rows))
    found = [pa.concat_arrays([b.columns[i] for b in batches]) for i in range(len(columns))]
    return pa.table(found, names=[column.name for column in columns])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", ZONES)
def test_times_are_those_that_java_reads_in_the_zone_of_the_writer(zone: str, form: str) -> None:
    """Both kinds, all precisions, and inside rows, arrays and maps."""
    wanted = expected(zone, form)
    for rows in (1000, 50):
        assert flat(read(file_of(zone, form), form, rows=rows)) == wanted


@pytest.mark.parametrize("zone", ZONES)
def test_few_values_are_not_those_that_were_given(zone: str) -> None:
    """Those that a zone skips, and those of the last second before 1970: Java loses them."""
    sent, back = flat(given())["t9"], expected(zone, "new")["t9"]
    assert 0 < sum(one != other for one, other in zip(sent, back, strict=True)) <= 8


@pytest.mark.parametrize(
    ("zone", "clock"),
    [
        ("Asia/Shanghai", "1970-01-01 00:00:00.001"),
        ("Asia/Shanghai", "1970-01-01 00:02:03.123123"),
        ("Asia/Shanghai", "1969-12-31 23:59:59.123123"),
        ("America/New_York", "1969-12-31 19:00:00.123123"),
        ("America/New_York", "1969-12-31 23:59:59.999999999"),
        ("Asia/Kolkata", "1970-01-01 05:29:59"),
    ],
)
def test_fractions_between_1970_in_utc_and_in_the_zone_are_kept(zone: str, clock: str) -> None:
    whole, _, fraction = clock.partition(".")
    second = int(dt.datetime.fromisoformat(f"{whole}+00:00").timestamp())
    wanted = second * 10**9 + int(fraction.ljust(9, "0"))
    assert wanted in flat(given())["t9"]
    assert expected(zone, "legacy")["t9"].count(wanted) == flat(given())["t9"].count(wanted)


@pytest.mark.parametrize("name", ["t6", "z6"])
def test_a_column_alone_is_read_as_with_the_others(name: str) -> None:
    data = file_of("Africa/Monrovia", "legacy")
    column = read(data, "legacy", name).column(name)
    assert column.cast(pa.int64()).to_pylist() == expected("Africa/Monrovia", "legacy")[name]


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("Asia/Shanghai", 8 * 3600),
        ("Australia/Lord_Howe", 11 * 3600),
        ("Pacific/Apia", 14 * 3600),
        ("America/St_Johns", -12_600),
        ("GMT-03:30", -12_600),
        ("PST", -8 * 3600),
    ],
)
def test_orc_counts_from_2015_in_the_zone(name: str, offset: int) -> None:
    assert offset_of_2015(zone_of(name)) == offset
    assert not is_utc(name)


def test_before_1900_java_knows_the_standard_offset_alone() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    before, after = -2_208_988_801, -2_208_988_800
    clocks = java_clock(np.array([before, after, 0]), shanghai)
    assert (clocks - [before, after, 0]).tolist() == [8 * 3600, 8 * 3600 + 343, 8 * 3600]
    apia = java_clock(np.array([before]), ZoneInfo("Pacific/Apia"))
    assert (apia - before).tolist() == [13 * 3600]


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "XYZ", "GMT+99:99", "\0"])
def test_a_zone_that_nobody_knows_is_named(name: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match="time zone"):
        zone_of(name)


# ------------------------------------------------------------ the view in UTC


def orc_file(compression: str, rows: int = 3000) -> bytes:
    out = io.BytesIO()
    times = pa.array(range(rows), pa.timestamp("s"))
    texts = pa.array([f"{'x' * 99}{n}" for n in range(rows)])
    table = pa.table({"t": times, "s": texts})
    po.write_table(table, out, stripe_size=1, batch_size=512, compression=compression)  # type: ignore[arg-type]  # one of them
    return out.getvalue()


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
def test_the_view_holds_the_same_rows_in_every_stripe(compression: str) -> None:
    data = orc_file(compression)
    source = pa.BufferReader(data)
    whole = po.ORCFile(source)
    assert whole.nstripes > 2
    view = po.ORCFile(utc_view(source, read_tail(source, "f")))
    assert view.nstripes == whole.nstripes
    assert view.read().equals(whole.read())
    for stripe in reversed(range(whole.nstripes)):
        assert view.read_stripe(stripe, ["t"]).equals(whole.read_stripe(stripe, ["t"]))


def test_the_view_shows_stored_seconds() -> None:
    source = pa.BufferReader(file_of("Asia/Shanghai", "legacy"))
    tail = read_tail(source, "f")
    view = utc_view(source, tail)
    assert read_tail(view, "f").writer_zone(view, 0) == "GMT"
    shown = po.ORCFile(view).read(["t0"]).column("t0").cast(pa.int64()).to_pylist()
    place = flat(given())["t0"].index(EPOCH_2015)
    assert shown[place] == EPOCH_2015 * 10**9


@pytest.mark.parametrize("seed", range(10))
def test_damaged_files_of_other_zones_raise_nothing_else(seed: int) -> None:
    source = np.random.default_rng(seed)
    for _ in range(20):
        data = bytearray(file_of("Asia/Kolkata", "legacy"))
        data[source.integers(len(data) - 1500, len(data))] ^= 1 << int(source.integers(8))
        try:
            read(bytes(data), "legacy", "t6").validate(full=True)
        except (CorruptFileError, UnsupportedFeatureError):
            continue


def test_a_system_without_time_zones_takes_those_of_the_package_tzdata(tmp_path: Path) -> None:
    pytest.importorskip("tzdata")
    environment: dict[str, str] = {}
    provide_time_zones(environment, str(tmp_path / "none"))
    assert (Path(environment["TZDIR"]) / "Europe" / "Berlin").is_file()
    for kept in ({"TZDIR": "mine"}, {}):
        before = dict(kept)
        provide_time_zones(kept, str(tmp_path / "none" if kept else tmp_path))
        assert kept == before
