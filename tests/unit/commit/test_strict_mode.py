"""What commits refuse, or leave out, only when options say so."""

from pathlib import Path

import pytest

from paimon_explore import Catalog, Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.append_writer import write_append
from support.compacting import live, numbered, numbered_table

STRICT = "commit.strict-mode.last-safe-snapshot"


def rows(first: int, last: int) -> list[dict[str, object]]:
    return [{"k": k, "v": k, "s": None} for k in range(first, last)]


def strict(folder: Path, safe: int) -> Table:
    table = Catalog(folder).table("db.t", {STRICT: str(safe)})
    assert isinstance(table, Table)
    return table


def test_no_commit_goes_beside_a_compaction_of_others(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, keyed=False)
    table.append(rows(0, 1))
    table.append(rows(1, 2))
    table.compact()
    with pytest.raises(CommitConflictError, match=r"Snapshot 3 .*COMPACT"):
        strict(tmp_path, 2).append(rows(2, 3))
    assert strict(tmp_path, 3).append(rows(2, 3)) is not None
    assert strict(tmp_path, -1).append(rows(3, 4)) is not None


def test_an_overwrite_suffers_no_rows_of_others(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, keyed=False)
    table.append(rows(0, 1))
    table.append(rows(1, 2))
    assert strict(tmp_path, 1).append(rows(2, 3)) is not None
    with pytest.raises(CommitConflictError, match=r"Snapshot 2 .*APPEND"):
        strict(tmp_path, 1).overwrite(rows(5, 6))
    assert strict(tmp_path, 3).overwrite(rows(5, 6)) is not None


def test_rows_that_wait_for_a_bucket_do_not_count(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"bucket": "-2"})
    table.upsert(numbered((1, 1)))
    table.upsert(numbered((2, 2)))
    assert strict(tmp_path, 1).overwrite(numbered((3, 3))) is not None


def test_files_that_are_there_already_may_be_left_out(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, keyed=False)
    messages = write_append(table._store, table.schema, rows(0, 2))
    more = write_append(table._store, table.schema, rows(2, 3))
    Committer(table._store, table.schema).commit(messages)
    options = TableOptions({**table.schema.options, "commit.discard-duplicate-files": "true"})
    Committer(table._store, table.schema, options=options).commit([*messages, *more])
    assert len(live(table)) == 2
    assert table.to_arrow().num_rows == 3
    assert table.maintenance.fsck() == []
