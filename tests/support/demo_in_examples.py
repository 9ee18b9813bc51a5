"""Examples in docstrings get copies of one demo warehouse: it takes a second to write."""

import shutil
from itertools import count
from pathlib import Path

import pytest

import paimon_explore
from paimon_explore.table.catalog.demo import demo as write_demo


@pytest.fixture(scope="session")
def _demo_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


@pytest.fixture
def copied_demo(tmp_path: Path, _demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `pe.demo()` copy the warehouse."""
    numbers = count()

    def demo(path: str | Path | None = None) -> paimon_explore.Catalog:
        copy = tmp_path / str(next(numbers)) if path is None else Path(path)
        if not copy.exists():
            shutil.copytree(_demo_warehouse, copy)
        return paimon_explore.Catalog(copy)

    monkeypatch.setattr(paimon_explore, "demo", demo)


@pytest.fixture(autouse=True)
def _copied_demo(request: pytest.FixtureRequest) -> None:
    """Let `pe.demo()` copy the warehouse in examples, and only there."""
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("copied_demo")
