"""Acts in processes of their own, which are killed at the k-th operation.

The operations are those of the storage (before each, and after each that changes something) and, in
between, those of the operating system that Python tells of: links, renames, removals, new files.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from paimon_explore import open_table
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.store.table_store import TableStore
from support.acts import ACTS
from support.paused_file_io import PausedFileIO

_EVENTS = ("os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir")
_READS = ("read", "open", "status", "exists", "list", "walk")


class _KillingFileIO(PausedFileIO):
    """Counts also after an operation, and in the middle of a stream."""

    def create_stream(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        return self._streamed(path)

    @contextmanager
    def _streamed(self, path: str) -> Iterator[pa.NativeFile]:
        with super().create_stream(path) as sink:
            sink.write(b"")
            self.before("in the middle of " + path)
            yield sink
            sink.flush()
            self.before("before the end of " + path)
        self.before("after " + path)

    def create(self, path: str, data: bytes) -> bool:
        made = super().create(path, data)
        self.before("after " + path)
        return made


def perform(name: str, folder: str, kill_at: int, counted: str) -> None:
    """Do an act in this process and be killed.

    Args:
        name: of the act.
        folder: of the table.
        kill_at: number of the operation, from 1; 0 for none.
        counted: a file that gets the number of operations if the process lives on.
    """
    pa.set_cpu_count(1)
    steps = 0

    def step(operation: str) -> None:
        nonlocal steps
        if operation.startswith(_READS):
            return  # what is on disk is as before the next change
        steps += 1
        if steps == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(event: str, _: tuple[object, ...]) -> None:
        if event in _EVENTS:
            step(event)

    table = open_table(folder)
    store = TableStore(_KillingFileIO(LocalFileIO(durable=False), step), table._store.paths)
    sys.addaudithook(audit)
    ACTS[name].run(replace(table, _store=store))
    count, steps = steps, -(10**9)
    Path(counted).write_text(str(count), encoding="utf-8")


def forked(act: Callable[[], None]) -> int:
    """Do something in a copy of this process; its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the copy must not go on in any case
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def serve(jobs: Sequence[tuple[str, str, int, str]]) -> None:
    """Let a copy of this process do each job: see `perform`."""
    pa.set_cpu_count(1)
    for job in jobs:
        code = forked(partial(perform, *job))
        assert code in (0, -signal.SIGKILL), (job, code)


if __name__ == "__main__":
    serve(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
