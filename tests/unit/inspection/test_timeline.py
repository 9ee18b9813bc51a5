import pytest

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.history.timeline import FlagKind, letter_of, read_timeline
from paimon_explore.metadata.snapshot import CommitKind
from support.explored import History, golden_view
from support.golden import GoldenTables


def test_expired_snapshots_that_tags_hold_stay_on_the_timeline(golden: GoldenTables) -> None:
    timeline = read_timeline(golden_view(golden.table("java200", "tags").folder))
    assert [(m.snapshot_id, m.expired) for m in timeline.marks] == [
        (1, True),
        (3, True),
        (6, False),
    ]
    tags = {f.name: f.snapshot_id for f in timeline.flags if f.kind is FlagKind.TAG}
    assert tags == {"keep": 3, "tag0": 1, "tag2": 3}


def test_branches_stand_where_they_left(golden: GoldenTables) -> None:
    timeline = read_timeline(golden_view(golden.table("pypaimon21", "tags_branches").folder))
    branches = [f for f in timeline.flags if f.kind is FlagKind.BRANCH]
    assert [(f.name, f.snapshot_id) for f in branches] == [("dev", 3)]


def test_a_snapshot_that_cannot_be_read_keeps_its_place() -> None:
    history = History()
    for name in "abc":
        history.commit(("+", name))
    path = history.store.paths.snapshot(2)
    history.store.file_io.replace(path, b'{"version": 99, "id": 2}')
    timeline = read_timeline(history.view)
    assert [letter_of(mark) for mark in timeline.marks] == ["A", "!", "A"]
    assert [problem.path for problem in timeline.problems] == [path]
    with pytest.raises(NotFoundError, match="file of snapshot 2"):
        timeline.snapshot(2)
    assert timeline.to_arrow().column("commit_kind").to_pylist() == ["APPEND", None, "APPEND"]


def test_hints_are_shown_even_where_they_are_wrong() -> None:
    history = History()
    history.commit(("+", "a"))
    history.store.snapshots.write_latest_hint(7)
    history.store.file_io.replace(history.store.paths.earliest_hint, b"<b>")
    timeline = read_timeline(history.view)
    hints = [(f.name, f.snapshot_id) for f in timeline.flags]
    assert hints == [("LATEST", 7)]
    assert "hint" in timeline.problems[0].message


def test_a_typed_id_tag_or_time_finds_its_snapshot(golden: GoldenTables) -> None:
    timeline = read_timeline(golden_view(golden.table("java200", "tags").folder))
    newest = timeline.snapshot(6).time_millis // 1000
    assert timeline.resolve(" 3 ") == 3
    assert timeline.resolve("tag0") == 1
    assert timeline.resolve("2100-01-01 00:00") == 6
    assert newest > 0
    with pytest.raises(NotFoundError, match="Snapshot 4"):
        timeline.resolve("4")
    with pytest.raises(NotFoundError):
        timeline.resolve("1999-01-01")
    with pytest.raises(InvalidInputError, match="not a snapshot id, a tag or a time"):
        timeline.resolve("soon")


def test_the_text_lists_the_snapshots() -> None:
    history = History()
    history.commit(("+", "a"))
    history.commit(("+", "b"), commit_kind=CommitKind.OVERWRITE)
    lines = repr(read_timeline(history.view)).splitlines()
    assert lines[0] == "Timeline of snapshots 1 to 2"
    assert [line.split()[:2] for line in lines[-2:]] == [["2", "OVERWRITE"], ["1", "APPEND"]]
    assert "no snapshot" in repr(read_timeline(History().view))
