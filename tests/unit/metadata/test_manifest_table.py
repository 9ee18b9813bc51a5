"""Records as rows and as columns: one answer, whichever is at hand."""

import pickle
from collections.abc import Callable

import pytest

from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.manifest.manifest_table import MAX_CACHED_ROWS
from support.entries import entries, entry

ROWS = (
    entry("a", row_count=3, first_row_id=7, bucket=2),
    entry("b", row_count=4, first_row_id=10, kind=1, write_cols=["x"]),
    entry("c", row_count=5, first_row_id=14, bucket=-1, creation_time=1, value_null_counts=[None]),
)


def listed(name: str, **values: object) -> dict[str, object]:
    return {
        "file_name": name,
        "file_size": 10,
        "num_added_files": 1,
        "num_deleted_files": 0,
        "partition_min": bytes(12),
        "partition_max": bytes(12),
        "partition_null_counts": [],
        "schema_id": 0,
        **values,
    }


ENTRY_QUESTIONS: dict[str, Callable[[ManifestEntries], object]] = {
    "len": len,
    "rows": lambda e: e.rows(),
    "total_rows": lambda e: e.total_rows,
    "total_size": lambda e: e.total_size,
    "count_of": lambda e: e.count_of(FileKind.DELETE),
    "of_kind": lambda e: e.of_kind(FileKind.ADD).rows(),
    "with_kind": lambda e: e.with_kind(FileKind.DELETE).rows(),
    "rest": lambda e: e.slice(1).rows(),
    "first": lambda e: e.slice(0, 2).rows(),
    "concat": lambda e: ManifestEntries.concat([e, e.slice(1, 1)]).rows(),
    "spread": lambda e: [e.min_max(name) for name in ("bucket", "first_row_id", "creation_time")],
    "numbers": lambda e: e.numbers("row_count").tolist(),
    "bytes": encode_records,
}


@pytest.mark.parametrize("question", ENTRY_QUESTIONS)
def test_entries_say_the_same_as_rows_and_as_columns(question: str) -> None:
    ask = ENTRY_QUESTIONS[question]
    rows = entries(*ROWS)
    columns = ManifestEntries(entries(*ROWS).table)
    assert rows.cached_rows is not None
    assert columns.cached_rows is None
    assert ask(rows) == ask(columns)
    assert rows == columns


LIST_QUESTIONS: dict[str, Callable[[ManifestFiles], object]] = {
    "len": len,
    "names": lambda m: m.names,
    "rows": lambda m: list(m.rows()),
    "total_size": lambda m: m.total_size,
    "rest": lambda m: m.slice(1).names,
    "concat": lambda m: ManifestFiles.concat([m, m]).names,
    "bytes": encode_records,
}


@pytest.mark.parametrize("question", LIST_QUESTIONS)
def test_manifests_say_the_same_as_rows_and_as_columns(question: str) -> None:
    ask = LIST_QUESTIONS[question]
    rows = ManifestFiles.from_rows([listed("m1", min_bucket=1), listed("m2")])
    columns = ManifestFiles(rows.table)
    assert ask(rows) == ask(columns)
    assert rows == columns


def test_many_rows_become_columns_at_once() -> None:
    many = [entry(f"f{number}") for number in range(MAX_CACHED_ROWS)]
    assert entries(*many).cached_rows is not None
    assert entries(*many, entry("last")).cached_rows is None
    together = ManifestEntries.concat([entries(*many), entries(entry("last"))])
    assert together.cached_rows is None
    assert [row["file_name"] for row in together.rows()] == [
        *(r["file_name"] for r in many),
        "last",
    ]


def test_whoever_changes_the_rows_of_a_frame_does_not_change_the_frame() -> None:
    frame = entries(*ROWS)
    frame.rows()[0]["file_name"] = "other"
    assert frame.rows()[0]["file_name"] == "a"


def test_frames_travel_between_processes_in_either_form() -> None:
    for frame in (entries(*ROWS), ManifestEntries(entries(*ROWS).table)):
        assert pickle.loads(pickle.dumps(frame)) == frame  # noqa: S301 - our own bytes


def test_frames_are_compared_with_frames_only() -> None:
    assert entries(*ROWS) != "entries"
    assert ManifestFiles.empty() != "manifests"
    assert repr(entries(*ROWS)) == "ManifestEntries(3)"
    assert repr(ManifestFiles.empty()) == "ManifestFiles(0)"
