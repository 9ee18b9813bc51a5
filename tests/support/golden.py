"""Real tables that other implementations wrote, and the rows they must give."""

import importlib.util
import json
import shutil
import tarfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

import pytest

from support.depth import some
from support.required import NEED

NEWEST = "java21"
"""The writer that is not released yet, of the same kinds of tables as the others, and new ones."""
WRITERS = (NEWEST, "java200", "java142", "java09", "pypaimon21", "rust04")


@dataclass(frozen=True)
class GoldenTable:
    """One table: its folder, and the folder of what is expected of it."""

    writer: str
    folder: Path
    expected: Path

    @cached_property
    def meta(self) -> dict[str, object]:
        """What the writer said of the table: schema, options, what it could not read itself."""
        found: dict[str, object] = json.loads(self._text("meta.json"))
        return found

    @cached_property
    def system(self) -> dict[str, object]:
        """Rows of the writer's own system tables."""
        found: dict[str, object] = json.loads(self._text("system.json"))
        return found

    def _text(self, name: str) -> str:
        return (self.expected / name).read_text(encoding="utf-8")


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack an archive of this repository.

    The filter came with Python 3.11.4; older patch releases unpack without one.
    """
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:
        archive.extractall(folder)  # noqa: S202 - our own archives


class GoldenTables:
    """The archives beside the tests, each unpacked when first asked for.

    Processes of one run may share the folder.
    """

    def __init__(self, archives: Path, folder: Path) -> None:
        self._archives = archives
        self._folder = folder

    def warehouse(self, writer: str) -> Path:
        """The unpacked warehouse of one writer."""
        target = self._folder / writer
        if not target.exists():
            new = Path(mkdtemp(dir=self._folder))
            with tarfile.open(self._archives / f"{writer}.tar.xz") as archive:
                unpack(archive, new)
            with suppress(OSError):  # another process was sooner
                (new / writer).rename(target)
        return target

    def table(self, writer: str, name: str) -> GoldenTable:
        """One table by its writer and name; the test is skipped where a package is missing."""
        if self._lacks_package(writer, name):
            pytest.skip(f"{NEED}the package datasketches")
        warehouse = self.warehouse(writer)
        found = GoldenTable(
            writer=writer,
            folder=warehouse / "gold.db" / name,
            expected=warehouse / "expected" / name,
        )
        self._place_external(found)
        return found

    def names(self, writer: str) -> list[str]:
        """All tables of a writer that have expectations, and can be read by what is installed."""
        found = [folder.name for folder in (self.warehouse(writer) / "expected").iterdir()]
        return sorted(name for name in found if not self._lacks_package(writer, name))

    def some_names(self, writer: str, stride: int) -> Sequence[str]:
        """One of so many tables of a writer; all of them in a deep run.

        Most writers wrote the same kinds of tables, and each has others of them.
        """
        return some(self.names(writer), stride, WRITERS.index(writer))

    def _lacks_package(self, writer: str, name: str) -> bool:
        """Whether a table has sketches, and the package that unites them is not installed."""
        if importlib.util.find_spec("datasketches") is not None:
            return False
        meta = self.warehouse(writer) / "expected" / name / "meta.json"
        return "_sketch" in meta.read_text(encoding="utf-8")

    def _place_external(self, table: GoldenTable) -> None:
        """Put files where the table names them by absolute paths: it as a whole, or data files."""
        placed = str(table.meta.get("placed", ""))
        if placed and not Path(placed).exists():
            shutil.copytree(table.folder, placed)
        options = table.meta["options"]
        target = options.get("data-file.external-paths", "") if isinstance(options, dict) else ""
        target = str(target).removeprefix("file://")
        if target and not Path(target).exists():
            source = self.warehouse(table.writer) / "external" / Path(target).name
            shutil.copytree(source, target)
