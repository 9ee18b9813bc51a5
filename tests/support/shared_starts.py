"""Tests that start the same thing, such as Spark or the servers of catalogs, run in one process.

One more process runs tests than there are cores: those of Java, browsers, notebooks and killed
processes wait for a third of their time, in which others use the cores.
"""

import os
from collections.abc import Generator

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped] # has no types

_FOLDERS = ("tests/spark/", "tests/interop/catalogs/", "tests/interop/", "tests/browser/")
"""What each of them starts takes longer than most of its tests."""
_OF_FOLDERS = {
    "tests/docs/test_blocks_with_needs.py": "tests/interop/catalogs/",
    "tests/docs/test_site.py": "tests/browser/",
}
"""Files elsewhere that need the same."""
_ALONE = ("tests/spark/test_cluster.py",)
"""Files whose tests start all they need themselves."""
_FIRST = (
    *("tests/faults/test_kills.py", "tests/faults/test_many_processes.py"),
    *("tests/faults/test_random_acts.py", "tests/spark/test_cluster.py"),
)
"""Files of few tests that take long: at the end, all other processes would wait for them."""


class SharedStarts(LoadFileScheduling):  # type: ignore[misc] # likewise
    """The tests of a file stay together, and those of a folder that starts something."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        folders = (folder for folder in _FOLDERS if file.startswith(folder))
        return file if file in _ALONE else _OF_FOLDERS.get(file) or next(folders, file)

    def _assign_work_unit(self, node: object) -> None:
        for scope in _FIRST:
            if scope in self.workqueue:
                self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SharedStarts | None:
    """Distribute whole files in this way."""
    return SharedStarts(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than cores, unless the user says how many."""
    found = yield
    return found + ("PYTEST_XDIST_AUTO_NUM_WORKERS" not in os.environ)
