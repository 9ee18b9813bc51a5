"""ORC files that Java writes in other time zones are read as Java in that zone reads them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon, OracleUnavailableError
from orc_zones import written
from paimon_explore import open_table
from support.depth import some
from support.orc_zones import FORMS, ZONES, expected, flat, given
from support.required import lacking

pytestmark = pytest.mark.interop


def as_text(nanoseconds: int) -> str:
    second, fraction = divmod(nanoseconds, 10**9)
    clock = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return f"{clock:%Y-%m-%d %H:%M:%S}.{fraction:09d}"


def wide_times(java: JavaPaimon, folder: Path) -> None:
    """Years that 64-bit nanoseconds cannot represent: what either writes, both read."""
    types = {"t": "TIMESTAMP(6)", "l": "TIMESTAMP(6) WITH LOCAL TIME ZONE"}
    columns: list[tuple[str, pa.DataType]]
    columns = [("t", pa.timestamp("us")), ("l", pa.timestamp("us", "UTC"))]
    schema = pa.schema(columns)
    texts = ["0001-01-01", "1676-12-31 23:59:59.999999", "1969-12-31", "2263-01-01 00:00:00.000001"]
    clocks = [datetime.fromisoformat(text) for text in (*texts, "9999-12-31")]
    rows = [{"t": clock, "l": clock.replace(tzinfo=UTC)} for clock in clocks]
    sent = pa.Table.from_pylist([*rows, {"t": None, "l": None}], schema)
    for legacy in ("true", "false"):
        options = {"file.format": "orc", "orc.timestamp-ltz.legacy.type": legacy}
        java.create_table(folder / f"theirs-{legacy}", [*types.items()], options=options)
        java.write(folder / f"theirs-{legacy}", sent)
        # Java itself moves the times of the first years in some zones
        back = java.read(folder / f"theirs-{legacy}").cast(schema)
        assert open_table(folder / f"theirs-{legacy}").to_arrow().equals(back)
        java.create_table(folder / f"ours-{legacy}", [*types.items()], options=options)
        open_table(folder / f"ours-{legacy}").append(sent)
        assert open_table(folder / f"ours-{legacy}").to_arrow().equals(sent)
        read = java.read(folder / f"ours-{legacy}").cast(schema)
        # in the legacy form, Java shifts the instants of other zones by its own
        names = ["t"] if legacy == "true" else ["t", "l"]
        assert read.select(names).equals(sent.select(names))


@pytest.mark.parametrize("zone", some(ZONES, 12, 6))
def test_a_table_that_java_wrote_in_a_zone(zone: str, tmp_path: Path) -> None:
    try:
        started = JavaPaimon(timezone=zone)
    except OracleUnavailableError as error:
        lacking("java", str(error))
    with started as java:
        for form in FORMS:
            theirs = flat(written(java, tmp_path / form, form))
            table = open_table(tmp_path / form)
            ours = flat(table.to_arrow().sort_by("id"))
            assert ours == theirs == expected(zone, form), form
        wide_times(java, tmp_path)
        # one file for each of some values: their statistics must not hide them
        folder = tmp_path / "single"
        java.create_table(folder, [("t9", "TIMESTAMP(9)")], options={"file.format": "orc"})
        sent = given().select(["t9"])
        for place in range(0, sent.num_rows, 12):
            java.write(folder, sent.slice(place, 1))
    single = open_table(folder)
    column = single.to_arrow().column("t9").cast(pa.int64()).to_pylist()
    values = [value for value in column if value is not None]
    assert len(values) >= 12
    for value in values:
        for compare in ("=", "<=", ">="):
            found = single.scan(where=f"t9 {compare} TIMESTAMP '{as_text(value)}'").count()
            outcomes = {
                "=": sum(other == value for other in values),
                "<=": sum(other <= value for other in values),
                ">=": sum(other >= value for other in values),
            }
            assert found == outcomes[compare], (compare, as_text(value))
