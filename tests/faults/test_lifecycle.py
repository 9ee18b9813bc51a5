"""Every change that tags, branches and rollbacks make to the storage, cut at each operation.

After each cut main reads, at a state it had or was to have; doing the same again finishes the work.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache

import pytest

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import WHOLE_TABLE
from paimon_explore.errors import AlreadyExistsError, NotFoundError, PaimonError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.maintenance.checks.fsck import check_table
from paimon_explore.maintenance.expiry.snapshot_expiry import Retention, expire_snapshots
from paimon_explore.maintenance.references.branch_operations import (
    create_branch,
    delete_branch,
    fast_forward,
)
from paimon_explore.maintenance.references.rollback import rollback_to_snapshot, rollback_to_tag
from paimon_explore.maintenance.references.tag_operations import (
    TagRequest,
    create_tag,
    delete_tag,
    rename_tag,
)
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.lifecycle import options_of
from support.memory_files import copied_files
from support.new_tables import ROOT, latest, live_values, new_table

Act = Callable[[TableStore], object]


def overwritten(store: TableStore, value: int) -> None:
    schema = store.schemas.latest()
    assert schema is not None
    messages = write_append(store, schema, [{"a": value}])
    Committer(store, schema).overwrite(messages, WHOLE_TABLE)


def scene() -> TableStore:
    """A copy of the table, to be changed."""
    files = made().file_io
    assert isinstance(files, MemoryFileIO)
    return TableStore(copied_files(files), TablePaths(ROOT))


@cache
def made() -> TableStore:
    """Snapshots 3 to 5, of one row each; tags at 2 and 4; a branch from 4 with two more."""
    store, _ = new_table({"a": "INT"})
    for value in range(1, 6):
        overwritten(store, value)
    options = options_of(store)
    for name, snapshot_id in (("two", 2), ("four", 4)):
        create_tag(store, options, TagRequest(name=name, snapshot_id=snapshot_id))
    retention = Retention(retain_min=3, retain_max=3, keep_after_ms=0, limit=50)
    expire_snapshots(store, options, retention)
    create_branch(store, "side", "four")
    overwritten(store.for_branch("side"), 50)
    overwritten(store.for_branch("side"), 60)
    return store


ACTS: dict[str, tuple[Act, set[int]]] = {
    "create a branch": (lambda store: create_branch(store, "new", "two"), {5}),
    "delete a branch": (lambda store: delete_branch(store, "side"), {5}),
    "fast-forward": (lambda store: fast_forward(store, "side"), {3, 4, 5, 50, 60}),
    "roll back": (lambda store: rollback_to_snapshot(store, 3), {3, 4, 5}),
    "roll back to an expired snapshot": (
        lambda store: rollback_to_tag(store, "two"),
        {2, 3, 4, 5},
    ),
    "delete a tag": (lambda store: delete_tag(store, options_of(store), "two"), {5}),
    "rename a tag": (lambda store: rename_tag(store, "two", "zwei"), {5}),
}
FAULTS = [(name, fault) for name in ACTS for fault in Fault]


def steps_of(name: str) -> int:
    sound = scene()
    io = FaultyFileIO(sound.file_io)
    ACTS[name][0](TableStore(io, TablePaths(ROOT)))
    return len(io.log)


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_main_reads_after_every_cut_and_the_work_can_be_finished(name: str, fault: Fault) -> None:
    act, states = ACTS[name]
    cuts = steps_of(name)
    assert cuts
    for step in range(1, cuts + 1):
        sound = scene()
        store = TableStore(FaultyFileIO(sound.file_io, step, fault), TablePaths(ROOT))
        try:
            act(store)
        except (PaimonError, CrashError):
            assert set(live_values(sound, "a")) <= states, step
        for snapshot in sound.snapshots.list():
            assert len(live_values(sound, "a", snapshot)) == 1
        _finish(act, sound)
        assert check_table(sound, options_of(sound)) == []
        assert latest(sound).id in (2, 3, 5, 6)


def _finish(act: Act, sound: TableStore) -> None:
    """Do it again, unless it is done; the rest of a branch in the making is removed first."""
    if "new" in sound.branches.names() and not sound.for_branch("new").schemas.ids():
        sound.branches.delete("new")
    with suppress(AlreadyExistsError, NotFoundError):  # it was done, but for the reply
        act(sound)
