"""Fixtures of the tests of the command line."""

from pathlib import Path

import pytest

from paimon_explore.table.catalog.demo import demo
from support.command_line import Program, copied


@pytest.fixture(scope="session")
def demo_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo warehouse; do not change it."""
    folder = tmp_path_factory.mktemp("command_line") / "wh"
    demo(folder)
    return folder


@pytest.fixture
def own_warehouse(demo_warehouse: Path, tmp_path: Path) -> Path:
    """A copy of the demo warehouse."""
    return copied(demo_warehouse, tmp_path / "wh")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs the program."""
    return Program(capsys)
