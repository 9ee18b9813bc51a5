"""A job that stops before one of its snapshots, for another job to act."""

from collections.abc import Callable
from dataclasses import replace

from paimon_explore import Table
from paimon_explore.store.table_store import TableStore
from support.paused_file_io import PausedFileIO


def interrupted(table: Table, count: int, other: Callable[[], object]) -> Table:
    """The table of a job that is stopped before its n-th snapshot, for another job to act."""
    seen = 0

    def before(operation: str) -> None:
        nonlocal seen
        if operation.startswith("create snapshot-"):
            seen += 1
            if seen == count:
                other()

    paths = table.store.paths
    return replace(table, store=TableStore(PausedFileIO(table.store.file_io, before), paths))
