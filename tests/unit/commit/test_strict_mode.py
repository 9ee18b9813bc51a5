"""What commits refuse, or leave out, only when options say so."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.strict_mode import check_strict_mode
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import CommitKind
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.compacting import numbered_table
from support.entries import entries, entry, int_row
from support.new_tables import latest, live_values, new_table

STRICT = "commit.strict-mode.last-safe-snapshot"


def committed(store: TableStore, schema: TableSchema, acts: str) -> None:
    """Appends, compactions, compactions of another partition and rows without a bucket.

    Capitals stand for those of user "u".
    """
    for number, act in enumerate(acts):
        partition = int_row(2 if act in "xX" else 1)
        file = entry(f"f{number}", partition=partition, bucket=-2 if act in "pP" else 0)
        message = CommitMessage(partition=partition, bucket=0)
        if act in "cCxX":
            message = replace(message, compact_after=entries(file))
        else:
            message = replace(message, new_files=entries(file))
        user = "u" if act.isupper() else "v"
        Committer(store, schema, commit_user=user).commit([message])


@pytest.mark.parametrize("acts", ["", "a", "c", "xpac", "AcAa", "Cx", "caA", "XpC", "Ccp", "aAxP"])
@pytest.mark.parametrize(
    ("kind", "in_the_way"), [(CommitKind.APPEND, "c"), (CommitKind.OVERWRITE, "ac")]
)
def test_no_commit_goes_beside_what_other_users_did_to_its_partition_since_the_safe_snapshot(
    acts: str, kind: CommitKind, in_the_way: str
) -> None:
    """Only an overwrite conflicts with new rows, unless they wait for a bucket."""
    store, schema = new_table({"p": "INT", "k": "INT"}, partition_keys=["p"])
    committed(store, schema, "P" + acts)
    changes = Changes(entries=entries(entry("new", partition=int_row(1))))
    for safe in range(-1, len(acts) + 2):
        options = TableOptions({"commit.strict-mode.last-safe-snapshot": str(safe)})
        since = "" if safe < 0 else ("P" + acts)[safe:]
        conflicts = any(act in since for act in in_the_way)
        with pytest.raises(CommitConflictError) if conflicts else nullcontext():
            check_strict_mode(
                store, options, user="u", kind=kind, changes=changes, latest=latest(store)
            )


def test_commits_are_checked_if_the_option_says_so(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, keyed=False)
    table.append(rows(0, 1))
    table.append(rows(1, 2))
    table.compact()

    def strict(safe: int) -> Table:
        return Catalog(tmp_path).table("db.t", {STRICT: str(safe)})

    with pytest.raises(CommitConflictError, match=r"Snapshot 3 .*COMPACT"):
        strict(2).append(rows(2, 3))
    with pytest.raises(CommitConflictError, match=r"Snapshot 2 .*APPEND"):
        strict(1).overwrite(rows(5, 6))
    assert strict(3).append(rows(2, 3)) is not None


@pytest.mark.parametrize("partition", [0, 1])
def test_deletion_vectors_of_other_users_are_changes_of_their_partition(
    tmp_path: Path, partition: int
) -> None:
    table = created(tmp_path, {"deletion-vectors.enabled": "true"}, partition_by="p")
    table.append([{"k": k, "p": k % 2} for k in range(4)])
    table.append([{"k": 9, "p": partition}])
    table.delete("p = 0 AND k = 2")
    strict = Catalog(tmp_path).table("db.t", {STRICT: "2"})
    with pytest.raises(CommitConflictError) if partition == 0 else nullcontext():
        strict.append([{"k": 5, "p": partition}])


def test_global_indexes_of_other_users_change_no_rows(tmp_path: Path) -> None:
    table = created(tmp_path, {"row-tracking.enabled": "true", "data-evolution.enabled": "true"})
    table.append([{"k": 1, "p": 1}])
    table.maintenance.create_global_index("k", "btree")
    assert len(table.snapshots) == 2
    strict = Catalog(tmp_path).table("db.t", {STRICT: "1"})
    assert strict.append([{"k": 2, "p": 1}]) is not None


def created(folder: Path, options: dict[str, str], partition_by: str | None = None) -> Table:
    catalog = Catalog(folder)
    catalog.create_database("db")
    columns = {"k": "INT", "p": "INT"}
    return catalog.create_table("db.t", columns, partition_by=partition_by, options=options)


def rows(first: int, last: int) -> list[dict[str, object]]:
    return [{"k": k, "v": k, "s": None} for k in range(first, last)]


def test_new_files_that_are_there_already_may_be_left_out() -> None:
    store, schema = new_table({"a": "INT"})
    first, more = (write_append(store, schema, [{"a": value}]) for value in (1, 2))
    Committer(store, schema).commit(first)
    options = TableOptions({"commit.discard-duplicate-files": "true"})
    discarding = Committer(store, schema, options=options)
    (made,) = discarding.commit([*first, *more])
    assert (made.total_record_count, live_values(store, "a")) == (2, [1, 2])
    files = first[0].new_files
    compaction = replace(first[0], new_files=ManifestEntries.empty(), compact_after=files)
    with pytest.raises(CommitConflictError, match="already contains"):
        discarding.commit([compaction])


def test_new_files_that_another_commit_adds_first_are_left_out() -> None:
    store, schema = new_table({"a": "INT"})
    first, more = (write_append(store, schema, [{"a": value}]) for value in (1, 2))
    Committer(store, schema).commit(write_append(store, schema, [{"a": 0}]))
    others = [first]

    def race() -> None:
        if others:
            Committer(store, schema).commit(others.pop())

    options = TableOptions({"commit.discard-duplicate-files": "true"})
    late = Committer(store, schema, options=options, before_publish=race)
    (made,) = late.commit([*first, *more])
    assert (made.id, made.total_record_count, live_values(store, "a")) == (3, 3, [0, 1, 2])
