"""Tests and examples get copies of one demo warehouse: it takes a second to write."""

import shutil
from functools import wraps
from itertools import count
from pathlib import Path

import pytest

import paimon_explore
from paimon_explore.table.catalog.demo import demo as write_demo


@pytest.fixture(scope="session")
def demo_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the demo; treat it as read-only."""
    folder = tmp_path_factory.mktemp("demo") / "wh"
    write_demo(folder)
    return folder


@pytest.fixture(autouse=True)
def _copied_demo(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `pe.demo()` copy the warehouse."""
    numbers = count()

    @wraps(write_demo)
    def demo(path: str | Path | None = None) -> paimon_explore.Catalog:
        own: Path = request.getfixturevalue("tmp_path")
        copy = own / str(next(numbers)) if path is None else Path(path)
        if not (copy / "demo.db").exists():
            written: Path = request.getfixturevalue("demo_warehouse")
            shutil.copytree(written, copy, dirs_exist_ok=True)
        return paimon_explore.Catalog(copy)

    monkeypatch.setattr(paimon_explore, "demo", demo)
