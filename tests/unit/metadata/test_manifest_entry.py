"""Frames of manifest entries, and how entries cancel."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.entry_cancellation import live_entries, merge_entries
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, FileKind, ManifestEntries
from support.entries import entries, entry


def names(found: ManifestEntries) -> list[tuple[object, object, object]]:
    return [(row["kind"], row["file_name"], row["level"]) for row in found.rows()]


def test_a_frame_has_exactly_the_columns_of_its_schema() -> None:
    frame = entries(entry("a"))
    assert frame.table.schema.equals(ENTRY_SCHEMA)
    assert frame.rows()[0]["write_cols"] is None
    assert (len(frame), frame.total_rows, frame.total_size) == (1, 1, 100)
    assert (len(ManifestEntries.empty()), ManifestEntries.empty().total_rows) == (0, 0)


def test_rows_are_picked_by_masks_and_positions_of_numpy_or_arrow() -> None:
    frame = entries(entry("a"), entry("b"), entry("c", kind=1))
    assert names(frame.filter(np.array([True, False, True]))) == [(0, "a", 0), (1, "c", 0)]
    assert names(frame.filter(pa.array([False, True, False]))) == [(0, "b", 0)]
    assert names(frame.take(np.array([2, 0]))) == [(1, "c", 0), (0, "a", 0)]
    assert names(frame.take(pa.array([1]))) == [(0, "b", 0)]
    assert names(frame.slice(1, 1)) == [(0, "b", 0)]
    assert names(frame.of_kind(FileKind.DELETE)) == [(1, "c", 0)]
    assert names(frame.slice(2).with_kind(FileKind.ADD)) == [(0, "c", 0)]
    assert len(ManifestEntries.concat([frame, frame])) == 6
    assert len(ManifestEntries.concat([])) == 0


@pytest.mark.parametrize(
    "kept", [[], [0], [4999], [*range(5000)], [*range(10, 20)], [*range(100, 4000)], [3, 7, 4000]]
)
def test_rows_are_picked_whether_they_lie_together_or_not(kept: list[int]) -> None:
    frame = entries(*(entry(f"f{number}") for number in range(5000)))
    mask = np.zeros(5000, np.bool_)
    mask[kept] = True
    assert [row["file_name"] for row in frame.filter(mask).rows()] == [f"f{n}" for n in kept]


def test_a_deleted_file_is_not_live() -> None:
    frame = entries(entry("a"), entry("b"), entry("a", kind=1))
    assert names(live_entries(frame)) == [(0, "b", 0)]


def test_an_upgraded_file_lives_on_its_new_level() -> None:
    frame = entries(entry("a"), entry("a", kind=1), entry("a", level=5))
    assert names(live_entries(frame)) == [(0, "a", 5)]
    assert names(merge_entries(frame)) == [(0, "a", 5)]


@pytest.mark.parametrize(
    "difference",
    [
        {"level": 1},
        {"bucket": 1},
        {"partition": b"\0\0\0\1" + bytes(16)},
        {"extra_files": ["a.index"]},
        {"embedded_file_index": b"x"},
        {"external_path": "s3://b/a"},
    ],
)
def test_every_part_of_the_identity_counts(difference: dict[str, object]) -> None:
    frame = entries(entry("a"), entry("a", **difference), entry("a", kind=1, **difference))
    assert names(live_entries(frame)) == [(0, "a", 0)]
    assert names(merge_entries(frame)) == [(0, "a", 0)]


def test_what_is_not_part_of_the_identity_does_not_count() -> None:
    frame = entries(entry("a"), entry("a", kind=1, file_size=7, creation_time=5, row_count=1))
    assert names(live_entries(frame)) == []


def test_merging_keeps_order_and_deletions_without_their_addition() -> None:
    frame = entries(
        entry("z", kind=1), entry("c"), entry("b"), entry("a"), entry("b", kind=1), entry("d")
    )
    assert names(merge_entries(frame)) == [(1, "z", 0), (0, "c", 0), (0, "a", 0), (0, "d", 0)]


def test_a_file_may_come_back_after_its_deletion() -> None:
    frame = entries(entry("a"), entry("a", kind=1), entry("a"))
    assert names(merge_entries(frame)) == [(0, "a", 0)]


@pytest.mark.parametrize("kinds", [(0, 0), (1, 0), (0, 1, 0, 0)])
def test_a_file_added_while_an_entry_is_there_is_corrupt(kinds: tuple[int, ...]) -> None:
    frame = entries(*(entry("a", kind=kind) for kind in kinds))
    with pytest.raises(CorruptFileError, match="list-1: file a must be added only once"):
        merge_entries(frame, path="list-1")


def test_empty_frames_merge_to_empty_frames() -> None:
    assert len(live_entries(ManifestEntries.empty())) == 0
    assert len(merge_entries(ManifestEntries.empty())) == 0


def test_a_commit_message_travels_between_processes() -> None:
    message = CommitMessage(partition=bytes(12), bucket=0, new_files=entries(entry("a")))
    again = pickle.loads(pickle.dumps(message))  # noqa: S301 - our own bytes
    assert again == message
    assert not message.is_empty
    assert CommitMessage(partition=b"", bucket=0).is_empty
    index = IndexEntries.from_rows(
        [
            {
                "kind": 0,
                "partition": b"",
                "bucket": 0,
                "index_type": "HASH",
                "file_name": "i",
                "file_size": 4,
                "row_count": 1,
            }
        ]
    )
    assert not CommitMessage(partition=b"", bucket=0, new_index_files=index).is_empty
