"""`tail` prints the changes of each commit with their row kinds."""

import json
from collections.abc import Callable

import pytest

from paimon_explore import Table
from paimon_explore.command_line.tail_command import Follow
from support.command_line import Program
from support.small_tables import KEYED, new_catalog


@pytest.fixture
def table() -> Table:
    made = new_catalog().create_table(
        "db.t", {"id": "INT", "v": "STRING"}, primary_key="id", options=KEYED
    )
    made.upsert([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    made.upsert([{"id": 1, "v": "c"}])
    made.delete("id = 2")
    return made


class Time:
    """A clock whose sleeps run steps of the test."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now = 0.0
        self._steps = iter(steps)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        next(self._steps, lambda: None)()


def test_all_changes_from_the_first_commit_on(table: Table, run: Program) -> None:
    ran = run("tail", table.path, "--from", "earliest", "--timeout", "0", "--json")
    assert [json.loads(line) for line in ran.lines] == [
        {"_snapshot": 1, "rowkind": "+I", "id": 1, "v": "a"},
        {"_snapshot": 1, "rowkind": "+I", "id": 2, "v": "b"},
        {"_snapshot": 2, "rowkind": "+I", "id": 1, "v": "c"},
        {"_snapshot": 3, "rowkind": "-D", "id": 2, "v": "b"},
    ]
    assert run("tail", table.path, "--from", "3", "--timeout", "0").lines == [
        "_snapshot  rowkind  id  v",
        "─────────  ───────  ──  ─",
        "        3  -D        2  b",
    ]


def test_it_ends_after_a_number_of_rows(table: Table, run: Program) -> None:
    ran = run("tail", table.path, "--from", "1", "--count", "3", "--columns", "id", "--csv")
    assert ran.lines == ["_snapshot,rowkind,id", "1,+I,1", "1,+I,2", "2,+I,1"]
    ran = run("tail", table.path, "--from", "1", "-n", "1", "--where", "id = 2", "--json")
    assert ran.lines == ['{"_snapshot":1,"rowkind":"+I","id":2,"v":"b"}']


def test_a_consumer_prints_whole_commits_and_goes_on_after_them(table: Table, run: Program) -> None:
    words = ("tail", table.path, "--from", "1", "--consumer", "job", "--timeout", "0", "--json")
    found = [
        [json.loads(line)["_snapshot"] for line in run(*words, "--count", count).lines]
        for count in ("1", "2", "2")
    ]
    assert found == [[1, 1], [2, 3], []]


def test_commits_are_printed_while_it_waits(table: Table) -> None:
    time = Time(
        lambda: table.upsert([{"id": 3, "v": "d"}]),
        lambda: None,
        lambda: (table.upsert([{"id": 4, "v": "e"}]), table.delete("id = 1")),
    )
    follow = Follow(table=table, poll_s=2, timeout_s=10, clock=time, sleep=time.sleep)
    found = [
        (time.now, row["_snapshot"], row["rowkind"], row["id"])
        for batch in follow.reader("latest", None)
        for row in batch.to_pylist()
    ]
    assert found == [(2, 4, "+I", 3), (6, 5, "+I", 4), (6, 6, "-D", 1)]
    assert time.now == 10


def test_an_empty_table_is_followed_from_its_first_commit() -> None:
    table = new_catalog().create_table("db.t", {"id": "INT"})
    time = Time(lambda: table.append([{"id": 1}]))
    for start in ("latest", "earliest", "1"):
        empty = new_catalog().create_table("db.t", {"id": "INT"})
        steps = Time(lambda empty=empty: empty.append([{"id": 1}]))  # type: ignore[misc]  # bound now
        follow = Follow(table=empty, poll_s=1, timeout_s=3, clock=steps, sleep=steps.sleep)
        assert follow.reader(start, None).read_all()["id"].to_pylist() == [1]
    assert time.now == 0


def test_ctrl_c_is_the_usual_end(
    table: Table, run: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Follow, "__init__", _with_sleep(interrupted))
    ran = run("tail", table.path, "--from", "3", "--json")
    assert (ran.code, len(ran.lines)) == (0, 1)
    assert run("tail", table.path, "--from", "3", "--timeout", "5").code == 130


def _with_sleep(sleep: Callable[[object], None]) -> Callable[..., None]:
    """The constructor of `Follow` with another way to wait."""
    made = Follow.__init__

    def init(self: Follow, **given: object) -> None:
        made(self, **{**given, "sleep": sleep})  # type: ignore[arg-type]  # of the test

    return init
