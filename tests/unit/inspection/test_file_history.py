import numpy as np
import pytest

from paimon_explore.inspection.history.file_history import FileHistory, FileLifetimes, files_now
from paimon_explore.inspection.history.timeline import read_timeline
from support.explored import History, golden_view
from support.golden import GoldenTables


def names_at(lifetimes: FileLifetimes, position: int) -> list[tuple[str, int]]:
    files = lifetimes.files.take(lifetimes.live_at(position))
    names = map(str, files.column("file_name").to_pylist())
    levels = (level or 0 for level in files.column("level").to_pylist())
    return sorted(zip(names, levels, strict=True))


@pytest.mark.parametrize(
    "name",
    ["manifest_merge", "pk_levels", "tags", "overwrite", "rollback", "expired", "pk_dynamic"],
)
def test_the_lives_agree_with_reading_each_snapshot_alone(golden: GoldenTables, name: str) -> None:
    view = golden_view(golden.table("java200", name).folder)
    timeline = read_timeline(view)
    lifetimes = FileHistory(view, timeline).lifetimes()
    for position, mark in enumerate(timeline.marks):
        now = files_now(view, timeline, mark.snapshot_id)
        assert names_at(lifetimes, position) == names_at(now, position)


def test_an_upgrade_is_another_file_of_the_same_name() -> None:
    history = History()
    history.commit(("+", "f"))
    history.commit(("-", "f"), ("+", "f", 5))
    view = history.view
    lifetimes = FileHistory(view, read_timeline(view)).lifetimes()
    assert [names_at(lifetimes, p) for p in (0, 1)] == [[("f", 0)], [("f", 5)]]


def test_a_missing_manifest_makes_only_its_snapshot_unknown() -> None:
    history = History()
    for name in "abcd":
        history.commit(("+", name))
    history.store.file_io.delete(history.store.paths.manifest("manifest-2-1"))
    view = history.view
    reader = FileHistory(view, read_timeline(view))
    lifetimes = reader.lifetimes()
    assert lifetimes.unknown == {1}
    assert [problem.kind for problem in reader.problems] == ["MissingFileError"]
    assert "manifest-2-1" in reader.problems[0].path
    assert [names_at(lifetimes, p) for p in (0, 2, 3)] == [
        [("a", 0)],
        [("a", 0), ("b", 0), ("c", 0)],
        [("a", 0), ("b", 0), ("c", 0), ("d", 0)],
    ]
    assert not lifetimes.knows(1)


def test_the_history_is_read_in_steps() -> None:
    history = History()
    for name in "abc":
        history.commit(("+", name))
    view = history.view
    reader = FileHistory(view, read_timeline(view))
    assert not reader.step(2)
    assert reader.covered == 2
    assert reader.step(2)
    assert np.asarray(reader.lifetimes().added).tolist() == [1, 2, 3]


def test_an_empty_table_has_no_files() -> None:
    view = History().view
    lifetimes = FileHistory(view, read_timeline(view)).lifetimes()
    assert len(lifetimes) == 0
