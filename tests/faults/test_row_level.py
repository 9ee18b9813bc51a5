"""Accesses that an update, delete, merge or upsert makes to the storage, failed before and after.

The operation is wholly visible or wholly absent, nothing is left behind, and the same operation
again does what it should.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitOutcomeUnknownError, PaimonError
from paimon_explore.maintenance.row_level.merge_clauses import Clause, ClauseKind
from paimon_explore.maintenance.row_level.merge_into import MergeSpec, merge_rows
from paimon_explore.maintenance.row_level.update_delete import (
    RowLevelResult,
    delete_rows,
    update_rows,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.primary_key_writer import write_upsert
from paimon_explore.write.write_target import abort
from support.depth import some
from support.faulty_file_io import Fault, FaultyFileIO
from support.new_tables import all_files, referenced_files, target_of
from support.small_tables import append_table, columns, keyed_table, rows_of

QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)
COLUMNS = columns(k=pa.int32(), v=pa.int32())
OLD = [{"k": k, "v": 0} for k in range(6)]
VECTORS = {"deletion-vectors.enabled": "true"}
TRACKED = {"row-tracking.enabled": "true"}
EVOLVED = {**TRACKED, "data-evolution.enabled": "true"}

READS = ("read", "open", "status", "exists", "list", "walk")
STRIDE = 8
"""One of so many accesses fails, besides every change; in a deep run all."""
DYNAMIC = {"changelog-producer": "input", "dynamic-bucket.target-row-num": "2"}
"""A commit brings data files, changelog files and hash indexes."""

Work = Callable[[TableStore, TableSchema, TableOptions], RowLevelResult]
MERGE = MergeSpec(
    source=[{"k": 1, "v": 5}, {"k": 9, "v": 9}],
    on="k",
    clauses=[
        Clause(kind=ClauseKind.MATCHED, values={"v": "source.v"}),
        Clause(kind=ClauseKind.NOT_MATCHED, all_columns=True),
    ],
)


def update(store: TableStore, schema: TableSchema, options: TableOptions) -> RowLevelResult:
    return update_rows(store, schema, options, {"v": "v + 1"}, "k IN (1, 5)")


def delete(store: TableStore, schema: TableSchema, options: TableOptions) -> RowLevelResult:
    return delete_rows(store, schema, options, "k IN (1, 5)")


def merge(store: TableStore, schema: TableSchema, options: TableOptions) -> RowLevelResult:
    return merge_rows(store, schema, options, MERGE)


def upsert(store: TableStore, schema: TableSchema, options: TableOptions) -> RowLevelResult:
    del options
    rows = [{"k": k, "v": 1} for k in range(4, 8)]
    return RowLevelResult(messages=write_upsert(store, schema, rows), planned_on=None)


CASES: Mapping[str, tuple[Mapping[str, str], bool, Work]] = {
    "update, rewritten": ({}, False, update),
    "delete, rewritten": ({}, False, delete),
    "merge, rewritten": (TRACKED, False, merge),
    "update, marked": (VECTORS, False, update),
    "delete, marked": ({**VECTORS, "bucket": "1", "bucket-key": "k"}, False, delete),
    "merge, marked": ({**TRACKED, **VECTORS}, False, merge),
    "update, evolved": (EVOLVED, False, update),
    "delete, evolved": ({**EVOLVED, **VECTORS}, False, delete),
    "merge, evolved": ({**EVOLVED, **VECTORS}, False, merge),
    "merge, keyed": ({"bucket": "2"}, True, merge),
    "upsert, dynamic buckets": (DYNAMIC, True, upsert),
}


class Scene:
    """A table of two files, about to be changed through a faulty storage."""

    def __init__(self, name: str, fail_at: int = 0, fault: Fault = Fault.BEFORE) -> None:
        options, is_keyed, self.work = CASES[name]
        halves = OLD[:3], OLD[3:]
        self.table: Table = (
            keyed_table(COLUMNS, *halves, primary_key=["k"], options=options)
            if is_keyed
            else append_table(COLUMNS, *halves, options=options)
        )
        sound = self.table._store
        self.io = FaultyFileIO(sound.file_io, fail_at=fail_at, fault=fault, reads_too=True)
        self.store = TableStore(self.io, sound.paths)

    def run(self) -> None:
        """Do it; an operation that failed for certain takes its files back."""
        schema = self.table.schema
        result = self.work(self.store, schema, TableOptions(schema.options))
        try:
            Committer(self.store, schema, timing=QUIET).commit(
                result.messages,
                check_appends=result.checks_columns,
                planned_on=result.planned_on if result.checks_columns else None,
            )
        except CommitOutcomeUnknownError:
            raise
        except PaimonError:
            abort(target_of(self.table._store, schema), result.messages)
            raise

    def rows(self) -> list[dict[str, object]]:
        return rows_of(self.table.to_arrow())


def expected(name: str) -> tuple[list[dict[str, object]], list[int]]:
    """The rows afterwards, and which accesses to the storage are to fail."""
    scene = Scene(name)
    scene.run()
    log = scene.io.log
    changes = [n for n, operation in enumerate(log, 1) if operation.split()[0] not in READS]
    return scene.rows(), sorted({*changes, *some(range(1, len(log) + 1), STRIDE)})


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
@pytest.mark.parametrize("name", CASES)
def test_an_operation_that_fails_is_visible_or_absent_and_leaves_nothing(
    name: str, fault: Fault
) -> None:
    after, steps = expected(name)
    for step in steps:
        scene = Scene(name, step, fault)
        before = scene.rows()
        try:
            scene.run()
        except CommitOutcomeUnknownError:
            assert scene.rows() in (before, after), step
            continue
        except PaimonError:
            assert scene.rows() == before, step
            assert all_files(scene.table._store) == referenced_files(scene.table._store), step
            scene.io.fail_at = 0
            scene.run()
        assert scene.rows() == after, step
        assert all_files(scene.table._store) == referenced_files(scene.table._store), step
        assert scene.table.maintenance.fsck() == [], step
