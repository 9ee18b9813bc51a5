"""The explorer follows a table that others write."""

import threading
from pathlib import Path

import pytest
import traitlets

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.widgets.explorer import MIN_SECONDS, Explorer, explore
from support.explored import History
from support.small_tables import new_catalog

COMMITS = 12


@pytest.fixture
def history() -> History:
    made = History()
    made.commit(("+", "f1"))
    made.commit(("+", "f2"))
    return made


def body(widget: Explorer, version: int) -> dict[str, object]:
    return dict(widget.answer({"id": 1, "op": "poll", "version": version}).body)


def test_a_poll_moves_the_selection_and_the_code_follows(history: History) -> None:
    e = explore(history.view)
    e.tab = "files"
    history.commit(("+", "f3"))
    assert e.poll().added == (3,)
    assert (e.selected, e.code) == (3, "t.at(snapshot=3).files()")
    assert e.files().table.column("file_name").to_pylist() == ["f1", "f2", "f3"]


def test_a_selected_file_is_kept_by_its_name(history: History) -> None:
    e = explore(history.view)
    e.answer({"id": 1, "op": "history"})
    e.node = "file/0/1"
    e.compare = 1
    history.commit(("-", "f2"))
    history.store.snapshots.delete(1)
    assert e.poll().removed == (1,)
    assert (e.node, e.compare) == ("name/f2", 0)


def test_the_browser_gets_the_timeline_only_if_it_has_changed(history: History) -> None:
    e = explore(history.view)
    assert body(e, 0) == {"changed": False}
    history.commit(("+", "f3"))
    found = e.answer({"id": 1, "op": "poll", "version": 0})
    assert found.columns["id"].tolist() == [1, 2, 3]
    known = ("changed", "version", "added", "removed", "selected", "was_removed")
    assert {name: found.body[name] for name in known} == {
        "changed": True,
        "version": 1,
        "added": [3],
        "removed": [],
        "selected": 3,
        "was_removed": False,
    }
    assert body(e, 1) == {"changed": False}


def test_a_second_view_of_the_widget_gets_what_the_first_has_got(history: History) -> None:
    e = explore(history.view)
    history.commit(("+", "f3"))
    assert body(e, 0)["version"] == 1
    assert body(e, 0)["version"] == 1
    assert e.answer({"id": 1, "op": "poll", "version": 0}).columns["id"].tolist() == [1, 2, 3]


def test_the_interval_is_limited(history: History) -> None:
    e = explore(history.view)
    assert e.live == 0
    e.live = 2.0
    e.live = 0.01
    assert e.live == MIN_SECONDS == 0.5
    with pytest.raises(traitlets.TraitError, match="0 means off"):
        e.live = -1.0
    with pytest.raises(InvalidInputError, match="live must be from 0"):
        explore(history.view, live=-1)


@pytest.mark.parametrize("given", ["2", None, True, -1, float("nan"), float("inf")])
def test_an_interval_that_is_no_number_of_seconds_is_refused(given: float) -> None:
    with pytest.raises(InvalidInputError, match="live must be a number of seconds"):
        pe.demo().table("demo.orders").explore(live=given)


def test_a_table_is_followed_from_the_start() -> None:
    assert pe.demo().table("demo.orders").explore(live=2).live == 2.0


def test_every_snapshot_of_a_writer_beside_is_seen_once_and_in_order(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", {"id": "INT"})
    e = table.explore(live=0.5)

    def write() -> None:
        for number in range(COMMITS):
            table.append([{"id": number}])

    writer = threading.Thread(target=write)
    writer.start()
    seen: list[int] = []
    while writer.is_alive() or len(seen) < COMMITS:
        found = e.poll()
        seen += found.added
        assert found.removed == ()
        assert e.selected == max(seen, default=0)
        assert len(e.files().table) == len(seen)
    writer.join()
    assert seen == list(range(1, COMMITS + 1))


def test_rollbacks_beside_never_leave_a_missing_snapshot_selected(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", {"id": "INT"})
    table.append([{"id": 0}])
    e = table.explore()
    for number in range(1, 6):
        table.append([{"id": number}])
        e.poll()
        assert e.selected == 2
        table.rollback_to(1)
        found = e.poll()
        assert (found.removed, found.was_removed, e.selected) == ((2,), True, 1)
        assert len(e.files().table) == 1
