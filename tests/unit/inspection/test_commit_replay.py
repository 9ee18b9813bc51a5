"""Commits made again on a copy in memory: of our own tables and of Java's."""

from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.commit.commit_trace import CommitStep
from paimon_explore.errors import InvalidInputError, NotFoundError
from support.golden import GoldenTables


@pytest.fixture
def table() -> pe.Table:
    return pe.demo().table("demo.orders")


def files(folder: str) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


def steps(replay: object) -> list[str]:
    return [event.step.name for event in replay.commit.events]  # type: ignore[attr-defined]


@pytest.mark.parametrize("scenario", ["alone", "rival", "failure", "lost-reply"])
def test_a_replay_leaves_the_table_alone(tmp_path: Path, scenario: str) -> None:
    table = pe.demo(tmp_path).table("demo.orders")
    before = files(table.path)
    replay = table.inspect.replay(3, scenario=scenario)
    assert files(table.path) == before
    assert len(repr(replay).splitlines()) <= 25
    assert replay.state()["kind"] == "replay"
    assert replay.to_arrow().num_rows == len(replay.commit.events)


def test_the_steps_are_those_of_a_real_commit(table: pe.Table) -> None:
    replay = table.inspect.replay(3)
    assert steps(replay)[0] == "READ_LATEST"
    assert steps(replay)[-3:] == ["PUBLISH", "WRITE_HINTS", "DONE"]
    assert replay.made is not None
    own = table.snapshots[3]
    assert replay.made.id == own.id
    assert replay.made.delta_record_count == own.delta_record_count
    assert replay.made.total_record_count == own.total_record_count
    assert {file.kind for file in replay.files} >= {"snapshot", "manifest list", "hint"}
    published = next(f for f in replay.files if f.kind == "snapshot")
    assert replay.commit.events[published.event].step is CommitStep.PUBLISH


def test_a_rival_makes_the_commit_read_again(table: pe.Table) -> None:
    replay = table.inspect.replay(3, scenario="rival")
    assert steps(replay).count("READ_LATEST") == 2
    assert "LOSE" in steps(replay)
    assert replay.made is not None
    assert replay.made.id == 4
    assert any(file.removed for file in replay.files)


def test_a_failure_shows_what_is_removed(table: pe.Table) -> None:
    replay = table.inspect.replay(3, scenario="failure")
    assert replay.made is None
    assert "FAIL" in steps(replay)
    assert "disk is full" in replay.problem
    written = {f.path for f in replay.files if not f.removed}
    assert written <= {f.path for f in replay.files if f.removed}


def test_a_lost_reply_is_found_out(table: pe.Table) -> None:
    replay = table.inspect.replay(3, scenario="lost-reply")
    assert "DOUBT" in steps(replay)
    assert replay.made is not None
    assert replay.made.id == 3


def test_what_cannot_be_replayed_is_refused(table: pe.Table) -> None:
    with pytest.raises(InvalidInputError, match="Unknown scenario 'storm'"):
        table.inspect.replay(3, scenario="storm")
    with pytest.raises(NotFoundError, match="Snapshot 99"):
        table.inspect.replay(99)
    empty = pe.demo().table("demo.empty")
    with pytest.raises(NotFoundError, match="to replay"):
        empty.inspect.replay()


@pytest.mark.parametrize("name", ["manifest_merge", "dv_pk", "append_avro"])
def test_commits_of_java_are_replayed(golden: GoldenTables, name: str) -> None:
    table = pe.open_table(golden.table("java200", name).folder)
    for snapshot in list(table.snapshots)[:12]:
        replay = table.inspect.replay(snapshot.id)
        assert replay.problem == ""
        assert replay.made is not None
        assert replay.made.total_record_count == snapshot.total_record_count
        assert replay.made.delta_record_count == snapshot.delta_record_count
