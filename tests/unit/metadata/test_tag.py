"""Tag files."""

from datetime import datetime, timedelta

import pytest

from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.tag import Tag, encode_tag, parse_tag

SNAPSHOT = (
    b'{"version":3,"id":2,"schemaId":0,"baseManifestList":"b","deltaManifestList":"d",'
    b'"commitUser":"u","commitIdentifier":1,"commitKind":"APPEND","timeMillis":5,'
    b'"totalRecordCount":1,"deltaRecordCount":1,"other":7'
)


def parse(extra: bytes) -> Tag:
    return parse_tag(SNAPSHOT + extra + b"}", "/t/tag/tag-2024-01-01 02")


def test_a_plain_tag_is_its_snapshot() -> None:
    tag = parse(b"")
    assert (tag.name, tag.snapshot.id, tag.create_time) == ("2024-01-01 02", 2, None)
    assert tag.expire_time is None
    assert tag.snapshot.unknown == {"other": 7}


@pytest.mark.parametrize(
    ("parts", "time"),
    [
        ("[2026, 11, 21, 7, 8, 27, 693678925]", datetime(2026, 11, 21, 7, 8, 27, 693678)),  # noqa: DTZ001
        ("[2024, 1, 1, 0, 0]", datetime(2024, 1, 1, 0, 0)),  # noqa: DTZ001
        ("[2024, 1, 1, 0, 0, 9]", datetime(2024, 1, 1, 0, 0, 9)),  # noqa: DTZ001
        ('"2024-01-01T10:00:00.5"', datetime(2024, 1, 1, 10, 0, 0, 500000)),  # noqa: DTZ001
    ],
)
def test_create_times_are_arrays_of_varying_length(parts: str, time: datetime) -> None:
    tag = parse(f',"tagCreateTime":{parts},"tagTimeRetained":259200.000000000'.encode())
    assert tag.create_time == time
    assert tag.time_retained == timedelta(days=3)
    assert tag.expire_time == time + timedelta(days=3)


def test_a_tag_survives_a_round_trip() -> None:
    tag = parse(b',"tagCreateTime":[2024,1,1,0,0,1,5000],"tagTimeRetained":60.5')
    assert parse_tag(encode_tag(tag), "/t/tag/tag-2024-01-01 02") == tag
    assert b'"tagCreateTime" : [\n    2024,\n    1,' in encode_tag(tag)


@pytest.mark.parametrize(
    "extra",
    [
        b',"tagCreateTime":[2024,13,1,0,0]',
        b',"tagCreateTime":[2024,1]',
        b',"tagCreateTime":["a"]',
        b',"tagCreateTime":5',
        b',"tagCreateTime":"soon"',
        b',"tagTimeRetained":"1 d"',
        b',"tagTimeRetained":1e300',
    ],
)
def test_times_that_make_no_sense_are_corrupt(extra: bytes) -> None:
    with pytest.raises(CorruptFileError, match="tag-2024"):
        parse(extra)
