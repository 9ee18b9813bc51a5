"""Tests wait neither for the disk nor for the rest of a file that is cut off.

Files of tests need not outlive a crash of the machine, and nobody completes a file that a test has
damaged.
"""

import os
from collections.abc import Iterator

import pytest

from paimon_explore.store.json_file_loader import DEFAULT_READ_RETRY

_AT_ONCE = float
"""Returns without waiting, and is pickled for processes that have nothing of the tests."""


@pytest.fixture(scope="session", autouse=True)
def _no_disk_waits() -> Iterator[None]:
    """Let `fsync` return at once, and retry to parse a young file without a pause."""
    sleep = DEFAULT_READ_RETRY.sleep
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", _AT_ONCE)
        object.__setattr__(DEFAULT_READ_RETRY, "sleep", _AT_ONCE)
        yield
    object.__setattr__(DEFAULT_READ_RETRY, "sleep", sleep)
