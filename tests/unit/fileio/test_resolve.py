"""Locations as people write them."""

from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.fileio.resolve import resolve


def test_plain_paths_are_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve("a/b") == (LocalFileIO(), f"{tmp_path}/a/b")
    assert resolve(tmp_path / "x") == (LocalFileIO(), f"{tmp_path}/x")
    assert resolve("file:///data/w/") == (LocalFileIO(), "/data/w")
    assert resolve("~/w") == (LocalFileIO(), str(Path.home() / "w"))


def test_memory_locations_name_their_file_set() -> None:
    assert resolve("memory://tests/w/") == (MemoryFileIO("tests"), "memory://tests/w")


def test_unknown_schemes_and_empty_locations_are_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match="storage scheme 'ftp'"):
        resolve("ftp://host/x")
    with pytest.raises(InvalidInputError, match="empty"):
        resolve(" ")
