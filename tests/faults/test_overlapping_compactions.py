"""A compaction that meets another job's compaction of the same bucket: no key comes twice.

The one job has planned its compaction; the other one upserts and plans the compaction behind that;
then the first commits, then the second.
"""

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from uuid import uuid4

import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.table_options import TableOptions
from support.acts import FIRST, row
from support.interrupted import interrupted
from support.table_kinds import TABLE_KINDS

OPTIONS = {
    "vectors": {},
    "lookup": {"changelog-producer": "lookup"},
    "indexed": {"pk-btree.index.columns": "v"},
}
KEYS = 400
ONE, TWO = dict.fromkeys(range(40), 1), dict.fromkeys(range(38, 42), 2)


def created(kind: str) -> Table:
    """All keys on the top level."""
    given = TABLE_KINDS["vectors"]
    table = replace(given, options={**given.options, **OPTIONS[kind]}).create(
        f"memory://{uuid4()}/wh"
    )
    upsert(table, dict.fromkeys(range(KEYS), 0))
    table.compact()
    return table


def planned(table: Table) -> list[CommitMessage]:
    schema = table._store.schemas.latest()
    assert schema is not None
    return compact_table(table._store, schema, TableOptions(schema.options))


def committed(table: Table, messages: list[CommitMessage]) -> None:
    schema = table._store.schemas.latest()
    assert schema is not None
    Committer(table._store, schema).commit(messages)


def values(table: Table) -> Counter[tuple[object, object]]:
    return Counter((one["k"], one["v"]) for one in table.to_arrow().to_pylist())


def behind(*changed: dict[int, int]) -> Counter[tuple[object, object]]:
    """All keys with the values of the changes, one after the other."""
    found = dict.fromkeys(range(KEYS), 0)
    for change in changed:
        found |= change
    return Counter(found.items())


def upsert(table: Table, change: dict[int, int]) -> None:
    """Each change becomes a run of its own, as it is much smaller than those before it."""
    table.upsert(
        [row(FIRST, k, v, sha256(f"{k} {v}".encode()).hexdigest()) for k, v in change.items()]
    )


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_compaction_behind_an_upsert_beside_another_compaction_leaves_each_key_once(
    kind: str,
) -> None:
    table = created(kind)
    upsert(table, ONE)
    waiting = planned(table)
    upsert(interrupted(table, 2, lambda: committed(table, waiting)), TWO)
    assert values(table) == behind(ONE, TWO)
    assert table.maintenance.fsck() == []
    table.compact()
    assert values(table) == behind(ONE, TWO)


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_full_compaction_beside_an_upsert_that_is_compacted_meanwhile_is_a_conflict(
    kind: str,
) -> None:
    table = created(kind)
    upsert(table, ONE)
    waiting = planned(table)
    upsert(table, TWO)
    with pytest.raises(CommitConflictError, match="nother commit"):
        committed(table, waiting)
    assert values(table) == behind(ONE, TWO)
    assert table.maintenance.fsck() == []


def test_a_compaction_of_a_file_that_got_its_first_vector_meanwhile_is_a_conflict() -> None:
    table = created("vectors")
    lazy = replace(table, _dynamic_options={"compaction.force-rewrite-all-files": "true"})
    schema = lazy._store.schemas.latest()
    assert schema is not None
    waiting = compact_table(lazy._store, schema, lazy.options)
    assert [len(message.compact_before) for message in waiting] == [1]
    upsert(table, ONE)
    with pytest.raises(CommitConflictError, match="Another commit deleted rows of data file"):
        committed(table, waiting)
    assert values(table) == behind(ONE)
    assert table.maintenance.fsck() == []
