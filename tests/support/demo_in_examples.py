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


@pytest.fixture(autouse=True)
def _copied_demo(request: pytest.FixtureRequest) -> None:
    """Let `pe.demo()` copy the warehouse in examples, and only there."""
    if not isinstance(request.node, pytest.DoctestItem):
        return
    folder = request.getfixturevalue("tmp_path")
    numbers = count()

    def demo() -> paimon_explore.Catalog:
        copy = folder / str(next(numbers))
        shutil.copytree(request.getfixturevalue("_demo_warehouse"), copy)
        return paimon_explore.Catalog(copy)

    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    monkeypatch.setattr(paimon_explore, "demo", demo)
