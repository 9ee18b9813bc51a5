"""A fixture for tests that interleave actors: each actor reads in one thread.

Such a test decides which actor goes on before every storage operation. A reader of several splits
would read them in several threads, whose order the test cannot decide.
"""

from collections.abc import Iterator

import pyarrow as pa
import pytest


@pytest.fixture
def single_reader_thread() -> Iterator[None]:
    """Read the splits of a scan one after the other."""
    before = pa.io_thread_count()
    pa.set_io_thread_count(1)
    yield
    pa.set_io_thread_count(before)
