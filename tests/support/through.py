"""The same table through another storage."""

from collections.abc import Callable
from dataclasses import replace

from paimon_explore import Table
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.store.table_store import TableStore


def through(table: Table, file_io: FileIO) -> Table:
    """The table, whose files are read and written through a storage."""
    return replace(table, _store=TableStore(file_io, table._store.paths))


class BeforeSnapshot:
    """A storage that runs something just before the first snapshot or schema is created."""

    def __init__(self, inner: FileIO, act: Callable[[], object]) -> None:
        self._inner = inner
        self._acts = [act]

    def __getattr__(self, name: str) -> object:
        """The methods of the storage."""
        return getattr(self._inner, name)

    def create(self, path: str, data: bytes) -> bool:
        """Create a file."""
        if ("/snapshot/" in path or "/schema/" in path) and self._acts:
            self._acts.pop()()
        return self._inner.create(path, data)


def interrupted(table: Table, act: Callable[[], object]) -> Table:
    """The table, whose next commit comes after something else."""
    file_io: FileIO = BeforeSnapshot(table._store.file_io, act)  # type: ignore[assignment]  # by name
    return through(table, file_io)
