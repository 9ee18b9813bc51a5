"""Tests and examples get copies of one demo warehouse: it takes a second to write."""

from collections.abc import Iterator, Mapping
from functools import wraps
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


@pytest.fixture(scope="session")
def _demo_files(demo_warehouse: Path) -> Mapping[Path, bytes | None]:
    """What the demo's files hold, by their paths in it; None for folders, which come first."""
    found = sorted(demo_warehouse.rglob("*"), key=lambda path: (path.is_file(), path))
    return {
        path.relative_to(demo_warehouse): path.read_bytes() if path.is_file() else None
        for path in found
    }


@pytest.fixture(scope="session", autouse=True)
def _copied_demo(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Let `pe.demo()` copy the warehouse."""

    @wraps(write_demo)
    def demo(path: str | Path | None = None) -> paimon_explore.Catalog:
        copy = tmp_path_factory.mktemp("demo") if path is None else Path(path)
        if not (copy / "demo.db").exists():
            files: Mapping[Path, bytes | None] = request.getfixturevalue("_demo_files")
            copy.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                if content is None:
                    (copy / name).mkdir(exist_ok=True)
                else:
                    (copy / name).write_bytes(content)
        return paimon_explore.Catalog(copy)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paimon_explore, "demo", demo)
        yield
