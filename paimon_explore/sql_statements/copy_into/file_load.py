"""COPY INTO table FROM 'folder': the load that an engine executes, and what becomes of each file.

CSV columns are assigned by position; those of JSON and Parquet by name, and null where they are
missing. Texts are cast to the types of the table; a value that cannot be cast, and a line that
cannot be parsed, is an error of its file.

| ON_ERROR | a file with errors |
| --- | --- |
| ABORT_STATEMENT | nothing is loaded; an exception names the first error |
| CONTINUE | its other rows are loaded |
| SKIP_FILE | is left out |

The files that COPY INTO has loaded into a table: records in its folder `copy-into/history`.

A record names one file with its size and time of modification; it is written after the commit.
Java's connector reads and writes the same records.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence

from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.paths import join
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sql_statements.copy_into.file_format import PARQUET, FileFormat
from paimon_explore.sql_statements.data_type_names import type_name
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

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


LoadResult = tuple[str, str, int, int, int, str | None]
"""Name of the file, status, rows loaded, rows parsed, errors, the first error."""
FAILED = "LOAD_FAILED"
MALFORMED = "the line cannot be parsed: "
"""What precedes a line in its error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLoad:
    """A load of files into a table.

    Attributes:
        table: the table.
        columns: the columns that the files contain.
        format: the format of the files.
        on_error: `ABORT_STATEMENT`, `CONTINUE` or `SKIP_FILE`.
    """

    table: Table
    columns: tuple[DataField, ...]
    format: FileFormat
    on_error: str

    def uncastable(self, field: DataField) -> str:
        """Return what precedes a value in its error.

        Raises:
            UnsupportedFeatureError: texts are not cast to the type of the column.
        """
        kind = type_name(field.type)
        is_atomic = isinstance(field.type, AtomicType) and field.type.root is not TypeRoot.VARIANT
        if self.format.kind != PARQUET and not is_atomic:
            raise UnsupportedFeatureError(
                f"COPY INTO column {field.name!r} of type {kind} from {self.format.kind} files",
                self.table.name,
                hint="Load Parquet files, or INSERT the rows with from_json(…).",
            )
        return f"column {field.name!r} of type {kind} cannot store '"

    def result(self, one: SourceFile, counted: tuple[int, int, str | None]) -> LoadResult:
        """Return what becomes of a file.

        Args:
            one: the file.
            counted: its rows, the rows with errors, and the first error.

        Raises:
            InvalidInputError: the file has errors, for ABORT_STATEMENT.
        """
        parsed, errors, first = counted
        if not errors:
            return (one.name, "LOADED", parsed, parsed, 0, None)
        if self.on_error == "ABORT_STATEMENT":
            raise InvalidInputError(
                f"COPY INTO: {errors} of {parsed} rows of file {one.path} cannot be loaded. The "
                f"first error: {first}.",
                hint="Nothing was loaded. Correct the file, or write ON_ERROR = CONTINUE (load the "
                "other rows) or SKIP_FILE (load the other files).",
            )
        rows = 0 if self.on_error == "SKIP_FILE" else parsed - errors
        return (one.name, "PARTIALLY_LOADED" if rows else FAILED, rows, parsed, errors, first)

    def record(self, files: Sequence[SourceFile], results: Sequence[LoadResult]) -> None:
        """Record which files were loaded, after the commit."""
        store, now = store_of(self.table), system_clock()
        snapshot = store.snapshots.latest_id() or 0
        for one, (_, status, rows, *_) in zip(files, results, strict=True):
            if status != FAILED:
                record_loaded(store, one, rows=rows, snapshot=snapshot, time_millis=now)
