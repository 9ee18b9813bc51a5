"""The files that COPY INTO has loaded into a table: records in its folder `copy-into/history`.

A record names one file with its size and time of modification; it is written after the commit.
Java's connector reads and writes the same records.
"""

import hashlib
import json
from collections.abc import Iterable

from paimon_explore.fileio.paths import join
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.store.table_store import TableStore

_FOLDER = "copy-into/history"
_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to load.

    Attributes:
        path: with its scheme, as Hadoop writes it.
        name: its last part.
        size: in bytes.
        modified: time of modification, epoch milliseconds.
    """

    path: str
    name: str
    size: int
    modified: int


def loaded(store: TableStore, files: Iterable[SourceFile]) -> set[str]:
    """Return the paths of the files that were loaded and have not changed since."""
    folder = join(store.paths.root, _FOLDER)
    names: dict[str, list[str]] = {}
    if store.file_io.exists(folder):
        for status in store.file_io.list(folder):
            name = status.path.rpartition("/")[2]
            names.setdefault(name.rpartition("-")[0], []).append(status.path)
    return {
        one.path
        for one in files
        if any(_is_of(store, path, one) for path in names.get(_prefix(one), ()))
    }


def _is_of(store: TableStore, path: str, one: SourceFile) -> bool:
    try:
        record = json.loads(store.file_io.read(path))
    except ValueError:
        return False  # as if it had not been loaded, as in Java
    known = record if isinstance(record, dict) else {}
    return (known.get("fileSize"), known.get("lastModified")) == (one.size, one.modified)


def record_loaded(
    store: TableStore, one: SourceFile, *, rows: int, snapshot: int, time_millis: int
) -> None:
    """Record that a file was loaded."""
    record = {
        "filePath": one.path,
        "fileSize": one.size,
        "lastModified": one.modified,
        "loadedAt": time_millis,
        "snapshotId": snapshot,
        "rowsLoaded": rows,
    }
    path = join(store.paths.root, _FOLDER, f"{_prefix(one)}-{time_millis}")
    store.file_io.replace(path, json.dumps(record).encode())


def _prefix(one: SourceFile) -> str:
    return f"load-{hashlib.sha256(one.path.encode()).hexdigest()[:_DIGITS]}"
