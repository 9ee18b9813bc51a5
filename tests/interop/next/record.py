"""Records what Java reads of a table: the expected rows and system tables of a golden table."""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from oracle import JavaPaimon, JavaPaimonError

SYSTEM_TABLES = (
    *("snapshots", "schemas", "options", "files", "manifests", "partitions", "tags", "branches"),
    *("consumers", "statistics", "aggregation_fields", "buckets", "table_indexes"),
    *("file_key_ranges",),
)
ROW_ID_TABLES = ("row_tracking",)
Json = Any


def record(
    java: JavaPaimon, folder: Path, expected: Path, description: str, unordered: object
) -> Mapping[str, str]:
    """Write the expectations of a table as Java reads it; return what it could not read."""
    expected.mkdir(parents=True)
    unreadable: dict[str, str] = {}

    def keep(name: str, read: Callable[[], pa.Table]) -> None:
        try:
            rows = read()
        except JavaPaimonError as error:
            unreadable[name] = error.java_message[:300]
            return
        (expected / name).parent.mkdir(exist_ok=True)
        pq.write_table(rows, expected / f"{name}.parquet", compression="zstd")

    snapshots = numbers(folder / "snapshot")
    for number in snapshots:
        keep(str(number), lambda number=number: java.read(folder, snapshot=number))  # type: ignore[misc]
    keep("latest", lambda: java.read(folder))
    for name in ("ro", "audit_log"):
        keep(name, lambda name=name: java.system_table(folder, name))  # type: ignore[misc]
    for path in sorted((folder / "tag").glob("tag-*")):
        tag = path.name.removeprefix("tag-")
        keep(path.name, lambda tag=tag: java.read(folder, tag=tag))  # type: ignore[misc]
    for path in sorted((folder / "branch").glob("branch-*")):
        branch = path.name.removeprefix("branch-")
        for number in numbers(path / "snapshot"):
            keep(
                f"{path.name}/{number}",
                lambda number=number, branch=branch: java.read(  # type: ignore[misc]
                    Path(f"{folder}$branch_{branch}"), snapshot=number
                ),
            )
    system = _system(java, folder, snapshots, unreadable)
    _dump(expected / "system.json", system)
    found = java.describe(folder)
    meta = {
        "impl": f"java {java.version}",
        "table": folder.name,
        "desc": description,
        "snapshots_on_disk": snapshots,
        "fields": found.fields,
        "partition_keys": found.partition_keys,
        "primary_keys": found.primary_keys,
        "options": {**found.options, "path": ""},
        "unreadable": unreadable,
        "placed": str(folder) if any(folder.rglob("*.managed.blob")) else "",
        "unordered": unordered,
    }
    _dump(expected / "meta.json", meta)
    return unreadable


def numbers(folder: Path) -> list[int]:
    """The ids of the snapshots in a folder."""
    return sorted(int(path.name.partition("-")[2]) for path in folder.glob("snapshot-*"))


def _system(
    java: JavaPaimon, folder: Path, snapshots: list[int], unreadable: dict[str, str]
) -> dict[str, Json]:
    system: dict[str, Json] = {}
    tracks = java.describe(folder).options.get("row-tracking.enabled") == "true"
    for name in (*SYSTEM_TABLES, *(ROW_ID_TABLES if tracks else ())):
        try:
            rows = java.system_table(folder, name).to_pylist()
        except JavaPaimonError as error:
            unreadable[f"${name}"] = error.java_message[:300]
            continue
        system[name] = rows
    if "$files" not in unreadable:
        system["files_at"] = {
            str(number): java.system_table(folder, "files", snapshot=number).to_pylist()
            for number in snapshots[:12]
        }
    try:
        system["splits"] = [
            {
                "bucket": split.bucket,
                "raw": split.raw_convertible,
                "files": [
                    {"name": file.name, "level": file.level, "rows": file.row_count}
                    for file in split.files
                ],
            }
            for split in java.plan(folder)
        ]
    except JavaPaimonError as error:
        unreadable["splits"] = error.java_message[:300]
    return system


def _dump(path: Path, found: Json) -> None:
    def other(value: object) -> str:
        if isinstance(value, datetime | date):
            return value.isoformat()
        return value.hex() if isinstance(value, bytes) else str(value)

    path.write_text(json.dumps(found, default=other), encoding="utf-8")
