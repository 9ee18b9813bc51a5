"""What expiry and the removal of orphan files keep: all that snapshots, tags and branches need."""

from pathlib import Path

import pytest

from paimon_explore.fileio.paths import name
from paimon_explore.maintenance.expiry import reachable_files
from paimon_explore.maintenance.expiry.reachable_files import FileSet, TableFiles, roots_of
from paimon_explore.table.table import Table
from support.lifecycle import options_of
from support.small_tables import new_catalog

COLUMNS = {"p": "INT NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
MANY = 40
"""Partitions of a commit: more files than are kept of one commit."""


def table_with_history(folder: Path, options: dict[str, str]) -> Table:
    """A table with commits of few and of many files, compactions, a tag and a branch."""
    made = new_catalog(folder).create_table(
        "db.t", COLUMNS, primary_key=["p", "k"], partition_by="p", options=options
    )
    for number in range(8):
        partitions = range(MANY) if number == 3 else [number % 2]
        made.upsert([{"p": p, "k": number % 3, "v": str(number)} for p in partitions])
        if number in (2, 5):
            made.compact(full=True)
        if number == 4:
            made.create_tag("kept")
            made.create_branch("b", "kept")
    made.maintenance.expire_snapshots(retain_max=4)
    made.delete("k = 1")
    return made


def all_files(files: TableFiles) -> FileSet:
    """The files of each snapshot and tag, one after the other, without what is kept of others."""
    data: set[str] = set()
    metadata: set[str] = set()
    for branch in ("main", "b"):
        store = files.store.for_branch(branch)
        snapshots = store.snapshots.list()
        for one in (*snapshots, *(tag.snapshot for tag in store.tags.list())):
            state = files.of_state(one)
            data |= state.data
            metadata |= state.metadata
        for one in snapshots:
            data |= files.paths(files.changelog(one))
            metadata |= files.changelog_metadata(one)
    return FileSet(data=frozenset(data), metadata=frozenset(metadata))


@pytest.mark.parametrize("batch", [1, 3, 256])
@pytest.mark.parametrize(
    "options",
    [
        {"bucket": "1", "write-only": "true"},
        {"bucket": "1", "write-only": "true", "changelog-producer": "input"},
        {"bucket": "1", "deletion-vectors.enabled": "true", "manifest.merge-min-count": "2"},
        {"bucket": "-1", "write-only": "true"},
    ],
)
def test_the_files_of_all_states_are_kept(
    tmp_path: Path, options: dict[str, str], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reachable_files, "_BATCH", batch)
    table = table_with_history(tmp_path, options)
    files = TableFiles(store=table._store, options=options_of(table._store))
    roots, expected = roots_of(files.store, files.options), all_files(files)
    for _ in range(2):  # the second time from what is kept of the first
        assert files.referenced_by(roots) == expected
    some = frozenset(sorted(map(name, expected.data))[::3])
    found = files.referenced_by(roots, some)
    assert {path for path in expected.data if name(path) in some} <= found.data <= expected.data
    assert found.metadata == expected.metadata
    assert table.maintenance.remove_orphan_files(older_than="2100-01-01").files == ()
