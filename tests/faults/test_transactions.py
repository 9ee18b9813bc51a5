"""A transaction that is cut off at any access to the storage: all of it is visible, or nothing.

Behind an error nothing is left. Behind a crash files may be left that nothing refers to, and the
new schema, if the process ended between the creation of the schema and of the snapshot.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import CommitOutcomeUnknownError, PaimonError
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.transactions.transaction import Transaction
from support.cuts import cuts_of, rows_of
from support.depth import some
from support.faulty_file_io import CrashError, FaultyFileIO
from support.figures import Figures
from support.memory_files import copied_files, forget_files
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.int32())
OLD = [{"k": k, "v": k} for k in range(6)]
STRIDE = 5
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
Block = Callable[[Transaction], None]


def rewritten(tx: Transaction) -> None:
    """Append, delete and overwrite in one snapshot."""
    tx.append([{"k": 7, "v": 7}])
    tx.delete("k <= 2 OR k = 7")
    tx.append([{"k": 8, "v": 8}])


def evolved(tx: Transaction) -> None:
    """A new column and rows that have it."""
    tx.add_column("w", "STRING")
    tx.append([{"k": 8, "v": 8, "w": "w"}])
    tx.delete("k = 1")


def upserted(tx: Transaction) -> None:
    """Records of the same keys twice."""
    tx.upsert([{"k": 1, "v": 10}])
    tx.update({"v": "v + 1"}, "k <= 2")
    tx.delete("k = 3")


def replaced(tx: Transaction) -> None:
    """All rows, then some more."""
    tx.truncate()
    tx.append([{"k": 1, "v": 1}])


BLOCKS: Mapping[str, tuple[str, Mapping[str, str], Block]] = {
    "files": ("append", {}, rewritten),
    "vectors": ("append", {"deletion-vectors.enabled": "true"}, rewritten),
    "schema": ("append", {}, evolved),
    "keys": ("keyed", {}, upserted),
    "overwrite": ("append", {}, replaced),
}


def table_of(name: str) -> Table:
    kind, options, _ = BLOCKS[name]
    if kind == "append":
        return append_table(COLUMNS, OLD, options=dict(options))
    return keyed_table(COLUMNS, OLD, primary_key=["k"], options=dict(options))


def run(table: Table, faulty: FaultyFileIO, block: Block) -> None:
    store = TableStore(faulty, table._store.paths)
    with replace(table, _store=store).transaction() as tx:
        block(tx)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_transaction_that_is_cut_off_is_visible_or_not(name: str, figures: Figures) -> None:
    table, block = table_of(name), BLOCKS[name][2]
    files = table._store.file_io
    before, schema_before = rows_of(table), table.schema
    whole = copied_files(files)  # type: ignore[arg-type] # in memory
    sound = FaultyFileIO(whole, reads_too=True)
    run(table, sound, block)
    done = replace(table, _store=TableStore(whole, table._store.paths))
    after, schema_after = rows_of(done), done.schema
    assert before != after
    forget_files(whole.name)
    chosen = some(cuts_of(sound.log), STRIDE)
    for step, fault in chosen:
        copy = copied_files(files)  # type: ignore[arg-type] # in memory
        faulty = FaultyFileIO(copy, step, fault, reads_too=True)
        again = replace(table, _store=TableStore(copy, table._store.paths))
        where = f"{fault.value}: {step}, {sound.log[step - 1]}"
        try:
            run(table, faulty, block)
        except CommitOutcomeUnknownError:
            state = "unknown"
        except (PaimonError, CrashError) as error:
            state = "crashed" if isinstance(error, CrashError) else "failed"
        else:
            state = "done"
        found, schema = rows_of(again), again.schema
        names = schema.row_type.names
        if state == "done":
            assert (found, names) == (after, schema_after.row_type.names), where
        elif state == "failed":
            assert (found, names) == (before, schema_before.row_type.names), where
        elif names == schema_before.row_type.names or found == after:
            assert found in (before, after), where
        else:  # the schema alone
            assert state == "crashed", where
            assert rows_of(again.at(snapshot=1)) == before, where
        assert again.maintenance.fsck() == [], where
        if state in ("done", "failed") and "delete" not in sound.log[step - 1]:
            assert again.maintenance.remove_orphan_files(older_than=LATER).files == (), where
        forget_files(copy.name)
    figures.add("injected faults", len(chosen))
