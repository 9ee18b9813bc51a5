import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import paimon_explore as pe
import paimon_explore.table.progress
from paimon_explore.table.progress import bar, progress
from support.compacting import numbered, numbered_table


class Lines:
    """A screen that remembers."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.cleared = 0

    def draw(self, line: str) -> None:
        self.drawn.append(line)

    def clear(self) -> None:
        self.cleared += 1


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paimon_explore.table.progress, "_WAIT_S", 0.0)
    monkeypatch.setattr(paimon_explore.table.progress, "_EVERY_S", 0.0)


def test_short_work_shows_nothing() -> None:
    screen = Lines()
    assert list(progress(["a", "b"], "reading", screen)) == ["a", "b"]
    assert (screen.drawn, screen.cleared) == ([], 0)


@pytest.mark.usefixtures("at_once")
def test_long_work_shows_how_far_it_is_and_leaves_nothing_behind() -> None:
    screen = Lines()
    assert list(progress(["a", "b"], "reading", screen)) == ["a", "b"]
    assert [line.split(",")[0].split() for line in screen.drawn] == [
        ["reading", "0", "of", "2"],
        ["reading", "█" * 15, "1", "of", "2"],
    ]
    assert screen.cleared == 1


@pytest.mark.usefixtures("at_once")
def test_an_interrupt_takes_the_bar_away() -> None:
    screen = Lines()

    def interrupted() -> Iterator[str]:
        for part in progress(["a", "b", "c"], "reading", screen):
            yield part
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(interrupted())
    assert screen.cleared == 1


def test_the_rest_is_estimated() -> None:
    assert bar("reading", 1, 4, 2.0).endswith("1 of 4, about 6 s more")
    assert bar("reading", 0, 4, 2.0).endswith("0 of 4")
    assert bar("reading", 20, 100, 2.0, "%").endswith("20 %, about 8 s more")


def test_a_setting_that_users_of_tqdm_know_turns_all_bars_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert paimon_explore.table.progress._display() is not None
    monkeypatch.setenv("TQDM_DISABLE", "1")
    assert paimon_explore.table.progress._display() is None
    monkeypatch.setenv("TQDM_DISABLE", "0")
    assert paimon_explore.table.progress._display() is not None


@pytest.mark.usefixtures("at_once")
def test_a_long_query_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    database = pytest.importorskip("paimon_explore.sql_statements.duckdb.database")
    screen = Lines()
    monkeypatch.setattr(database, "_WAIT_S", 0.0)
    monkeypatch.setattr(paimon_explore.table.progress, "_display", lambda: screen)
    pe.sql("SELECT count(*) FROM range(300000000) WHERE id % 7 = 3").to_arrow()
    assert all(line.startswith("running the query ") and " %" in line for line in screen.drawn)
    assert screen.drawn
    assert screen.cleared


def test_an_interrupted_compaction_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = numbered_table(tmp_path)
    for value in (1, 2):
        table.upsert(numbered((1, value)))

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("paimon_explore.maintenance.compaction.compact.compact_split", stop)
    with pytest.raises(KeyboardInterrupt):
        table.compact()
    monkeypatch.undo()
    assert len(table.snapshots) == 2
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()
    assert table.compact() is not None
