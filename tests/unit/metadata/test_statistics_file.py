"""Statistics and consumer files."""

import pytest

from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.consumer import Consumer, encode_consumer, parse_consumer
from paimon_explore.metadata.statistics_file import (
    ColumnStatistics,
    Statistics,
    encode_statistics,
    parse_statistics,
)


def test_statistics_survive_a_round_trip() -> None:
    statistics = Statistics(
        snapshot_id=1,
        schema_id=0,
        merged_record_count=50,
        merged_record_size=4000,
        columns={
            "id": ColumnStatistics(column_id=0, distinct_count=50, min="0", max="49", null_count=0),
            "name": ColumnStatistics(column_id=1, average_length=7, max_length=12),
        },
    )
    assert parse_statistics(encode_statistics(statistics), "stat-1") == statistics


def test_statistics_without_columns_are_possible() -> None:
    statistics = parse_statistics(b'{"snapshotId":1,"schemaId":0}', "stat-1")
    assert statistics == Statistics(snapshot_id=1, schema_id=0)


def test_a_column_that_is_no_object_is_named() -> None:
    data = b'{"snapshotId":1,"schemaId":0,"colStats":{"a":null}}'
    with pytest.raises(CorruptFileError, match=r"colStats\.a must be present"):
        parse_statistics(data, "stat-1")


def test_consumers_hold_the_next_snapshot() -> None:
    assert encode_consumer(Consumer(next_snapshot=3)) == b'{\n  "nextSnapshot" : 3\n}'
    assert parse_consumer(b'{"nextSnapshot":3,"x":1}', "consumer-a") == Consumer(next_snapshot=3)
    with pytest.raises(CorruptFileError, match="nextSnapshot must be present"):
        parse_consumer(b"{}", "consumer-a")
