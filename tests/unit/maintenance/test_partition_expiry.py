from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.expiry.partition_expiry import (
    PartitionExpiry,
    expire_partitions,
    expiry_of,
    partition_times,
)
from paimon_explore.metadata.options.option_enums import PartitionExpirationStrategy
from support.lifecycle import keys, options_of, plain_table
from support.small_tables import new_catalog
from support.written import columns

NOW = datetime(2026, 1, 10, 12, 0)  # noqa: DTZ001 - partitions have local times


def days(folder: Path, **options: str) -> Table:
    """One row per day, and rows of partitions that are no day."""
    schema = columns({"k": pa.int32(), "dt": pa.string(), "hr": pa.int32()})
    table = plain_table(folder, options, schema, ("dt", "hr"))
    values = ["2026-01-07", "2026-01-08", "2026-01-09", "2026-01-10", "soon", None]
    table.append([{"k": i, "dt": dt, "hr": i} for i, dt in enumerate(values)])
    return table


def expired(table: Table, age: timedelta, *, dry_run: bool = False) -> list[object]:
    """The days that go."""
    options = options_of(table._store)
    expiry = expiry_of(options, age)
    gone = expire_partitions(table._store, options, expiry, now=lambda: NOW, dry_run=dry_run)
    return [spec["dt"] for spec in gone]


def test_past_partitions_go_in_one_overwrite(tmp_path: Path) -> None:
    table = days(tmp_path)
    assert expired(table, timedelta(days=2), dry_run=True) == ["2026-01-07", "2026-01-08"]
    assert len(table.snapshots) == 1
    assert expired(table, timedelta(days=2)) == ["2026-01-07", "2026-01-08"]
    assert keys(table) == [2, 3, 4, 5]
    snapshot = table.snapshot
    assert snapshot is not None
    assert snapshot.commit_kind.value == "OVERWRITE"
    assert expired(table, timedelta(days=2)) == []
    assert len(table.snapshots) == 2


def test_the_times_of_partitions_are_told(tmp_path: Path) -> None:
    table = days(tmp_path)
    options = options_of(table._store)
    found = partition_times(table._store, options, expiry_of(options, timedelta(days=2)))
    assert len(found.files) == 6
    assert [str(time) for time in found.times.values()] == [
        *(f"2026-01-{day} 00:00:00" for day in ("07", "08", "09", "10")),
        *("None", "None"),
    ]
    assert [spec["hr"] for spec in found.specs.values()] == list(range(6))


def test_a_pattern_makes_one_time_of_several_columns(tmp_path: Path) -> None:
    table = days(
        tmp_path,
        **{
            "partition.timestamp-pattern": "$dt $hr:00",
            "partition.timestamp-formatter": "yyyy-MM-dd H:mm",
        },
    )
    assert expired(table, timedelta(days=1, hours=10)) == ["2026-01-07", "2026-01-08"]
    assert expired(table, timedelta(days=1, hours=9)) == ["2026-01-09"]


def test_the_newest_file_may_tell_the_time(tmp_path: Path) -> None:
    table = days(tmp_path, **{"partition.expiration-strategy": "update-time"})
    options = options_of(table._store)
    later = datetime.now().astimezone().replace(tzinfo=None) + timedelta(hours=1)
    for age, count in ((timedelta(hours=2), 0), (timedelta(minutes=59), 6)):
        expiry = expiry_of(options, age)
        gone = expire_partitions(table._store, options, expiry, now=lambda: later, dry_run=True)
        assert len(gone) == count


def test_at_most_so_many_go_at_once(tmp_path: Path) -> None:
    table = days(tmp_path, **{"partition.expiration-max-num": "1"})
    assert expired(table, timedelta(hours=1)) == ["2026-01-07"]
    assert expired(table, timedelta(hours=1)) == ["2026-01-08"]


@pytest.mark.parametrize(
    ("text", "pattern", "formatter", "time"),
    [
        ("2026-01-02", None, None, "2026-01-02T00:00:00"),
        ("2026-1-2 3:04:05", None, None, "2026-01-02T03:04:05"),
        ("20260102", None, "yyyyMMdd", "2026-01-02T00:00:00"),
        ("2026-01-02T03", None, "yyyy-MM-dd'T'HH", "2026-01-02T03:00:00"),
        ("20260102", "$dt 05", "yyyyMMdd HH", "2026-01-02T05:00:00"),
        ("2026-13-02", None, None, None),
        ("19723", None, None, None),
        ("2026-01-02", None, "yyyyMMdd", None),
        (None, None, None, None),
        (None, "$dt 05", "yyyyMMdd HH", None),
    ],
)
def test_values_tell_a_time_or_none(
    text: str | None, pattern: str | None, formatter: str | None, time: str | None
) -> None:
    expiry = PartitionExpiry(
        age=timedelta(0),
        strategy=PartitionExpirationStrategy.VALUES_TIME,
        pattern=pattern,
        formatter=formatter,
    )
    found = expiry.time_of({"dt": text})
    assert (None if found is None else found.isoformat()) == time


def test_letters_that_are_not_known_are_not_guessed_at() -> None:
    expiry = PartitionExpiry(
        age=timedelta(0), strategy=PartitionExpirationStrategy.VALUES_TIME, formatter="yyyy-ww"
    )
    with pytest.raises(UnsupportedFeatureError, match="ww"):
        expiry.time_of({"dt": "2026-01"})


def test_without_an_age_or_partitions_nothing_expires(tmp_path: Path) -> None:
    table = days(tmp_path)
    with pytest.raises(InvalidInputError, match=r"partition\.expiration-time"):
        table.maintenance.expire_partitions()
    assert table.maintenance.expire_partitions(timedelta(days=36_500)) == []
    with pytest.raises(InvalidInputError, match="requires a partitioned table"):
        plain_table(tmp_path / "other").maintenance.expire_partitions(timedelta(days=1))


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_a_partition_of_nan_is_dropped_and_overwritten_as_others(kind: str) -> None:
    nan = float("nan")
    catalog = new_catalog()
    table = catalog.create_table("db.t", {"p": kind, "k": "INT"}, partition_by="p")
    rows = [{"p": p, "k": k} for k, p in enumerate((nan, 1.5, None))]

    table.append(rows)
    table.overwrite([{"p": nan, "k": 7}], partition={"p": nan})
    assert keys(table) == [1, 2, 7]
    table.drop_partitions({"p": nan})
    assert keys(table) == [1, 2]
