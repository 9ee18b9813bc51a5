"""A job that stops in the middle, for another job to act."""

from collections.abc import Callable
from dataclasses import replace

from paimon_explore import Table
from paimon_explore.store.table_store import TableStore
from support.paused_file_io import PausedFileIO


def interrupted(
    table: Table,
    count: int,
    other: Callable[[], object],
    *,
    operation: str = "create snapshot-",
    after: str | None = None,
) -> Table:
    """The table of a job that is stopped before its n-th such operation, for another job to act.

    Args:
        table: the table.
        count: which of the operations; the first is 1.
        other: what happens there.
        operation: the beginning of operations as `PausedFileIO` tells them; those that create
            snapshots by default.
        after: an operation before which none counts.
    """
    seen = 0
    counts = after is None

    def before(told: str) -> None:
        nonlocal seen, counts
        if counts and told.startswith(operation):
            seen += 1
            if seen == count:
                other()
        counts = counts or told == after

    paths = table._store.paths
    return replace(table, _store=TableStore(PausedFileIO(table._store.file_io, before), paths))
