import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError
from paimon_explore.maintenance.references.auto_tags import TagPeriods, create_auto_tags, periods_of
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.table_options import TableOptions
from support.lifecycle import keys, plain_table, replaced_rows
from support.written import columns

DAY = "%Y-%m-%d"
PROCESS_TIME = {"tag.automatic-creation": "process-time"}


def rewritten(table: Table, snapshot_id: int, when: datetime) -> None:
    """Let a snapshot look as if it was committed at another time."""
    path = Path(table.path) / "snapshot" / f"snapshot-{snapshot_id}"
    millis = table.snapshots[snapshot_id].time_millis
    path.write_text(path.read_text().replace(str(millis), str(int(when.timestamp() * 1000))))


def test_a_writer_keeps_no_more_snapshots_than_the_options_say(tmp_path: Path) -> None:
    options = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "3"}
    table = replaced_rows(plain_table(tmp_path, options), 7)
    assert list(table.snapshots) == [table.snapshots[number] for number in (5, 6, 7)]
    assert keys(table.at(snapshot=5)) == [5]
    assert table.maintenance.fsck() == []


def test_snapshots_younger_than_an_hour_stay(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 14)
    assert [found.id for found in table.snapshots] == list(range(1, 15))


def test_of_old_snapshots_the_newest_ten_stay(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 12)
    for number in range(1, 13):
        rewritten(table, number, datetime(2024, 1, 1, tzinfo=UTC))
    table.append([{"k": 99, "v": "now"}])
    assert [found.id for found in table.snapshots] == list(range(4, 14))


def test_a_write_only_table_keeps_all_snapshots(tmp_path: Path) -> None:
    options = {
        "write-only": "true",
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "1",
    }
    table = replaced_rows(plain_table(tmp_path, options), 4)
    assert [found.id for found in table.snapshots] == [1, 2, 3, 4]


def test_the_commit_stands_when_the_upkeep_fails(tmp_path: Path) -> None:
    options = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    table = replaced_rows(plain_table(tmp_path, options), 1)
    consumer = Path(table.path) / "consumer" / "consumer-c"
    consumer.parent.mkdir()
    consumer.write_text("no JSON")
    os.utime(consumer, (0, 0))
    with pytest.warns(
        RuntimeWarning, match="Snapshot 2 is committed, but the maintenance after the commit"
    ):
        table.append([{"k": 2, "v": "b"}])
    assert keys(table) == [1, 2]
    assert [found.id for found in table.snapshots] == [1, 2]


@pytest.mark.parametrize(("age", "left"), [("0 s", []), ("1 d", ["c"])])
def test_a_consumer_that_stands_still_goes_behind_a_commit(
    tmp_path: Path, age: str, left: list[str]
) -> None:
    table = plain_table(tmp_path, {"consumer.expiration-time": age})
    table._store.consumers.save("c", Consumer(next_snapshot=1))
    table.append([{"k": 1, "v": "a"}])
    assert [consumer.name for consumer in table.maintenance.consumers] == left
    table._store.consumers.save("c", Consumer(next_snapshot=1))
    os.utime(Path(table.path) / "consumer" / "consumer-c", (1, 1))
    assert table.maintenance.expire_consumers() == ["c"]


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, ["2020-01-01", "2999-01-01"]),
        ({"partition.expiration-check-interval": "0 s"}, ["2999-01-01"]),
        ({"end-input.check-partition-expire": "true"}, ["2999-01-01"]),
    ],
)
def test_partitions_expire_behind_a_commit_only_when_a_batch_is_asked_to(
    tmp_path: Path, options: dict[str, str], left: list[str]
) -> None:
    schema = columns({"dt": pa.string(), "k": pa.int32()})
    given = {"partition.expiration-time": "7 d", **options}
    table = plain_table(tmp_path, given, schema, ("dt",))
    table.append([{"dt": "2020-01-01", "k": 1}, {"dt": "2999-01-01", "k": 2}])
    assert sorted(table.to_pandas()["dt"]) == left


def test_each_complete_day_gets_a_tag(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 4)
    times = [(1, 10), (2, 9), (2, 11), (5, 8)]
    for number, (day, hour) in enumerate(times, 1):
        rewritten(table, number, datetime(2024, 3, day, hour).astimezone())
    options = TableOptions({"tag.automatic-creation": "process-time"})
    assert [tag.name for tag in create_auto_tags(table._store, options)] == [
        "2024-02-29",
        "2024-03-01",
        "2024-03-04",
    ]
    assert {tag.name: tag.snapshot.id for tag in table._store.tags.list()} == {
        "2024-02-29": 1,
        "2024-03-01": 2,
        "2024-03-04": 4,
    }
    assert create_auto_tags(table._store, options) == []


def test_missed_days_are_filled_when_asked_for(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 2)
    rewritten(table, 1, datetime(2024, 3, 1, 10).astimezone())
    rewritten(table, 2, datetime(2024, 3, 4, 8).astimezone())
    options = TableOptions(
        {"tag.automatic-creation": "process-time", "tag.automatic-completion": "true"}
    )
    create_auto_tags(table._store, options)
    assert table._store.tags.names() == ["2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03"]
    table.delete_tag("2024-03-02")
    table.append([{"k": 3, "v": "v"}])
    rewritten(table, 3, datetime(2024, 3, 5, 8).astimezone())
    assert [tag.name for tag in create_auto_tags(table._store, options)] == ["2024-03-04"]


def test_a_tag_with_the_name_of_a_period_is_where_automatic_tags_go_on(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 2)
    for number in (1, 2):
        rewritten(table, number, datetime(2024, 3, number, 10).astimezone())
    table.create_tag("2024-02-01", 2)
    assert create_auto_tags(table._store, TableOptions(PROCESS_TIME)) == []


def test_a_tag_waits_for_the_delay(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 3)
    for number, (day, hour) in enumerate([(1, 10), (2, 1), (2, 2)], 1):
        rewritten(table, number, datetime(2024, 3, day, hour).astimezone())
    options = TableOptions({"tag.automatic-creation": "process-time", "tag.creation-delay": "2 h"})
    create_auto_tags(table._store, options)
    assert table._store.tags.load("2024-03-01").snapshot.id == 3


def test_the_oldest_automatic_tags_go_and_hand_made_ones_stay(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 3)
    table.create_tag("mine", 1)
    for number in (1, 2, 3):
        rewritten(table, number, datetime(2024, 3, number, 10).astimezone())
    options = TableOptions({"tag.automatic-creation": "process-time", "tag.num-retained-max": "1"})
    create_auto_tags(table._store, options)
    assert table._store.tags.names() == ["2024-03-02", "mine"]


def test_without_a_watermark_no_tag_is_made_by_it(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    options = TableOptions({"tag.automatic-creation": "watermark"})
    assert create_auto_tags(table._store, options) == []


def test_the_tags_of_batches_are_named_for_days_and_the_oldest_go(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 1)
    options = TableOptions({"tag.automatic-creation": "batch", "tag.num-retained-max": "1"})
    assert create_auto_tags(plain_table(tmp_path / "empty")._store, options) == []
    for number in (1, 2):
        rewritten(table, number, datetime(2024, 3, number, 10).astimezone())
        (tag,) = create_auto_tags(table._store, options)
        assert (tag.name, tag.snapshot.id) == (f"batch-write-2024-03-0{number}", number)
        table.append([{"k": 9, "v": "v"}])
    assert table._store.tags.names() == ["batch-write-2024-03-02"]


def test_each_batch_moves_its_tag(tmp_path: Path) -> None:
    options = {"tag.automatic-creation": "batch", "tag.batch.customized-name": "newest"}
    table = replaced_rows(plain_table(tmp_path, options), 3)
    assert {tag.name: tag.snapshot.id for tag in table._store.tags.list()} == {"newest": 3}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "2024-05-06"),
        ({"tag.period-formatter": "without_dashes"}, "20240506"),
        ({"tag.creation-period": "hourly"}, "2024-05-07 06"),
        (
            {"tag.creation-period": "hourly", "tag.period-formatter": "without_dashes"},
            "20240507 06",
        ),
        (
            {
                "tag.creation-period": "two-hours",
                "tag.period-formatter": "without_dashes_and_spaces",
            },
            "2024050704",
        ),
        ({"tag.creation-period-duration": "15 min"}, "202405070700"),
    ],
)
def test_a_tag_is_named_for_the_period_before(options: dict[str, str], name: str) -> None:
    periods = periods_of(TableOptions(options))
    assert periods.name(periods.before(datetime.fromisoformat("2024-05-07T07:20"))) == name


def test_other_names_are_no_periods() -> None:
    periods = TagPeriods(length=timedelta(days=1), formatter=DAY)
    assert periods.begin("2024-1-1") is None
    assert periods.begin("v1") is None
    assert periods.begin("2024-01-31") == datetime.fromisoformat("2024-01-31")


def test_a_delay_of_a_whole_period_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be shorter than the tag creation period"):
        periods_of(TableOptions({"tag.creation-delay": "1 d"}))


@pytest.mark.parametrize(
    ("tag", "rows"),
    [("2024-03-04", [3, 4]), ("2024-03-01", [2, 3]), ("2024-02-29", []), ("2024-03-02", [])],
)
def test_what_is_new_since_the_automatic_tag_before(
    tmp_path: Path, tag: str, rows: list[int]
) -> None:
    table = plain_table(tmp_path, {"write-only": "true"})
    for number, (day, hour) in enumerate([(1, 10), (2, 9), (2, 11), (5, 8)], 1):
        table.append([{"k": number, "v": "v"}])
        rewritten(table, number, datetime(2024, 3, day, hour).astimezone())
    options = {"tag.automatic-creation": "process-time"}
    create_auto_tags(table._store, TableOptions(options))
    if tag == "2024-03-01":
        table.delete_tag("2024-03-01")
        table.create_tag("2024-03-01", 3)
    read = open_table(table.path, options={**options, "incremental-to-auto-tag": tag})
    assert keys(read) == rows


def test_an_automatic_tag_has_the_name_of_a_period(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    read = open_table(table.path, options={"incremental-to-auto-tag": "v1"})
    with pytest.raises(InvalidInputError, match="'v1', which is not an automatic tag"):
        read.to_arrow()
