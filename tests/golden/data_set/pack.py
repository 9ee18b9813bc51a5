"""Packs the golden tables, their expected rows and a runner into one archive.

    python tests/golden/data_set/pack.py golden-tables.tar.xz

The archive needs nothing of this repository: other implementations test their readers with it.
`DESCRIPTION.md`, which becomes its README, describes the layout.
"""

import argparse
import io
import json
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

HERE = Path(__file__).parent
ARCHIVES = HERE.parent
NAME = "paimon-golden-tables"
"""The folder that the archive unpacks to."""
FORMAT = 1
"""The version of the layout and of manifest.json."""
WRITERS = {
    "java21": "Apache Paimon 2.1-SNAPSHOT (Java, unreleased)",
    "java200": "Apache Paimon 2.0.0 (Java)",
    "java142": "Apache Paimon 1.4.2 (Java)",
    "java09": "Apache Paimon 0.9.0 (Java)",
    "pypaimon21": "pypaimon 2.1.0",
    "rust04": "pypaimon-rust 0.4.0",
}
EXTERNAL = "data-file.external-paths"
Meta = dict[str, Any]


def manifest(folder: Path, writers: Sequence[str]) -> Meta:
    """Describe the unpacked tables and the reads that are expected of them."""
    tables = [
        described(folder, expected)
        for writer in writers
        for expected in sorted((folder / writer / "expected").iterdir())
    ]
    return {
        "format": FORMAT,
        "writers": {writer: WRITERS[writer] for writer in writers},
        "tables": [table for table in tables if table["reads"]],
    }


def described(folder: Path, expected: Path) -> Meta:
    """Describe a table by the folder of its expected rows."""
    meta = json.loads((expected / "meta.json").read_text(encoding="utf-8"))
    writer = expected.parents[1].name
    return {
        "id": f"{writer}/{expected.name}",
        "folder": f"{writer}/gold.db/{expected.name}",
        "description": meta["desc"],
        "fields": meta["fields"],
        "primary_keys": meta["primary_keys"],
        "partition_keys": meta["partition_keys"],
        "options": meta["options"],
        "unordered": meta.get("unordered", []),
        "variant": [f["name"] for f in meta["fields"] if "VARIANT" in json.dumps(f["type"])],
        "external": external(writer, meta["options"].get(EXTERNAL, ""))
        | ({meta["placed"]: f"{writer}/gold.db/{expected.name}"} if meta.get("placed") else {}),
        "reads": list(reads(folder, expected)),
    }


def external(writer: str, location: str) -> dict[str, str]:
    """The data files outside a table: their absolute place, and the folder that has them here."""
    place = location.removeprefix("file://")
    return {place: f"{writer}/external/{Path(place).name}"} if place else {}


def reads(folder: Path, expected: Path) -> Iterator[Meta]:
    """Each point at which a table is read, and the file of the rows."""
    for parent in (expected, *sorted(expected.glob("branch-*"))):
        branch = "" if parent == expected else f"{parent.name.removeprefix('branch-')}@"
        for path in sorted(parent.glob("*.parquet"), key=order):
            point = point_of(path)
            if point is None:
                continue
            newest = path.with_name(f"newest-{path.stem}.pq")
            also = {"or": str(newest.relative_to(folder))} if newest.exists() else {}
            rows = pq.read_metadata(path).num_rows
            yield {
                "point": branch + point,
                "rows": str(path.relative_to(folder)),
                "count": rows,
                **also,
            }


def order(path: Path) -> tuple[int, str]:
    """Snapshots by their numbers, before tags and the latest one."""
    number = path.stem.removeprefix("truth-")
    return (int(number), "") if number.isdigit() else (sys.maxsize, path.stem)


def point_of(path: Path) -> str | None:
    """The point of a file of rows; None if they are not those of a plain read."""
    name = path.stem.removeprefix("truth-")
    if name == path.stem and path.with_name(f"truth-{path.name}").exists():
        return None  # rows as given to the writer outrank rows as it read them
    if name.startswith("tag-"):
        return f"tag:{name.removeprefix('tag-')}"
    return name if name == "latest" or name.isdigit() else None


def pack(target: Path, writers: Sequence[str]) -> Meta:
    """Write the archive, the same bytes for the same tables, and return its manifest."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for writer in writers:
            with tarfile.open(ARCHIVES / f"{writer}.tar.xz") as archive:
                archive.extractall(folder)  # noqa: S202 - our own archives
        found = manifest(folder, writers)
        with tarfile.open(target, "w:xz") as archive:
            add(archive, "manifest.json", f"{json.dumps(found, indent=1)}\n".encode())
            add(archive, "README.md", (HERE / "DESCRIPTION.md").read_bytes())
            add(archive, "LICENSE", (HERE.parents[2] / "LICENSE").read_bytes())
            for path in (HERE / "check_reader.py", *sorted((HERE / "readers").glob("*.py"))):
                add(archive, str(path.relative_to(HERE)), path.read_bytes())
            for path in sorted(one for one in folder.rglob("*") if one.is_file()):
                add(archive, str(path.relative_to(folder)), path.read_bytes())
    return found


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file that has no owner and no time."""
    info = tarfile.TarInfo(f"{NAME}/{name}")
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def main() -> None:
    """Write the archive that the command line names."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("target", type=Path, help="the archive to write, a .tar.xz file")
    arguments.add_argument("--writer", action="append", choices=WRITERS, help="only its tables")
    given = arguments.parse_args()
    found = pack(given.target, given.writer or list(WRITERS))
    reads_of_all = sum(len(table["reads"]) for table in found["tables"])
    size = given.target.stat().st_size
    print(f"{len(found['tables'])} tables, {reads_of_all} reads, {size:,} bytes")  # noqa: T201 - a program


if __name__ == "__main__":
    main()
