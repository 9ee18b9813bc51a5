"""Polls of a table that others change."""

from dataclasses import replace
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import NotFoundError, PaimonError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.timeline_update import POLLS_PER_READ, TimelineUpdate
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.tag import Tag
from support.explored import History


def committed(count: int) -> History:
    history = History()
    for number in range(1, count + 1):
        history.commit(("+", f"f{number}"))
    return history


def opened(history: History) -> ExplorerState:
    return ExplorerState(Inspector(history.view))


def names(state: ExplorerState, snapshot: int) -> list[str]:
    files = state.inspector.at(snapshot).files().table
    return sorted(str(name) for name in files.column("file_name").to_pylist())


def test_the_selection_follows_the_newest_snapshot() -> None:
    history = committed(2)
    state = opened(history)
    history.commit(("+", "f3"), ("-", "f1"))
    assert state.poll(2) == TimelineUpdate(added=(3,), selected=3, changed=True)
    assert names(state, 3) == ["f2", "f3"]
    assert state.poll(3) == TimelineUpdate(selected=3)


def test_an_older_selection_stays() -> None:
    history = committed(3)
    state = opened(history)
    history.commit(("+", "f4"))
    history.commit(("+", "f5"))
    assert state.poll(2) == TimelineUpdate(added=(4, 5), selected=2, changed=True)
    assert names(state, 2) == ["f1", "f2"]


def test_the_first_snapshot_of_an_empty_table_is_selected() -> None:
    history = History()
    state = opened(history)
    assert state.poll(0) == TimelineUpdate()
    history.commit(("+", "f1"))
    assert state.poll(0) == TimelineUpdate(added=(1,), selected=1, changed=True)
    assert names(state, 1) == ["f1"]


def test_after_a_rollback_the_nearest_snapshot_is_selected() -> None:
    history = committed(4)
    state = opened(history)
    for number in (3, 4):
        history.store.snapshots.delete(number)
    history.store.snapshots.write_latest_hint(2)
    found = state.poll(3)
    assert (found.removed, found.selected, found.was_removed) == ((3, 4), 2, True)


def test_a_snapshot_that_took_the_place_of_a_rolled_back_one_is_found() -> None:
    history = committed(2)
    state = opened(history)
    rolled_back = history.store.snapshots.load(2)
    history.store.snapshots.delete(2)
    assert history.store.snapshots.create(replace(rolled_back, commit_user="another"))
    found = state.poll(2)
    assert (found.added, found.removed, found.selected) == ((2,), (2,), 2)
    assert (found.changed, found.was_removed) == (True, True)


def test_after_an_expiry_the_first_snapshot_left_is_selected() -> None:
    history = committed(3)
    state = opened(history)
    history.commit(("+", "f4"))
    for number in (1, 2):
        history.store.snapshots.delete(number)
    found = state.poll(1)
    assert (found.added, found.removed) == ((4,), (1, 2))
    assert (found.selected, found.was_removed) == (3, True)
    assert names(state, 3) == ["f1", "f2", "f3"]


def test_a_selected_snapshot_that_a_tag_keeps_stays() -> None:
    history = committed(3)
    held = history.store.snapshots.load(1)
    assert history.store.tags.create(Tag(name="v1", snapshot=held))
    state = opened(history)
    history.commit(("+", "f4"))
    history.store.snapshots.delete(1)
    found = state.poll(1)
    assert (found.added, found.removed, found.selected) == ((4,), (), 1)


def test_a_poll_without_news_reads_two_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    history = committed(5)
    state = opened(history)
    asked: list[str] = []
    read = MemoryFileIO.read

    def counted(self: MemoryFileIO, path: str) -> bytes:
        asked.append(path.rsplit("/", 1)[1])
        return read(self, path)

    monkeypatch.setattr(MemoryFileIO, "read", counted)
    for _ in range(POLLS_PER_READ - 1):
        state.poll(5)
    assert asked == ["snapshot-5", "snapshot-6"] * (POLLS_PER_READ - 1)


def test_a_tag_without_a_commit_is_found_after_some_polls() -> None:
    history = committed(2)
    state = opened(history)
    assert history.store.tags.create(Tag(name="v1", snapshot=history.store.snapshots.load(1)))
    polls = [state.poll(2) for _ in range(POLLS_PER_READ)]
    assert [one.changed for one in polls] == [False] * (POLLS_PER_READ - 1) + [True]
    assert (polls[-1].added, polls[-1].removed, polls[-1].selected) == ((), (), 2)
    assert "v1" in [flag.name for flag in state.inspector.timeline().flags]


def test_file_lists_already_read_are_not_read_again() -> None:
    history = committed(3)
    state = opened(history)
    assert state.history().body["done"] is True
    for number in (1, 2, 3):
        history.store.file_io.delete(history.store.paths.manifest(f"manifest-list-{number}-1"))
    history.commit(("+", "f4"))
    state.poll(3)
    assert state.history().body["problems"] == []
    assert state.inspector.lifetimes().added.tolist() == [1, 2, 3, 4]


def test_lists_of_files_sent_before_are_told_to_be_old() -> None:
    history = committed(2)
    state = opened(history)
    frame = state.history().body["frame"]
    history.commit(("+", "f3"))
    state.poll(2)
    with pytest.raises(PaimonError, match="no longer available"):
        state.rows(int(str(frame)), [0])


def test_an_unreadable_latest_snapshot_is_an_error_and_the_state_stays() -> None:
    history = committed(2)
    state = opened(history)
    path = history.store.paths.snapshot(2)
    before = history.store.file_io.read(path)
    history.store.file_io.replace(path, b"{")
    with pytest.raises(PaimonError, match="snapshot-2"):
        state.poll(2)
    history.store.file_io.replace(path, before)
    assert state.poll(2) == TimelineUpdate(selected=2)
    assert state.version == 0


def test_a_table_that_was_dropped_is_not_shown_as_empty(tmp_path: Path) -> None:
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT"})
    table.append([{"k": 1}])
    table.create_tag("one")
    table.create_branch("dev", "one")
    state = ExplorerState(table._inspector())
    branch = ExplorerState(catalog.table("db.t$branch_dev")._inspector())
    catalog.drop_table("db.t")
    for one, name in ((state, "db.t"), (branch, r"db.t\$branch_dev")):
        with pytest.raises(NotFoundError, match=f"Table {name} no longer exists"):
            one.poll(1)
        assert one.newest == 1  # what was read stays
    catalog.create_table("db.t", {"other": "INT"}).append([{"other": 1}])
    assert state.poll(1).changed
    assert state.inspector.view.schema is not None
    assert state.inspector.view.schema.row_type.names == ("other",)
