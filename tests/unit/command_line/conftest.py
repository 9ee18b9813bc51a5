"""Fixtures of the tests of the command line."""

from pathlib import Path

import pytest

from support.command_line import Program, copied


@pytest.fixture
def own_warehouse(demo_warehouse: Path, tmp_path: Path) -> Path:
    """A copy of the demo warehouse."""
    return copied(demo_warehouse, tmp_path / "wh")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs the program."""
    return Program(capsys)
