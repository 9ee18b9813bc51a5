"""Snapshot files."""

import json

import pytest

from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.metadata.snapshot import (
    CommitKind,
    Snapshot,
    encode_snapshot,
    parse_snapshot,
)

JAVA_09 = b"""{
  "version" : 3, "id" : 1, "schemaId" : 0,
  "baseManifestList" : "manifest-list-a-0", "deltaManifestList" : "manifest-list-a-1",
  "changelogManifestList" : null, "commitUser" : "u", "commitIdentifier" : 9223372036854775807,
  "commitKind" : "APPEND", "timeMillis" : 1795217511210, "logOffsets" : { },
  "totalRecordCount" : 50, "deltaRecordCount" : 50, "changelogRecordCount" : 0,
  "somethingNew" : [ 1, { "a" : "b" } ]
}"""


def minimal(**changes: object) -> dict[str, object]:
    return {
        "version": 3,
        "id": 7,
        "schemaId": 2,
        "baseManifestList": "base",
        "deltaManifestList": "delta",
        "commitUser": "u",
        "commitIdentifier": 1,
        "commitKind": "COMPACT",
        "timeMillis": 5,
        "totalRecordCount": 10,
        "deltaRecordCount": -3,
        **changes,
    }


def parse(**changes: object) -> Snapshot:
    return parse_snapshot(json.dumps(minimal(**changes)).encode(), "snapshot-7")


def test_a_snapshot_of_java_0_9_parses_with_null_and_unknown_keys() -> None:
    snapshot = parse_snapshot(JAVA_09, "snapshot-1")
    assert snapshot.id == 1
    assert snapshot.commit_kind is CommitKind.APPEND
    assert snapshot.commit_identifier == 2**63 - 1
    assert snapshot.changelog_manifest_list is None
    assert snapshot.changelog_record_count == 0
    assert snapshot.log_offsets == {}
    assert snapshot.watermark is None
    assert snapshot.unknown == {"somethingNew": [1, {"a": "b"}]}


def test_unknown_keys_survive_a_round_trip() -> None:
    snapshot = parse_snapshot(JAVA_09, "snapshot-1")
    assert parse_snapshot(encode_snapshot(snapshot), "snapshot-1") == snapshot


def test_the_text_is_laid_out_as_java_does_without_absent_keys() -> None:
    text = encode_snapshot(parse(properties={"k": "v"})).decode()
    assert text == (
        '{\n  "version" : 3,\n  "id" : 7,\n  "schemaId" : 2,\n  "baseManifestList" : "base",\n'
        '  "deltaManifestList" : "delta",\n  "commitUser" : "u",\n  "commitIdentifier" : 1,\n'
        '  "commitKind" : "COMPACT",\n  "timeMillis" : 5,\n  "totalRecordCount" : 10,\n'
        '  "deltaRecordCount" : -3,\n  "properties" : {\n    "k" : "v"\n  }\n}'
    )


def test_old_versions_may_lack_counts_and_version() -> None:
    old = minimal()
    for key in ("version", "totalRecordCount", "deltaRecordCount"):
        del old[key]
    snapshot = parse_snapshot(json.dumps(old).encode(), "snapshot-7")
    assert (snapshot.version, snapshot.total_record_count) == (1, None)
    assert parse(version=2, totalRecordCount=None).delta_record_count == -3


def test_unknown_versions_are_refused() -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        parse(version=4)
    assert (caught.value.found, caught.value.known) == (4, (1, 2, 3))


@pytest.mark.parametrize(
    ("changes", "where", "rule"),
    [
        ({"id": None}, "id", "must be present"),
        ({"id": "7"}, "id", "must be an integer, not '7'"),
        ({"id": True}, "id", "must be an integer, not True"),
        ({"id": 2**63}, "id", "must be a 64-bit integer, not 9223372036854775808"),
        ({"commitUser": 3}, "commitUser", "must be a string, not 3"),
        ({"totalRecordCount": None}, "totalRecordCount", "must be present"),
        ({"properties": {"a": 1}}, "properties.a", "must be a string, not 1"),
        ({"properties": []}, "properties", "must be an object, not []"),
    ],
)
def test_members_of_the_wrong_shape_are_named(
    changes: dict[str, object], where: str, rule: str
) -> None:
    with pytest.raises(CorruptFileError) as caught:
        parse(**changes)
    assert (caught.value.path, caught.value.where, caught.value.rule) == ("snapshot-7", where, rule)


def test_an_unknown_commit_kind_is_an_error_with_the_choices() -> None:
    with pytest.raises(CorruptFileError, match="'APPEND', 'COMPACT', 'OVERWRITE', 'ANALYZE'"):
        parse(commitKind="MERGE")


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "the file is not valid JSON"),
        (b'{"version": 3', "the file is not valid JSON"),
        (b"[1]", "the JSON must be an object"),
        (b"\xff\xfe", "must be UTF-8"),
        (b"[" * 100_000, "cannot be read as JSON"),
    ],
)
def test_what_is_no_json_object_is_corrupt(data: bytes, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        parse_snapshot(data, "snapshot-7")


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(CorruptFileError, match="valid Unicode"):
        parse_snapshot(b'{"version": 3, "commitUser": "\\ud800"}', "snapshot-1")


def test_a_snapshot_shows_itself_in_a_line() -> None:
    snapshot = Snapshot(
        id=7,
        schema_id=2,
        base_manifest_list="b",
        delta_manifest_list="d",
        commit_user="u",
        commit_identifier=1,
        commit_kind=CommitKind.COMPACT,
        time_millis=1_700_000_000_000,
        total_record_count=1234,
        delta_record_count=-6,
    )
    shown = "<Snapshot 7 COMPACT, 2023-11-14 22:13:20 UTC, schema 2, -6 rows, 1,234 stored>"
    assert repr(snapshot) == shown
