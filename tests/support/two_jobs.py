"""Two jobs on one table, interleaved storage operation by storage operation.

One stops before each of its operations; the other goes on to its end, or to an operation of its own
that the first may notice.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product

from paimon_explore import Table
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store.table_store import TableStore
from support.concurrency import switching
from support.memory_files import copied_files, forget_files
from support.paused_file_io import PausedFileIO
from support.schedules import Schedule

Job = Callable[[Table], object]
Way = tuple[tuple[int, int], ...]
"""Jobs by number, each with the count of its operations until the other one goes on."""


@dataclass(frozen=True, slots=True)
class TwoJobs:
    """A table in memory and two jobs, which are done to copies of it."""

    table: Table
    jobs: tuple[Job, Job]

    def operations(self) -> list[list[str]]:
        """What each job does when it is alone."""
        logs = []
        for job in self.jobs:
            log: list[str] = []
            with self.copied() as table:
                job(self.on(PausedFileIO(table._store.file_io, log.append)))
            logs.append(log)
        return logs

    def ways(self, is_shared: Callable[[str], bool]) -> Iterator[Way]:
        """The interleavings, of which the second switch is before a shared operation."""
        logs = self.operations()
        shared = [[at for at, told in enumerate(log) if is_shared(told)] for log in logs]
        for first in (0, 1):
            other = 1 - first
            for at in range(len(logs[first])):
                yield (first, at + 1), (other, 9 * len(logs[other]))
            for at, then in product(shared[first], shared[other]):
                yield (first, at + 1), (other, then + 1)

    @contextmanager
    def interleaved(self, way: Way) -> Iterator[tuple[Table, list[BaseException | None]]]:
        """Run both on a copy; the table afterwards, and the error of each job."""

        def actor(job: Job, files: FileIO) -> Callable[[Callable[[str], None]], None]:
            def act(wait: Callable[[str], None]) -> None:
                job(self.on(PausedFileIO(files, wait)))

            return act

        with self.copied() as table:
            files = table._store.file_io
            schedule = Schedule([actor(job, files) for job in self.jobs], switching(*way))
            errors = schedule.run()
            try:
                yield table, errors
            except BaseException as error:
                error.add_note("\n".join([f"{way}: {errors!r}", *schedule.log]))
                raise

    @contextmanager
    def copied(self) -> Iterator[Table]:
        """A copy of the table, thrown away afterwards."""
        base = self.table._store.file_io
        assert isinstance(base, MemoryFileIO)
        files = copied_files(base)
        try:
            yield self.on(files)
        finally:
            forget_files(files.name)

    def on(self, file_io: FileIO) -> Table:
        """The table in another storage."""
        return replace(self.table, _store=TableStore(file_io, self.table._store.paths))
