import pytest

import paimon_explore as pe
from paimon_explore.commit.commit_trace import CommitStep
from paimon_explore.errors import StorageError


@pytest.fixture
def table() -> pe.Table:
    return pe.demo().table("demo.orders")


def test_a_block_is_traced_step_by_step(table: pe.Table) -> None:
    with pe.trace(table) as seen:
        made = table.delete("id = 1")
    assert made is not None
    (found,) = seen.result.tables
    (commit,) = found.commits
    assert commit.snapshot_ids == (made.id,)
    steps = [event.step for event in commit.events]
    assert steps[0] is CommitStep.READ_LATEST
    assert steps[-3:] == [CommitStep.PUBLISH, CommitStep.WRITE_HINTS, CommitStep.DONE]
    assert seen.steps().num_rows == len(steps)
    assert f"snapshot/snapshot-{made.id}" in seen.to_arrow().column("path").to_pylist()
    assert found.title.startswith(f"demo.orders: snapshot {made.id} created, ")


def test_what_nobody_touched_says_so(table: pe.Table) -> None:
    with pe.trace(table) as seen:
        table.to_arrow()
    assert repr(seen) == "no changes in 1 table"
    assert seen.state()["kind"] == "trace"


def test_nested_traces_both_hear(table: pe.Table) -> None:
    with pe.trace(table) as outer:
        with pe.trace(table) as inner:
            table.delete("id = 1")
        table.delete("id = 2")
    assert len(inner.result.commits) == 1
    assert len(outer.result.commits) == 2


def test_an_error_goes_on_and_is_told(table: pe.Table) -> None:
    seen = pe.trace(table)
    with pytest.raises(RuntimeError, match="stop"), seen:
        raise RuntimeError("stop")
    assert "RuntimeError: stop" in repr(seen)


def test_a_catalog_and_a_path_can_be_watched() -> None:
    catalog = pe.demo()
    table = catalog.table("demo.orders")
    with pe.trace(catalog, table.path) as seen:
        table.delete("id = 1")
    assert "demo.orders" in repr(seen).splitlines()[0]


def test_a_commit_that_failed_is_shown_beside_one_that_succeeded(
    table: pe.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pe.trace(table) as seen:
        table.truncate()
        with monkeypatch.context() as patched:
            patched.setattr(type(table._store.file_io), "create", _refuse)
            with pytest.raises(StorageError):
                table.drop_partitions({"dt": "2026-01-01"})
    assert [commit.failed for commit in seen.result.commits] == [False, True]
    text = repr(seen)
    assert "snapshot 6 created" in text
    assert "1 commit failed" in text
    assert CommitStep.FAIL.value in text


def _refuse(_files: object, path: str, _data: bytes) -> bool:
    raise StorageError("create", path, "no space left")
