from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.scan.time_travel import TimeTravel, epoch_ms, resolve, travel_of
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(id=pa.int32())


def three() -> Table:
    table = append_table(COLUMNS, *([{"id": i}] for i in range(3)))
    for number in (1, 2, 3):
        restamp(table, number, time_millis=1000 * number)
    return table


def restamp(table: Table, number: int, **values: int) -> None:
    """Rewrite a snapshot's file with another time or watermark."""
    path = table._store.paths.snapshot(number)
    text = table._store.file_io.read(path).decode()
    snapshot = table._store.snapshots.load(number)
    for key, value in values.items():
        if key == "time_millis":
            text = text.replace(f'"timeMillis" : {snapshot.time_millis}', f'"timeMillis" : {value}')
        else:
            text = text.replace("{", f'{{"{key}" : {value},', 1)
    table._store.file_io.replace(path, text.encode())


def found(table: Table, travel: TimeTravel) -> int:
    snapshot = resolve(table._store, travel)
    assert snapshot is not None
    return snapshot.id


def test_without_a_point_the_newest_snapshot_is_read() -> None:
    assert found(three(), TimeTravel()) == 3
    assert resolve(append_table(COLUMNS)._store, TimeTravel()) is None


@pytest.mark.parametrize(("moment", "number"), [(1000, 1), (1999, 1), (2000, 2), (9999, 3)])
def test_a_time_gives_the_newest_snapshot_not_younger(moment: int, number: int) -> None:
    assert found(three(), TimeTravel(timestamp_ms=moment)) == number


def test_before_the_first_snapshot_there_is_nothing() -> None:
    with pytest.raises(
        NotFoundError,
        match=r"Available snapshots: 1 to 3\. The first snapshot was committed at 1970-01-01",
    ):
        resolve(three()._store, TimeTravel(timestamp_ms=999))
    with pytest.raises(NotFoundError, match="no snapshot yet"):
        resolve(append_table(COLUMNS)._store, TimeTravel(timestamp_ms=1))


def test_a_watermark_gives_the_first_snapshot_that_reached_it() -> None:
    table = three()
    restamp(table, 2, watermark=50)
    restamp(table, 3, watermark=70)
    assert found(table, TimeTravel(watermark=50)) == 2
    assert found(table, TimeTravel(version="watermark-51")) == 3
    with pytest.raises(NotFoundError, match="watermark of at least 71"):
        resolve(table._store, TimeTravel(watermark=71))


def test_an_expired_snapshot_is_told_with_the_tag_that_keeps_it() -> None:
    table = three()
    table.create_tag("kept", 1)
    table._store.file_io.delete(table._store.paths.snapshot(1))
    with pytest.raises(NotFoundError, match="tag='kept'"):
        resolve(table._store, TimeTravel(snapshot=1))
    assert found(table, TimeTravel(tag="kept")) == 1


def test_a_version_that_means_nothing_is_refused() -> None:
    with pytest.raises(NotFoundError, match="watermark-<n>"):
        resolve(three()._store, TimeTravel(version="newest"))


def test_a_pinned_point_stays_on_its_snapshot() -> None:
    table = three()
    pinned = TimeTravel(timestamp_ms=99_999).pinned(table._store)
    table.append([{"id": 4}])
    assert found(table, pinned) == 3
    assert TimeTravel().pinned(table._store).found is None


def test_the_newest_compaction_is_found_else_the_newest_snapshot() -> None:
    table = keyed_table(columns(k=pa.int32()), [{"k": 1}], [{"k": 2}], primary_key=["k"])
    compacted = TimeTravel(compacted=True)
    assert found(table, compacted) == 2
    path = table._store.paths.snapshot(1)
    text = table._store.file_io.read(path).decode()
    table._store.file_io.replace(path, text.replace('"APPEND"', '"COMPACT"').encode())
    assert found(table, compacted) == 1
    assert compacted.given == ()


def test_moments_are_read_to_the_millisecond() -> None:
    zone = timezone(timedelta(hours=1))
    assert epoch_ms(datetime(1970, 1, 1, 1, 0, 1, 999, tzinfo=zone)) == 1000
    assert epoch_ms("1969-12-31T23:59:59.999+00:00") == -1
    local = datetime(2026, 1, 1, tzinfo=UTC).astimezone().replace(tzinfo=None)
    assert epoch_ms(local.isoformat(" ")) == 1767225600000
    assert epoch_ms(pd.Timestamp(local)) == epoch_ms(np.datetime64(local)) == 1767225600000
    assert epoch_ms(pd.Timestamp("2026-01-01", tz="UTC")) == 1767225600000
    assert epoch_ms(1767225600000) == epoch_ms(np.int64(1767225600000)) == 1767225600000
    assert epoch_ms(date(2026, 1, 1)) == epoch_ms(datetime(2026, 1, 1))  # noqa: DTZ001 - local
    for wrong in ("yesterday", pd.NaT, np.datetime64("NaT", "us"), True, 1.5):
        with pytest.raises(InvalidInputError, match="Write a timestamp such as"):
            epoch_ms(wrong)  # type: ignore[arg-type]  # what is refused here


def test_a_mode_without_its_option_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"needs option 'scan\.creation-time-millis'"):
        travel_of(TableOptions({"scan.mode": "from-creation-timestamp"}))
