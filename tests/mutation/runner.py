"""Forked children that run tests, each with one mutant."""

import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from mutation.mutants import Mutant
from mutation.packages import ROOT, Package
from mutation.record import Record, record

_AT_A_TIME = 2
_CPU_S = 40
_WALL_S = 240


class _MutatedModule(SourceFileLoader):
    """Imports one module with its mutant; stands in `sys.meta_path` as the finder, too."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.path.removesuffix(".py").replace("/", "."), mutant.path)
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self.name:
            return None
        return spec_from_file_location(fullname, ROOT / self._mutant.path, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return compile(self._mutant.tree(), str(ROOT / self._mutant.path), "exec")


class _Selection:
    """A pytest plugin that keeps the chosen tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._ranks = {test: rank for rank, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = (item for item in items if item.nodeid in self._ranks)
        items[:] = sorted(chosen, key=lambda item: self._ranks[item.nodeid])


def recorded(package: Package, tests: Sequence[str], budget_s: float, result: Path) -> Record:
    """The package's record, from a child, since this process keeps the package unimported.

    The file `result` keeps it; if it exists, its record is returned.
    """
    with tempfile.TemporaryDirectory() as folder:

        def work() -> int:
            found = record(package, [*_arguments(Path(folder, "files")), *tests], budget_s)
            result.write_bytes(pickle.dumps(found))
            return 0

        log = Path(folder, "log")
        if not result.exists() and os.waitpid(_forked(work, log), 0)[1]:
            raise RuntimeError(log.read_text(encoding="utf-8"))
    found: Record = pickle.loads(result.read_bytes())  # noqa: S301 - written above
    return found


def outcomes(
    chosen: Sequence[Mutant], known: Record, folder: Path, *, unmutated: bool
) -> Iterator[tuple[Mutant, str]]:
    """Whether each mutant is `noticed`, `survived`, `timed out` or reached by `no test`."""
    waiting = list(reversed(chosen))
    running: dict[int, tuple[Mutant, Path, float]] = {}
    while waiting or running:
        while waiting and len(running) < _AT_A_TIME:
            mutant = waiting.pop()
            tests = known.tests_for(mutant)
            if not tests:
                yield mutant, "no test"
                continue
            files = folder / str(len(waiting))
            pid = _forked(
                _check(mutant, tests, files, unmutated=unmutated), files.with_suffix(".log")
            )
            running[pid] = mutant, files, time.monotonic() + _WALL_S
        for pid, (mutant, files, deadline) in list(running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            late = time.monotonic() > deadline
            if late and not ended:
                os.killpg(pid, signal.SIGKILL)
                status = os.waitpid(pid, 0)[1]
            if ended or late:
                del running[pid]
                shutil.rmtree(files, ignore_errors=True)
                timed_out = os.WIFSIGNALED(status)
                yield mutant, "timed out" if timed_out else "noticed" if status else "survived"
        time.sleep(0.02)


def _check(mutant: Mutant, tests: list[str], files: Path, *, unmutated: bool) -> Callable[[], int]:
    def work() -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
        if not unmutated:
            sys.meta_path.insert(0, _MutatedModule(mutant))
        modules = dict.fromkeys(test.partition("::")[0] for test in tests)
        return pytest.main([*_arguments(files), "-x", *modules], plugins=[_Selection(tests)])

    return work


def _arguments(files: Path) -> list[str]:
    return [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:anyio",
        f"--basetemp={files}",
    ]


def _forked(work: Callable[[], int], log: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        with log.open("wb") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        status = work()
    except BaseException:  # noqa: BLE001 - a child ends here, whatever a mutant raises
        traceback.print_exc()
    os._exit(status)
