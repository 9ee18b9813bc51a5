"""Settings and fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.golden import GoldenTables

pytest_plugins = (
    "catalogs.homes",
    "implementations",
    "support.browser",
    "support.demo_copies",
    "support.disk_waits",
    "support.event_loops",
    "support.figures",
    "support.interpreter",
    "support.shared_starts",
    "support.single_reader_thread",
    "support.site",
    "support.skip_summary",
)
"""Copies of the demo warehouse; the fixtures of `tests/interop`, where a file `conftest.py` would
have a second meaning for mypy; the sums and the skipped tests that the end of a run prints; one
reader thread per actor; a browser, with coroutines beside it; what shares a process; and
settings of the interpreter."""

collect_ignore_glob = [
    "benchmarks/*",
    "mutation/*",
    "golden/data_set/readers/*",
    "interop/oracle/*",
    "interop/peer_worker.py",
]

settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("deep", parent=settings.get_profile("default"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> GoldenTables:
    """Real tables of other implementations, unpacked once per run; treat them as read-only."""
    root = tmp_path_factory.getbasetemp()
    folder = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "golden"
    folder.mkdir(exist_ok=True)
    return GoldenTables(Path(__file__).parent / "golden", folder)
