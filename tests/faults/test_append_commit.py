"""Every change that an append makes to the storage, cut before and after its effect.

After each cut the commit is wholly visible or not at all, the table reads, committing again with
the same user and identifier adds nothing twice, and no file is left that nothing refers to.
"""

import pytest

from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitError, PaimonError, StorageError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.write_target import abort
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.new_tables import (
    ROOT,
    all_files,
    live_values,
    new_table,
    referenced_files,
    target_of,
)

USER = "job"
QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)


class Scene:
    """A table with two commits, about to get a third through a faulty storage."""

    def __init__(self, fail_at: int, fault: Fault, *, reads_too: bool = False) -> None:
        self.sound: TableStore
        self.sound, self.schema = new_table({"a": "INT"}, options={"manifest.merge-min-count": "2"})
        for value in (1, 2):
            Committer(self.sound, self.schema, commit_user=USER, timing=QUIET).commit(
                write_append(self.sound, self.schema, [{"a": value}]), value
            )
        self.messages = write_append(self.sound, self.schema, [{"a": 3}])
        self.io = FaultyFileIO(
            self.sound.file_io, fail_at=fail_at, fault=fault, reads_too=reads_too
        )
        self.store = TableStore(self.io, TablePaths(ROOT))

    def commit(self, store: TableStore) -> None:
        committer = Committer(store, self.schema, commit_user=USER, timing=QUIET)
        committer.commit(self.messages, 3)


def changes_of_a_commit(*, reads_too: bool = False) -> int:
    scene = Scene(0, Fault.BEFORE, reads_too=reads_too)
    scene.commit(scene.store)
    return len(scene.io.log)


def check_recovered(scene: Scene, *, orphans: bool) -> None:
    """Visible or not, then committed again: there exactly once."""
    assert live_values(scene.sound, "a") in ([1, 2], [1, 2, 3])
    scene.commit(scene.sound)
    assert live_values(scene.sound, "a") == [1, 2, 3]
    assert scene.sound.snapshots.ids() == [1, 2, 3]
    if not orphans:
        assert all_files(scene.sound) - referenced_files(scene.sound) == set()


STEPS = range(1, changes_of_a_commit() + 1)
READS = range(1, changes_of_a_commit(reads_too=True) + 1)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
def test_a_change_that_fails_leaves_the_commit_visible_or_absent(step: int, fault: Fault) -> None:
    scene = Scene(step, fault)
    try:
        scene.commit(scene.store)
    except CommitError:
        pass  # nothing says that it is absent
    except StorageError:
        assert live_values(scene.sound, "a") == [1, 2]
    else:
        assert live_values(scene.sound, "a") == [1, 2, 3]
    assert scene.io.log[step - 1 :]
    check_recovered(scene, orphans=False)


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_leaves_the_commit_visible_or_absent(step: int) -> None:
    scene = Scene(step, Fault.CRASH)
    with pytest.raises(CrashError):
        scene.commit(scene.store)
    check_recovered(scene, orphans=True)


@pytest.mark.parametrize("step", READS)
def test_a_read_or_change_that_fails_leaves_the_commit_visible_or_absent(step: int) -> None:
    scene = Scene(step, Fault.BEFORE, reads_too=True)
    try:
        scene.commit(scene.store)
    except CommitError:
        pass
    except StorageError:
        assert live_values(scene.sound, "a") == [1, 2]
    check_recovered(scene, orphans=True)


@pytest.mark.parametrize("step", STEPS)
def test_the_same_committer_may_try_again_after_a_lost_reply(step: int) -> None:
    scene = Scene(step, Fault.AFTER)
    committer = Committer(scene.store, scene.schema, timing=QUIET)
    try:
        committer.commit(scene.messages)
    except PaimonError:
        committer.commit(scene.messages)
    assert live_values(scene.sound, "a") == [1, 2, 3]
    assert scene.sound.snapshots.ids() == [1, 2, 3]


def write_steps(schema: TableSchema, io: FaultyFileIO) -> list[CommitMessage]:
    rows = [{"a": i, "b": f"{i}"} for i in range(6)]
    return write_append(TableStore(io, TablePaths(ROOT)), schema, rows)


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_write_that_fails_leaves_no_data_file(step: int, fault: Fault) -> None:
    store, schema = new_table(
        {"a": "INT", "b": "STRING"}, partition_keys=["b"], options={"target-file-row-num": "1"}
    )
    io = FaultyFileIO(store.file_io, fail_at=step, fault=fault)
    with pytest.raises(StorageError):
        write_steps(schema, io)
    assert all_files(store) == {"schema/schema-0"}


def test_aborted_messages_leave_no_data_file() -> None:
    store, schema = new_table({"a": "INT"}, options={"bucket": "2", "bucket-key": "a"})
    messages = write_append(store, schema, [{"a": i} for i in range(10)])
    assert len(all_files(store)) == 3
    abort(target_of(store, schema), messages)
    assert all_files(store) == {"schema/schema-0"}


def test_a_lost_reply_of_the_creation_is_success() -> None:
    creation = creation_step()
    scene = Scene(creation, Fault.AFTER)
    made = Committer(scene.store, scene.schema, timing=QUIET).commit(scene.messages)
    assert [snapshot.id for snapshot in made] == [3]


def creation_step() -> int:
    scene = Scene(0, Fault.BEFORE)
    scene.commit(scene.store)
    return scene.io.log.index("create snapshot-3") + 1
