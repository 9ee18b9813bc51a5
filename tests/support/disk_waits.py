"""Tests wait neither for the disk nor for the rest of a file that is cut off.

Files of tests need not outlive a crash of the machine, and nobody completes a file that a test has
damaged. Where memory suffices, files are in memory: creating many small ones on a disk takes longer
than most tests.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_explore.store.json_file_loader import DEFAULT_READ_RETRY

_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder there that is only ours
_ENOUGH_BYTES = 8 << 30
_ROOT = "PYTEST_DEBUG_TEMPROOT"
_AT_ONCE = float
"""Returns without waiting, and is pickled for processes that have nothing of the tests."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary files in memory, unless the user or the size of memory says otherwise."""
    if (
        config.option.basetemp is None
        and _IN_MEMORY.is_dir()
        and shutil.disk_usage(_IN_MEMORY).free >= _ENOUGH_BYTES
    ):
        os.environ.setdefault(_ROOT, str(_IN_MEMORY))


@pytest.fixture(scope="session", autouse=True)
def _temporary_files_are_removed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let this process and those that it starts make temporary files where pytest removes them."""
    folder = str(tmp_path_factory.mktemp("tmp", numbered=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setenv("SPARK_LOCAL_DIRS", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_disk_waits() -> Iterator[None]:
    """Let `fsync` return at once, and retry to parse a young file without a pause."""
    sleep = DEFAULT_READ_RETRY.sleep
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", _AT_ONCE)
        object.__setattr__(DEFAULT_READ_RETRY, "sleep", _AT_ONCE)
        yield
    object.__setattr__(DEFAULT_READ_RETRY, "sleep", sleep)
