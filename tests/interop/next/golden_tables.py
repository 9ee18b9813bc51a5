"""Makes the golden tables of the next version, and packs them beside the others.

PYTHONPATH=.:tests:tests/interop python tests/interop/next/golden_tables.py

The tables are made in a fixed folder, since some of them name files by absolute paths.
"""

import argparse
import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from next.features import FEATURES
from next.kinds import KINDS, MODEL, replay
from next.record import record
from oracle import JavaPaimon, JavaPaimonError
from support.golden import GoldenTables

VERSION = "2.1-SNAPSHOT"
WRITER = "java21"
WAREHOUSE = Path("/tmp/paimon-golden/next") / WRITER  # noqa: S108 - see above
ARCHIVES = Path(__file__).parents[2] / "golden"


def main() -> None:
    """Make the tables that are asked for, all by default."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--only", action="append", help="names of tables; nothing is packed")
    given = arguments.parse_args()
    if not given.only:
        shutil.rmtree(WAREHOUSE, ignore_errors=True)
    models = GoldenTables(ARCHIVES, WAREHOUSE.parent / "models")
    with JavaPaimon(VERSION, heap="1g") as java:
        skipped = make_all(java, models, WAREHOUSE, given.only)
    (WAREHOUSE / "skipped.json").write_text(json.dumps(skipped, indent=1), encoding="utf-8")
    shutil.copy(Path(__file__).parent / "REVISION", WAREHOUSE)
    if not given.only:
        pack(WAREHOUSE, ARCHIVES / f"{WRITER}.tar.xz")


def make_all(
    java: JavaPaimon, models: GoldenTables, warehouse: Path, only: list[str] | None
) -> Mapping[str, str]:
    """Make the tables and record what Java reads; return the reasons why tables were not made."""
    skipped = {}
    for name in (*FEATURES, *KINDS):
        if only and name not in only:
            continue
        folder, expected = warehouse / "gold.db" / name, warehouse / "expected" / name
        for old in (folder, expected):
            shutil.rmtree(old, ignore_errors=True)
        try:
            described = maker(java, models, name, folder)()
        except JavaPaimonError as error:
            skipped[name] = error.java_message[:400]
            print(f"{name}: {skipped[name]}")  # noqa: T201 - a program
            continue
        unordered = () if name in FEATURES else models.table(MODEL, name).meta.get("unordered", ())
        lacking = record(java, folder, expected, described, unordered)
        if lacking:
            print(f"{name} is not read: {lacking}")  # noqa: T201
    return skipped


def maker(java: JavaPaimon, models: GoldenTables, name: str, folder: Path) -> Callable[[], str]:
    """What makes a table and returns its description."""
    if name not in FEATURES:
        return lambda: replay(java, models, name, folder)
    description, make = FEATURES[name]

    def made() -> str:
        make(java, folder)
        return description

    return made


def pack(warehouse: Path, archive: Path) -> None:
    """Write the archive, with the data files that lie outside of tables."""
    for path in warehouse.rglob("*.crc"):
        path.unlink()
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted(one for one in warehouse.rglob("*") if one.is_file()):
            packed.add(path, arcname=str(path.relative_to(warehouse.parent)), filter=anonymous)


def anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who packed a file and when."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    return info


if __name__ == "__main__":
    main()
