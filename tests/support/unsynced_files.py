"""Files of tests need not outlive a crash of the machine: waiting for the disk took a third."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _unsynced_files() -> Iterator[None]:
    """Let `fsync` return at once, for all files of this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        yield
