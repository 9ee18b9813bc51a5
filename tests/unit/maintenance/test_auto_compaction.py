from pathlib import Path

import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.maintenance.compaction.auto_compaction import auto_compact
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.primary_key_writer import write_upsert
from support.compacting import changelog, levels, numbered, numbered_table, values

WRITER = {"write-only": "false"}


def kinds(table: Table) -> list[str]:
    return [snapshot.commit_kind.value for snapshot in table.snapshots]


def test_rows_of_a_table_with_deletion_vectors_are_there_at_once(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**WRITER, "deletion-vectors.enabled": "true"})
    table.upsert(numbered((1, 10), (2, 20)))
    assert values(table) == {1: 10, 2: 20}
    table.upsert(numbered((2, 21), (3, 30)))
    table.delete("k = 1")
    assert values(table) == {2: 21, 3: 30}
    assert kinds(table) == ["APPEND", "COMPACT"] * 3
    assert table.maintenance.fsck(read_rows=True) == []


def test_the_compaction_is_the_same_transaction(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**WRITER, "deletion-vectors.enabled": "true"})
    made = table.upsert(numbered((1, 10)))
    first, second = table.snapshots
    assert made == second
    assert first.commit_user == second.commit_user
    assert first.commit_identifier == second.commit_identifier


def test_a_lookup_changelog_is_complete_behind_each_write(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**WRITER, "changelog-producer": "lookup"})
    table.upsert(numbered((1, 10)))
    table.upsert(numbered((1, 11)))
    assert changelog(table, 4) == [("-U", 1, 10), ("+U", 1, 11)]


def test_runs_are_merged_when_there_are_as_many_as_the_option_says(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**WRITER, "num-sorted-run.compaction-trigger": "3"})
    for value in (1, 2, 3):
        table.upsert(numbered((1, value)))
    assert kinds(table) == ["APPEND", "APPEND", "APPEND", "COMPACT"]
    assert levels(table) == [(3, 1)]
    assert values(table) == {1: 3}


def test_a_stream_is_compacted_fully_after_as_many_commits_as_the_option_says(
    tmp_path: Path,
) -> None:
    table = numbered_table(tmp_path)
    options = TableOptions({**table.schema.options, **WRITER, "full-compaction.delta-commits": "2"})
    committer = Committer(table._store, table.schema, options=options)
    for identifier in (1, 2, 3):
        messages = write_upsert(table._store, table.schema, numbered((1, identifier)))
        committer.commit(messages, identifier)
        auto_compact(committer, (table._store, table.schema, options), messages, identifier)
    assert kinds(table) == ["APPEND", "APPEND", "COMPACT", "APPEND"]
    assert levels(table) == [(0, 1), (5, 1)]


@pytest.mark.parametrize("options", [{"write-only": "true"}, {"lookup-wait": "false"}])
def test_a_table_may_leave_compaction_to_others(tmp_path: Path, options: dict[str, str]) -> None:
    table = numbered_table(tmp_path, {**WRITER, "deletion-vectors.enabled": "true", **options})
    table.upsert(numbered((1, 10)))
    assert kinds(table) == ["APPEND"]
    table.compact()
    assert values(table) == {1: 10}


def test_an_append_table_is_not_compacted_by_writes(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, WRITER, keyed=False)
    for value in range(8):
        table.append([{"k": 1, "v": value, "s": None}])
    assert kinds(table) == ["APPEND"] * 8


class LateCommitter(Committer):
    """Somebody else compacts between the plan and the commit."""

    rival: Table

    def commit(self, *args: object, **kwargs: object) -> list[object]:  # type: ignore[override]
        self.rival.compact()
        return super().commit(*args, **kwargs)  # type: ignore[arg-type,return-value]


def test_whoever_is_late_leaves_the_compaction_to_the_other(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    options = TableOptions({**table.schema.options, "force-lookup": "true", "write-only": "false"})
    table.upsert(numbered((1, 10)))
    messages = write_upsert(table._store, table.schema, numbered((2, 20)), options=options)
    committer = LateCommitter(table._store, table.schema, options=options)
    committer.rival = table
    Committer.commit(committer, messages)
    assert auto_compact(committer, (table._store, table.schema, options), messages) == []
    assert values(table) == {1: 10, 2: 20}
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()


class OvertakenCommitter(Committer):
    """Somebody else's compaction, planned before the rows were there, is committed first."""

    rival: tuple[Committer, list[CommitMessage]]

    def commit(self, *args: object, **kwargs: object) -> list[object]:  # type: ignore[override]
        other, planned = self.rival
        self.rival = (other, [])
        if planned:
            other.commit(planned)
        return super().commit(*args, **kwargs)  # type: ignore[arg-type,return-value]


def test_rows_are_there_at_once_also_if_a_compaction_without_them_was_faster(
    tmp_path: Path,
) -> None:
    table = numbered_table(tmp_path, {"deletion-vectors.enabled": "true"})
    table.upsert(numbered((1, 10)))
    options = TableOptions({**table.schema.options, **WRITER})
    place = (table._store, table.schema, options)
    planned = compact_table(*place)
    messages = write_upsert(table._store, table.schema, numbered((1, 11), (2, 20)), options=options)
    committer = OvertakenCommitter(table._store, table.schema, options=options)
    Committer.commit(committer, messages)
    committer.rival = (Committer(table._store, table.schema, options=options), planned)
    assert len(auto_compact(committer, place, messages)) == 1
    assert kinds(table) == ["APPEND", "APPEND", "COMPACT", "COMPACT"]
    assert values(table) == {1: 11, 2: 20}
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()


def test_a_compaction_that_fails_is_a_warning_and_the_rows_are_there(tmp_path: Path) -> None:
    options = {**WRITER, "num-sorted-run.compaction-trigger": "2"}
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 10)))
    (old,) = Path(table.path).glob("bucket-0/data-*")
    content = old.read_bytes()
    old.unlink()
    with pytest.warns(RuntimeWarning, match="The rows are committed, but the compaction after"):
        table.upsert(numbered((2, 20)))
    old.write_bytes(content)
    assert kinds(table) == ["APPEND", "APPEND"]
    assert values(table) == {1: 10, 2: 20}
