"""Every act that changes files or rows, beside every other act between its plan and its commit.

By default some of the other acts; a deep run takes all.

The act is planned again and succeeds. The rows are those of the two acts one after the other, as a
model over a bag of rows says; the table is sound, and no file is left over.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from types import MappingProxyType

import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import CommitConflictError, CommitOutcomeUnknownError, StorageError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store.table_store import TableStore
from support.acts import LATER
from support.cuts import unaccounted
from support.depth import DEEP, some
from support.interrupted import interrupted
from support.memory_files import copied_files
from support.paused_file_io import PausedFileIO
from support.small_tables import new_catalog

pytestmark = pytest.mark.usefixtures("single_reader_thread")

SCHEMA = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "v": "INT"}
Cells = tuple[str, int, int, int | None]
"""Partition, key, value, and the value of a column that another act adds."""
Bag = Counter[Cells]
Run = Callable[[Table], object]
Change = Callable[[Bag], Bag]
_WAITLESS = {"commit.min-retry-wait": "0 ms", "commit.max-retry-wait": "0 ms"}
KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "keyed": {"bucket": "1", "write-only": "true"},
        "append": {"compaction.min.file-num": "2"},
        "vectors": {"deletion-vectors.enabled": "true", "compaction.min.file-num": "2"},
        "evolving": {"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    }
)
OLD, KEPT = "2020-01-01", "2999-01-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that is done to a table.

    Attributes:
        run: does it.
        change: what it does to the rows.
        kinds: the kinds of table that take it.
        before: the operation before which another act comes.
    """

    run: Run
    change: Change = Counter
    kinds: tuple[str, ...] = tuple(KINDS)
    before: str = "create snapshot-"


def row(partition: str, key: int, value: int) -> dict[str, object]:
    return {"p": partition, "k": key, "v": value}


def created(kind: str) -> Table:
    """A copy of a table, to be changed."""
    original = made(kind)
    files = original._store.file_io
    assert isinstance(files, MemoryFileIO)
    return replace(original, _store=TableStore(copied_files(files), original._store.paths))


@cache
def made(kind: str) -> Table:
    """Three small files with keys 1 to 6, an old partition, and an option that asks for indexes."""
    keyed = kind == "keyed"
    table = new_catalog().create_table(
        "db.t",
        SCHEMA,
        partition_by=["p"],
        primary_key=["p", "k"] if keyed else [],
        options={**_WAITLESS, **KINDS[kind]},
    )
    for first in (1, 3, 5):
        table.append([row(KEPT, first, first), row(KEPT, first + 1, first + 1)])
    table.append([row(OLD, 90, 90)])
    return table


BEFORE: Bag = Counter([*((KEPT, k, k, None) for k in range(1, 7)), (OLD, 90, 90, None)])


def rows_of(table: Table) -> Bag:
    return Counter(
        (one["p"], one["k"], one["v"], one.get("x")) for one in table.to_arrow().to_pylist()
    )


def written(keyed: bool, *rows: Cells) -> Change:  # noqa: FBT001 - of a table
    """Replace rows of the same key in a table with keys, or add rows."""

    def change(before: Bag) -> Bag:
        keys = {one[:2] for one in rows} if keyed else set()
        return Counter({one: n for one, n in before.items() if one[:2] not in keys}) + Counter(rows)

    return change


def without(gone: Callable[[Cells], bool]) -> Change:
    return lambda before: Counter({one: n for one, n in before.items() if not gone(one)})


def mapped(new: Callable[[Cells], Cells]) -> Change:
    return lambda before: Counter(new(one) for one in before.elements())


def _update(table: Table) -> None:
    table.update({"v": "v + 10"}, "k in (1, 2)")


_UPDATED = mapped(lambda one: (*one[:2], one[2] + 10, one[3]) if one[1] in (1, 2) else one)


def _delete(table: Table) -> None:
    table.delete("k = 2")


_DELETED = without(lambda one: one[1] == 2)


_MERGED = {1: 100, 70: 70}


def _merge(table: Table) -> None:
    merge = table.merge([row(KEPT, 1, 100), row(KEPT, 70, 70)], on="k")
    merge.when_matched_update({"v": "target.v + source.v"}).when_not_matched_insert().execute()


def _merged(before: Bag) -> Bag:
    there = {one[1] for one in before}
    new = [(KEPT, k, v, None) for k, v in _MERGED.items() if k not in there]
    found = mapped(lambda one: (*one[:2], one[2] + _MERGED.get(one[1], 0), one[3]))(before)
    return found + Counter(new)


def _index(table: Table) -> None:
    table.set_options({"file-index.bloom-filter.columns": "v"})
    table.maintenance.rewrite_file_index()


def _lose(table: Table) -> None:
    """Lose the file of the old partition, and remove it from the table."""
    (path,) = [one.path for one in table._store.file_io.walk(table.path) if _is_old(one.path)]
    table._store.file_io.delete(path)
    table.maintenance.remove_unexisting_files(dry_run=False)


def _is_old(path: str) -> bool:
    return f"p={OLD}/" in path and "/data-" in path


_EXPIRED = without(lambda one: one[0] == OLD)
_CHANGEABLE = ("keyed", "append", "vectors")


def sql(text: str) -> Run:
    return lambda table: pe.sql(text, t=table)


ACTS: Mapping[str, Act] = MappingProxyType(
    {
        "compact": Act(run=lambda table: table.compact()),
        "sort": Act(
            run=lambda table: table.compact(strategy="order", columns=["v"]),
            kinds=("append", "vectors"),
        ),
        "update": Act(run=_update, change=_UPDATED),
        "delete": Act(run=_delete, change=_DELETED, kinds=_CHANGEABLE),
        "merge": Act(run=_merge, change=_merged),
        "UPDATE": Act(run=sql("UPDATE t SET v = v + 10 WHERE k IN (1, 2)"), change=_UPDATED),
        "DELETE": Act(run=sql("DELETE FROM t WHERE k = 2"), change=_DELETED, kinds=_CHANGEABLE),
        "MERGE": Act(
            run=sql(
                f"MERGE INTO t USING (SELECT '{KEPT}' AS p, 1 AS k, 100 AS v UNION ALL "  # noqa: S608 - ours
                f"SELECT '{KEPT}', 70, 70) AS s ON t.k = s.k "
                "WHEN MATCHED THEN UPDATE SET v = t.v + s.v "
                "WHEN NOT MATCHED THEN INSERT (p, k, v) VALUES (s.p, s.k, s.v)"
            ),
            change=_merged,
        ),
        "INSERT OVERWRITE": Act(
            run=sql(f"INSERT OVERWRITE t PARTITION (p = '{OLD}') SELECT 91, 91"),
            change=lambda before: _EXPIRED(before) + Counter([(OLD, 91, 91, None)]),
        ),
        "expire snapshots": Act(
            run=lambda table: table.maintenance.expire_snapshots(retain_max=1, older_than=LATER),
            before="delete snapshot-",
        ),
        "expire partitions": Act(
            run=lambda table: table.maintenance.expire_partitions(timedelta(days=30)),
            change=_EXPIRED,
        ),
        "rescale": Act(
            run=lambda table: table.maintenance.rescale(3),
            kinds=("keyed",),
            before="create schema-",  # others have to write for the new buckets afterwards
        ),
        "rewrite file index": Act(run=_index, kinds=_CHANGEABLE),
        "remove unexisting files": Act(run=_lose, change=_EXPIRED, kinds=_CHANGEABLE),
        "create global index": Act(
            run=lambda table: table.maintenance.create_global_index("v"), kinds=("evolving",)
        ),
        "analyze": Act(run=lambda table: table.maintenance.analyze()),
        "tag": Act(run=lambda table: table.create_tag("mine"), before="create tag-"),
    }
)
"""The acts that are planned again, by name."""


def _overwrite(table: Table) -> None:
    table.overwrite([row(KEPT, 8, 8)], {"p": KEPT})


def _add_column_and_write(table: Table) -> None:
    table.add_column("x", "INT")
    table.append([{**row(KEPT, 1, 50), "x": 7}, {**row(KEPT, 60, 60), "x": 7}])
    table.compact()


def rivals(kind: str) -> dict[str, Act]:
    """The acts that come between, by name."""
    keyed = kind == "keyed"
    new = (KEPT, 1, 40, None), (KEPT, 50, 50, None)
    more = (KEPT, 1, 50, 7), (KEPT, 60, 60, 7)
    found = {
        "write": Act(
            run=lambda table: table.append([row(KEPT, 1, 40), row(KEPT, 50, 50)]),
            change=written(keyed, *new),
        ),
        "write to the old partition": Act(
            run=lambda table: table.append([row(OLD, 95, 95)]),
            change=written(keyed, (OLD, 95, 95, None)),
        ),
        "delete": Act(run=_delete, change=_DELETED, kinds=_CHANGEABLE),
        "update": Act(run=_update, change=_UPDATED),
        "overwrite": Act(
            run=_overwrite,
            change=lambda before: (
                Counter([(KEPT, 8, 8, None)]) + without(lambda one: one[0] == KEPT)(before)
            ),
        ),
        "compact": Act(run=lambda table: table.compact()),
        "compact and expire": Act(
            run=lambda table: (
                table.compact(),
                table.maintenance.expire_snapshots(retain_max=1, older_than=LATER),
            )
        ),
        "tag": Act(run=lambda table: table.create_tag("theirs")),
        "add a column and write": Act(run=_add_column_and_write, change=written(keyed, *more)),
    }
    return {name: act for name, act in found.items() if kind in act.kinds}


CASES = [(kind, act) for kind in KINDS for act in ACTS if kind in ACTS[act].kinds]


@pytest.mark.parametrize(("kind", "act"), CASES)
def test_an_act_beside_another_act_succeeds(kind: str, act: str) -> None:
    own = ACTS[act]
    others = rivals(kind)
    for name in some(list(others), 3, CASES.index((kind, act))):
        other, table = others[name], created(kind)
        done: list[object] = []

        def between() -> None:
            done.append(other.run(table))  # noqa: B023 - of this round

        own.run(interrupted(table, 1, between, operation=own.before))
        assert len(done) == 1, name
        orders = own.change(other.change(BEFORE)), other.change(own.change(BEFORE))
        assert rows_of(table) in orders, name
        if act == "remove unexisting files":  # which old snapshots still have
            for tag in table._store.tags.names():
                table.delete_tag(tag)
            table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
        assert table.maintenance.fsck(read_rows=True, cross_check_records=0) == [], name
        assert unaccounted(table) == [], name


@pytest.mark.parametrize("kind", ["keyed", "append"])
def test_a_merge_statement_reads_its_source_again(kind: str) -> None:
    table = created(kind)
    late = interrupted(table, 1, lambda: _update(table))
    source = "SELECT k, v + 100 AS v FROM t WHERE k = 1"
    merge = f"MERGE INTO t USING ({source}) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v"
    pe.sql(merge, t=late)
    assert (KEPT, 1, 111, None) in rows_of(table)


@pytest.mark.parametrize(
    ("kind", "run", "again"),
    [
        ("keyed", lambda table: table.compact(partitions=[{"p": "3"}]), 0),
        ("append", lambda table: table.delete("p = '3' AND k = 1"), 1),
        ("vectors", lambda table: table.delete("p > '3' AND k = 1"), 2),
        ("vectors", lambda table: table.delete("k = 1"), 6),
    ],
)
def test_a_compaction_compacts_only_the_buckets_again_that_conflict(
    kind: str, run: Run, again: int
) -> None:
    table = created(kind)
    table.truncate()
    partitions = [str(number) for number in range(6)]
    for keys in ((1, 2), (3, 4)):
        table.append([row(partition, key, key) for partition in partitions for key in keys])
    files: list[str] = []

    def before(told: str) -> None:
        if told.startswith("create snapshot-") and len(files) == len(partitions):
            files.append("of the other act")
            run(table)
        elif told.startswith("create_stream data-"):
            files.append(told)

    store = TableStore(PausedFileIO(table._store.file_io, before), table._store.paths)
    assert replace(table, _store=store).compact() is not None
    assert len(files) - 1 == len(partitions) + again
    assert len(table.files()) == len(partitions)
    assert table.maintenance.fsck(read_rows=True) == []
    assert unaccounted(table) == []


def test_an_act_that_loses_each_time_says_how_often_and_what_to_do() -> None:
    table = created("append")
    stubborn = replace(table, _dynamic_options={"commit.max-retries": "2"})
    operations = 0

    def before(told: str) -> None:
        nonlocal operations
        if told.startswith("create snapshot-"):
            operations += 1
            _update(table)

    store = TableStore(PausedFileIO(table._store.file_io, before), table._store.paths)
    rule = "planned 3 times, and conflicted .*'commit.max-retries'"
    with pytest.raises(CommitConflictError, match=rule):
        replace(stubborn, _store=store).update({"v": "v * 2"}, "k = 1")
    assert operations == 3
    assert rows_of(table) == _UPDATED(_UPDATED(_UPDATED(BEFORE)))
    assert unaccounted(table) == []


def test_an_act_of_strict_mode_is_not_planned_again() -> None:
    table = created("append")
    strict = {"commit.strict-mode.last-safe-snapshot": "4"}
    late = replace(interrupted(table, 1, table.compact), _dynamic_options=strict)
    with pytest.raises(CommitConflictError, match=r"is later than 'commit\.strict-mode"):
        late.compact()
    assert rows_of(table) == BEFORE
    assert unaccounted(table) == []


def test_an_act_whose_outcome_is_unknown_is_not_planned_again() -> None:
    table = created("append")
    seen: list[str] = []

    def before(told: str) -> None:
        if told == "create snapshot-5" or seen:
            seen.append(told)
            raise StorageError("read", "snapshot-5", "injected")

    store = TableStore(PausedFileIO(table._store.file_io, before), table._store.paths)
    with pytest.raises(CommitOutcomeUnknownError):
        replace(table, _store=store).compact()
    assert len([told for told in seen if told.startswith("create")]) == 1


def test_rows_of_a_newer_schema_keep_their_columns_whenever_it_comes() -> None:
    """A column and rows are added before each operation of a compaction and of an update."""
    for kind in some(list(KINDS), 2):
        for run in (ACTS["compact"].run, ACTS["update"].run):
            log: list[str] = []
            copy = created(kind)
            paused = PausedFileIO(copy._store.file_io, log.append)
            run(replace(copy, _store=TableStore(paused, copy._store.paths)))
            for number in [*range(1, 9), *range(9, len(log) + 1, 1 if DEEP else 19)]:
                table = created(kind)
                late = interrupted(
                    table, number, partial(_add_column_and_write, table), operation=""
                )
                run(late)
                assert (KEPT, 60, 60, 7) in rows_of(table), (kind, log[number - 1])
                assert table.maintenance.fsck(cross_check_records=0) == []
