"""What the trace of a commit tells: each step in words, with its figures."""

from dataclasses import replace

import pytest

from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import NEW_PARTITIONS
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.write.append_writer import write_append
from support.entries import EMPTY_ROW, entries, entry, index, index_row
from support.faulty_file_io import Fault, FaultyFileIO
from support.new_tables import new_table

QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)
BUCKETED = {"bucket": "1", "bucket-key": "a"}
FIRST = CommitMessage(
    partition=EMPTY_ROW,
    bucket=0,
    new_files=entries(entry("a", row_count=3)),
    changelog_files=entries(entry("c"), entry("d")),
    new_index_files=index(index_row("i")),
)


def told(committer: Committer) -> list[tuple[str, dict[str, int | str]]]:
    return [(event.step.value, dict(event.figures)) for event in committer.trace]


def test_an_overwrite_tells_what_it_removes_merges_and_numbers() -> None:
    options = {"row-tracking.enabled": "true", "manifest.merge-min-count": "2"}
    store, schema = new_table({"a": "INT", "p": "INT"}, partition_keys=["p"], options=options)
    committer = Committer(store, schema, timing=QUIET)
    for partition in (1, 2):
        committer.commit(write_append(store, schema, [{"a": 0, "p": partition}] * 3))
    sizes = store.manifests.all(store.snapshots.load(2)).numbers("file_size")
    files = write_append(store, schema, [{"a": 0, "p": 2}])
    (made,) = committer.overwrite(files, NEW_PARTITIONS)
    base = {
        "manifests before": 2,
        "manifests after": 1,
        "bytes": made.base_manifest_list_size,
        "manifests kept": 0,
        "bytes of small manifests and manifests with deletions": sizes.sum(),
        "bytes that trigger a full merge": 16 << 20,
        "target bytes of a merged manifest": 8 << 20,
        "minimum number of manifests to merge": 2,
    }
    delta = {"entries": 2, "manifests": 1, "bytes": made.delta_manifest_list_size}
    assert told(committer) == [
        ("read the latest snapshot", {"latest": 2}),
        ("find the files that an overwrite removes", {"removed files": 1}),
        ("write the base manifest list", base),
        ("assign row ids", {"first row id": 6, "next row id": 7}),
        ("write the delta manifests and their list", delta),
        ("create the snapshot file", {"rows": -2}),
        ("write the hint files", {}),
        ("the snapshot is visible", {}),
    ]


def test_a_commit_tells_of_its_other_files_and_whether_it_is_there_already() -> None:
    store, schema = new_table({"a": "INT"}, options=BUCKETED)
    committer = Committer(store, schema, commit_user="u", timing=QUIET)
    committer.commit([FIRST], 5)
    trace = told(committer)
    assert trace[0] == ("check whether the commit already exists", {"found": 0})
    assert trace[4:6] == [
        ("write the changelog manifests and their list", {"entries": 2, "manifests": 1}),
        ("write the index manifest", {"index files": 1}),
    ]
    committer.commit([FIRST], 5)
    assert told(committer) == [("check whether the commit already exists", {"found": 1})]
    committer.commit([])
    assert told(committer) == [("nothing to commit", {})]
    more = replace(FIRST, new_files=entries(), changelog_files=FIRST.new_files)
    with pytest.raises(CommitConflictError) as error:
        committer.commit([replace(more, deleted_files=entries(entry("a")))], 6)
    what = f"CommitConflictError: {error.value}"
    failed = ("a step failed", {"step": "check for conflicts", "error": what})
    assert told(committer)[-1] == failed
    swap = replace(more, new_index_files=index(), deleted_index_files=index(index_row("i")))
    committer.commit([replace(swap, deleted_files=entries(entry("a")))], 6)
    assert ("check for conflicts", {"live files": 1}) in told(committer)


@pytest.mark.parametrize(
    ("operation", "fault", "doubt"),
    [
        (4, Fault.AFTER, [("the storage did not confirm the creation of the snapshot", {})]),
        (5, Fault.BEFORE, []),
    ],
)
def test_a_commit_tells_of_replies_and_hints_that_are_lost(
    operation: int, fault: Fault, doubt: list[tuple[str, dict[str, int | str]]]
) -> None:
    store, schema = new_table({"a": "INT"})
    messages = write_append(store, schema, [{"a": 2}])
    faulty = replace(store, file_io=FaultyFileIO(store.file_io, operation, fault))
    committer = Committer(faulty, schema, timing=QUIET)
    committer.commit(messages)
    hints = {"failed": "readers list the snapshot folder instead"}
    assert told(committer)[3:] == [
        *(doubt or [("create the snapshot file", {"rows": 1})]),
        ("write the hint files", {} if doubt else hints),
        ("the snapshot is visible", {}),
    ]
