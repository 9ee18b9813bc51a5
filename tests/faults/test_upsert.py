"""Every change that an upsert makes to the storage, cut before and after its effect.

The table has dynamic buckets and an input changelog, so that a commit brings data files, changelog
files and hash indexes.
"""

import pytest

from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitError, PaimonError, StorageError
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.primary_key_writer import write_upsert
from paimon_explore.write.write_target import abort
from support.faulty_file_io import Fault, FaultyFileIO
from support.new_tables import (
    ROOT,
    all_files,
    latest,
    live_files,
    new_table,
    referenced_files,
    target_of,
)

QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)
OPTIONS = {"changelog-producer": "input", "dynamic-bucket.target-row-num": "2"}


class Scene:
    """A table with one commit, about to get a second through a faulty storage."""

    def __init__(self, fail_at: int, fault: Fault) -> None:
        self.sound, self.schema = new_table(
            {"k": "INT NOT NULL", "v": "INT"}, primary_keys=["k"], options=OPTIONS
        )
        Committer(self.sound, self.schema, timing=QUIET).commit(
            write_upsert(self.sound, self.schema, [{"k": k, "v": 0} for k in range(3)])
        )
        self.io = FaultyFileIO(self.sound.file_io, fail_at=fail_at, fault=fault)
        self.store = TableStore(self.io, TablePaths(ROOT))

    def upsert(self) -> None:
        """Write and commit; a commit that failed for certain takes its files back."""
        messages = write_upsert(self.store, self.schema, [{"k": k, "v": 1} for k in range(2, 6)])
        try:
            Committer(self.store, self.schema, commit_user="u", timing=QUIET).commit(messages, 1)
        except CommitError:
            raise
        except PaimonError:
            abort(target_of(self.sound, self.schema), messages)
            raise


def check(scene: Scene) -> None:
    """One or two commits, whole: counts, indexes and files agree, and nothing else is there."""
    snapshot = latest(scene.sound)
    rows = sum(int(str(row["row_count"])) for row in live_files(scene.sound).rows())
    keys = {1: 3, 2: 6}[snapshot.id]
    assert (rows, snapshot.total_record_count) == ({1: 3, 2: 7}[snapshot.id],) * 2
    index = scene.sound.manifests.index_of(snapshot).rows()
    assert sum(int(str(row["row_count"])) for row in index) == keys
    changelog = {1: 3, 2: 4}[snapshot.id]
    assert snapshot.changelog_record_count == changelog
    assert referenced_files(scene.sound) <= all_files(scene.sound)


def change_count() -> int:
    scene = Scene(0, Fault.BEFORE)
    scene.upsert()
    check(scene)
    assert all_files(scene.sound) == referenced_files(scene.sound)
    return len(scene.io.log)


@pytest.mark.parametrize("step", range(1, change_count() + 1))
@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
def test_an_upsert_that_fails_is_visible_or_absent_and_leaves_nothing(
    step: int, fault: Fault
) -> None:
    scene = Scene(step, fault)
    try:
        scene.upsert()
    except StorageError:
        assert latest(scene.sound).id == 1
    else:
        assert latest(scene.sound).id == 2
    check(scene)
    assert all_files(scene.sound) == referenced_files(scene.sound)
