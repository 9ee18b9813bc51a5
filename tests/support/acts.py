"""Everything that changes a table, one act each, to be cut off anywhere.

An act that commits does so as the user `job` with the identifier 7, so that doing it again finds
what is there.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from paimon_explore import Table, open_table
from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import NEW_PARTITIONS, WHOLE_TABLE, Overwrite
from paimon_explore.errors import AlreadyExistsError, CommitOutcomeUnknownError, PaimonError
from paimon_explore.maintenance.compaction.compact import compact_postponed, compact_table
from paimon_explore.maintenance.row_level.merge_clauses import Clause, ClauseKind
from paimon_explore.maintenance.row_level.merge_into import MergeSpec, merge_rows
from paimon_explore.maintenance.row_level.update_delete import (
    RowLevelResult,
    delete_rows,
    update_rows,
)
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.input.row_kinds import DELETE
from paimon_explore.write.primary_key_writer import write_upsert
from paimon_explore.write.write_target import WriteTarget, abort
from support.table_kinds import PARTITIONS, TABLE_KINDS

USER, IDENTIFIER = "job", 7
QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
FIRST, SECOND, THIRD = PARTITIONS

Run = Callable[[Table], object]
Write = Callable[[Table, TableSchema], list[CommitMessage]]
Given = list[dict[str, object]]


def row(partition: str, key: int, value: int | None, text: str | None = None) -> dict[str, object]:
    """A row of the tables of `table_kinds`."""
    return {"p": partition, "k": key, "v": value, "w": text}


OLD: Given = [row(FIRST, k, k) for k in range(3)] + [row(SECOND, 1, 1), row(THIRD, 1, 1, "t")]
NEWER: Given = [row(FIRST, k, 10 + k, "n") for k in range(1, 5)] + [row(SECOND, 2, 2)]
NEWEST: Given = [row(FIRST, k, None, "new") for k in range(4)] + [row(THIRD, 5, 5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that changes a table.

    Attributes:
        kind: of the table, a name of `TABLE_KINDS`.
        run: does it; done again it finishes what was cut off.
        commits: whether it makes snapshots and removes nothing.
        options: of the table, besides those of its kind.
        before: what is done to the table first, behind its history.
    """

    kind: str
    run: Run
    commits: bool = True
    options: Mapping[str, str] | None = None
    before: Run | None = None

    def table(self, warehouse: str) -> Table:
        """A table with a history: snapshots, a tag, a branch of its own ways."""
        kind = TABLE_KINDS[self.kind]
        options = {**kind.options, "write-only": "true", **(self.options or {})}
        table = replace(kind, options=options).create(warehouse)
        write = table.append if kind.merge is None else table.upsert
        write(OLD)
        if kind.waits:
            table.compact()
        table.create_tag("one")
        write(NEWER)
        table.create_branch("side", "one")
        side = open_table(table.path, branch="side")
        (side.append if kind.merge is None else side.upsert)(NEWEST)
        write(NEWER)
        if self.before is not None:
            self.before(table)
        return table


def commit(table: Table, write: Write, overwrite: Overwrite | None = None) -> None:
    """Write and commit; take the files back if that certainly failed."""
    schema = table._store.schemas.latest()
    assert schema is not None
    messages = write(table, schema)
    committer = Committer(table._store, schema, commit_user=USER, timing=QUIET)
    try:
        if overwrite is None:
            committer.commit(messages, IDENTIFIER)
        else:
            committer.overwrite(messages, overwrite, IDENTIFIER)
    except CommitOutcomeUnknownError:
        raise
    except PaimonError:
        options = TableOptions(schema.options)
        abort(WriteTarget(store=table._store, schema=schema, options=options), messages)
        raise


def writes(rows: Given = NEWEST, *, kind: int = 0, replaces: bool = False) -> Write:
    """Files of rows."""

    def write(table: Table, schema: TableSchema) -> list[CommitMessage]:
        if not schema.primary_keys:
            return write_append(table._store, schema, rows, replaces=replaces)
        return write_upsert(table._store, schema, rows, default_kind=kind, replaces=replaces)

    return write


def compacts(*, full: bool) -> Write:
    """Files of a compaction."""

    def write(table: Table, schema: TableSchema) -> list[CommitMessage]:
        return compact_table(table._store, schema, TableOptions(schema.options), full=full)

    return write


Work = Callable[[TableStore, TableSchema, TableOptions], RowLevelResult]


def changes_rows(table: Table, work: Work, user: str = USER) -> None:
    """Change rows where they are and commit that; take the files back if it certainly failed."""
    schema = table._store.schemas.latest()
    assert schema is not None
    options = TableOptions(schema.options)
    result = work(table._store, schema, options)
    committer = Committer(table._store, schema, commit_user=user, timing=QUIET)
    checks = result.checks_columns
    planned_on = result.planned_on if checks else None
    try:
        committer.commit(result.messages, IDENTIFIER, check_appends=checks, planned_on=planned_on)
    except CommitOutcomeUnknownError:
        raise
    except PaimonError:
        abort(WriteTarget(store=table._store, schema=schema, options=options), result.messages)
        raise


def deletes(where: str) -> Work:
    """Deletes rows where they are."""
    return lambda store, schema, options: delete_rows(store, schema, options, where)


def updates(value: int, where: str) -> Work:
    """Gives rows another value."""
    return lambda store, schema, options: update_rows(store, schema, options, {"v": value}, where)


MERGE = MergeSpec(
    source=[row(FIRST, 1, 5), row(FIRST, 9, 9)],
    on=["p", "k"],
    clauses=[
        Clause(kind=ClauseKind.MATCHED, values={"v": "source.v"}),
        Clause(kind=ClauseKind.NOT_MATCHED, all_columns=True),
    ],
)


def merges(store: TableStore, schema: TableSchema, options: TableOptions) -> RowLevelResult:
    """Changes a row and adds another one."""
    return merge_rows(store, schema, options, MERGE)


def changing(kind: str, work: Work) -> Act:
    """An act that changes rows where they are."""
    return Act(kind=kind, run=lambda table: changes_rows(table, work))


def spreads(table: Table, schema: TableSchema) -> list[CommitMessage]:
    """Files of postponed rows in real buckets."""
    return compact_postponed(table._store, schema, TableOptions(schema.options))


def committing(kind: str, write: Write, **more: str) -> Act:
    """An act that commits files."""
    return Act(kind=kind, run=lambda table: commit(table, write), options=more)


def replacing(kind: str, what: Overwrite, rows: Given = NEWEST) -> Act:
    """An act that overwrites."""
    write: Write = writes(rows, replaces=True) if rows else lambda *_: []
    return Act(kind=kind, run=lambda table: commit(table, write, what))


def upkeep(kind: str, run: Run, before: Run | None = None, **options: str) -> Act:
    """An act that is no commit of rows."""
    return Act(kind=kind, run=run, commits=False, before=before, options=options)


def _insert(rows: Given) -> Run:
    return lambda table: (table.upsert if table.schema.primary_keys else table.append)(rows)


def _then(*runs: Run) -> Run:
    def run(table: Table) -> None:
        for one in runs:
            one(table)

    return run


def _expire(table: Table) -> None:
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)


def _expire_logs(table: Table) -> None:
    table.maintenance.expire_changelogs(retain_max=1, older_than=LATER)


def _compact(table: Table) -> None:
    table.compact()


def _in_one_way(run: Run) -> Run:
    """Passes over what an earlier attempt has done."""

    def again(table: Table) -> None:
        with suppress(AlreadyExistsError):
            run(table)

    return again


def _add_column(table: Table) -> None:
    if "x" not in [column.name for column in table.schema.fields]:
        table.add_column("x", "INT")


def _drop_column(table: Table) -> None:
    if "w" in [column.name for column in table.schema.fields]:
        table.drop_column("w")


def _delete_tag(table: Table) -> None:
    if "one" in table._store.tags.names():
        table.delete_tag("one")


def _rename_tag(table: Table) -> None:
    if "one" not in table._store.tags.names():
        return
    if "eins" in table._store.tags.names():
        table._store.tags.delete("one")
    else:
        table.maintenance.rename_tag("one", "eins")


def _create_branch(table: Table) -> None:
    made = table._store.for_branch("new")
    if "new" in table._store.branches.names() and not made.schemas.ids():
        table.delete_branch("new")
    if "new" not in table._store.branches.names():
        table.create_branch("new", "one")


def _delete_branch(table: Table) -> None:
    if "side" in table._store.branches.names():
        table.delete_branch("side")


def _remove_orphans(table: Table) -> None:
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)


def _compact_manifests(table: Table) -> None:
    schema = table._store.schemas.latest()
    assert schema is not None
    Committer(table._store, schema, timing=QUIET).compact_manifests()


def _analyze(table: Table) -> None:
    table.maintenance.analyze()


def _consume(table: Table) -> None:
    table._store.consumers.save("c", Consumer(next_snapshot=2))


_KEYED = tuple(name for name, kind in TABLE_KINDS.items() if kind.merge is not None)
_FIRST_OF_ALL = Overwrite(specs=({"p": FIRST},))
_MORE = {"manifest.merge-min-count": "2"}

ACTS: Mapping[str, Act] = {
    **{f"insert, {name}": committing(name, writes()) for name in TABLE_KINDS},
    "insert, merging manifests": committing("append", writes(), **_MORE),
    "insert, merging all manifests": committing(
        "keyed", writes(), **_MORE, **{"manifest.full-compaction-threshold-size": "1 b"}
    ),
    "insert, file indexes": committing(
        "append",
        writes(),
        **{"file-index.bloom-filter.columns": "v", "file-index.in-manifest-threshold": "1 b"},
    ),
    "insert, row ids": committing("append", writes(), **{"row-tracking.enabled": "true"}),
    **{
        f"delete, {name}": committing(name, writes([row(FIRST, 1, None)], kind=DELETE))
        for name in _KEYED
        if TABLE_KINDS[name].deletes
    },
    **{
        f"compact, {name}": committing(name, compacts(full=True))
        for name in TABLE_KINDS
        if name not in ("postponed buckets", "append, evolving")
    },
    "compact, append, evolving": Act(
        kind="append, evolving",
        run=lambda table: commit(table, compacts(full=True)),
        before=lambda table: changes_rows(table, updates(5, "k > 0"), "before"),
    ),
    "compact a little": committing(
        "keyed", compacts(full=False), **{"num-sorted-run.compaction-trigger": "2"}
    ),
    "spread, postponed buckets": committing("postponed buckets", spreads),
    **{
        f"overwrite partitions, {name}": replacing(name, NEW_PARTITIONS)
        for name in ("append", "keyed", "vectors", "dynamic buckets", "input")
    },
    **{
        f"overwrite a partition, {name}": replacing(
            name, _FIRST_OF_ALL, [row(FIRST, 9, 9), row(FIRST, 1, 9)]
        )
        for name in ("append, bucketed", "keyed", "dynamic buckets")
    },
    **{
        f"delete rows, {name}": changing(name, deletes("k = 1"))
        for name in ("append", "append, bucketed", "append, vectors", "keyed")
    },
    **{
        f"update rows, {name}": changing(name, updates(77, "k = 1"))
        for name in (
            "append",
            "append, bucketed",
            "append, vectors",
            "append, row ids",
            "append, evolving",
            "keyed",
        )
    },
    **{
        f"merge rows, {name}": changing(name, merges)
        for name in ("append", "append, vectors", "append, row ids", "append, evolving", "keyed")
    },
    "overwrite everything": replacing("append", WHOLE_TABLE),
    "truncate": replacing("keyed", WHOLE_TABLE, []),
    "drop a partition": replacing("dynamic buckets", _FIRST_OF_ALL, []),
    "expire partitions": upkeep(
        "append", lambda table: table.maintenance.expire_partitions(timedelta(days=30))
    ),
    **{
        f"expire snapshots, {name}": upkeep(name, _expire, _then(_compact, _insert(NEWEST)))
        for name in TABLE_KINDS
    },
    "expire changelogs, input": upkeep("input", _expire_logs, _then(_insert(NEWEST), _expire)),
    "expire changelogs, none": upkeep(
        "keyed, long-lived changes", _expire_logs, _then(_compact, _insert(NEWEST), _expire)
    ),
    "delete a tag": upkeep("keyed", _delete_tag, _then(_compact, _insert(NEWEST), _expire)),
    "rename a tag": upkeep("keyed", _rename_tag),
    "make a tag": upkeep("keyed", _in_one_way(lambda table: table.create_tag("two"))),
    "move a tag": upkeep(
        "keyed",
        lambda table: table.maintenance.replace_tag("one"),
        _then(_compact, _insert(NEWEST), _expire),
    ),
    "make a branch": upkeep("keyed", _create_branch),
    "make a branch from an expired snapshot": upkeep("input", _create_branch, _expire),
    "delete a branch": upkeep("keyed", _delete_branch),
    "fast-forward": upkeep("keyed", lambda table: table.fast_forward("side")),
    "roll back": upkeep("keyed", lambda table: table.rollback_to(snapshot=2)),
    "roll back to an expired snapshot": upkeep(
        "input", lambda table: table.rollback_to(tag="one"), _expire
    ),
    "remove orphans": upkeep(
        "vectors",
        _remove_orphans,
        _then(_compact, lambda table: table.rollback_to(snapshot=2)),
    ),
    **{
        f"rescale, {name}": upkeep(name, lambda table: table.maintenance.rescale(3))
        for name in ("append, bucketed", "keyed", "vectors", "aggregation", "first row", "input")
    },
    "rescale, dynamic buckets": upkeep(
        "dynamic buckets", lambda table: table.maintenance.rescale()
    ),
    "rescale, postponed buckets": upkeep(
        "postponed buckets", lambda table: table.maintenance.rescale(3), _compact
    ),
    "purge": upkeep("input", lambda table: table.maintenance.purge_files(dry_run=False)),
    "analyze": upkeep("append", _analyze),
    "compact manifests": upkeep("append", _compact_manifests),
    "add a column": upkeep("keyed", _add_column),
    "drop a column": upkeep("append", _drop_column),
    "set an option": upkeep("keyed", lambda t: t.set_options({"sink.parallelism": "1"})),
    "consume": upkeep("keyed", _consume),
}
"""The acts by name."""


def names_of(acts: Sequence[str]) -> list[str]:
    """The acts whose names begin with one of some words."""
    return [name for name in ACTS if name.startswith(tuple(acts))]
