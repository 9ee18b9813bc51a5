"""Loads small JSON files that another process may be writing, and caches their values.

Without an atomic create, a file is visible before it is complete. So a file that is not JSON is
read again for up to two seconds if it was modified recently; an older file, and one whose JSON is
complete but invalid, are reported as corrupt immediately.
"""

import json
import time
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import CorruptFileError, MissingFileError
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.fileio.versioned_reads import read_listed
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import MAX_LONG
from paimon_explore.metadata.table_paths import TablePaths

if TYPE_CHECKING:
    from paimon_explore.metadata.schema.table_schema import TableSchema
    from paimon_explore.metadata.snapshot import Snapshot
    from paimon_explore.store.catalog_environment import CatalogEnvironment

_Value = TypeVar("_Value")
_Numbered = TypeVar("_Numbered", bound="Snapshot | TableSchema")
_MAX_SNAPSHOT_BYTES, _CACHED_SNAPSHOTS = 2 << 10, 8_192
"""Maximum size and number of small files whose values are cached: the snapshots of a long history
are read again by each listing."""
_MAX_SCHEMA_BYTES, _CACHED_SCHEMAS = 128 << 10, 256
"""Of larger files, such as the schema of 1,000 columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRetry:
    """Retry settings for reading files that may be incomplete.

    Attributes:
        attempts: the maximum number of reads.
        pause_ms: time between two reads.
        young_ms: age below which a file may be incomplete.
        sleep: waits for seconds.
        now_ms: the clock, milliseconds since 1970 UTC.
    """

    attempts: int = 10
    pause_ms: int = 200
    young_ms: int = 10_000
    sleep: Callable[[float], None] = time.sleep
    now_ms: Callable[[], int] = system_clock


DEFAULT_READ_RETRY = ReadRetry()


def _parsed_value(parse: Callable[[bytes, str], _Value], data: bytes, path: str) -> _Value:
    """Parse bytes or return the cached value; values of large files are not cached."""
    if len(data) > _MAX_SCHEMA_BYTES:
        return parse(data, path)
    cached = _parsed_snapshot if len(data) <= _MAX_SNAPSHOT_BYTES else _parsed_schema
    return cached(parse, data, path)  # type: ignore[return-value]  # of this parser


def _parsed(parse: Callable[[bytes, str], object], data: bytes, path: str) -> object:
    """Return the value of a content, which is immutable."""
    return parse(data, path)


_parsed_snapshot = lru_cache(_CACHED_SNAPSHOTS)(_parsed)
_parsed_schema = lru_cache(_CACHED_SCHEMAS)(_parsed)


def load_json(
    file_io: FileIO,
    path: str,
    parse: Callable[[bytes, str], _Value],
    read_retry: ReadRetry = DEFAULT_READ_RETRY,
) -> _Value:
    """Read and parse a file; retry if it is incomplete and was modified recently.

    Raises:
        MissingFileError: the file does not exist.
        CorruptFileError: the file cannot be parsed.
    """
    for _ in range(read_retry.attempts - 1):
        data = file_io.read(path)
        try:
            value: _Value = _parsed_value(parse, data, path)
        except CorruptFileError:
            age_ms = read_retry.now_ms() - file_io.status(path).modified_ms
            if age_ms > read_retry.young_ms or _is_complete(data):
                raise
            read_retry.sleep(read_retry.pause_ms / 1000)
        else:
            return value
    last: _Value = _parsed_value(parse, file_io.read(path), path)
    return last


def _is_complete(data: bytes) -> bool:
    """Return whether the data is JSON; no part of an object's beginning is."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def load_listed_json(
    file_io: FileIO,
    status: FileStatus,
    parse: Callable[[bytes, str], _Value],
    read_retry: ReadRetry = DEFAULT_READ_RETRY,
) -> _Value:
    """Load a file that was just listed; without a request if its listed version is known.

    Raises:
        MissingFileError, CorruptFileError: as `load_json`.
    """
    try:
        return _parsed_value(parse, read_listed(file_io, status), status.path)
    except CorruptFileError:
        return load_json(file_io, status.path, parse, read_retry)


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """A folder of small JSON files of a branch."""

    file_io: FileIO
    paths: TablePaths
    read_retry: ReadRetry = DEFAULT_READ_RETRY

    def _found(self, path: str, parse: Callable[[bytes, str], _Value]) -> _Value | None:
        """Return the value of a file, or None if it does not exist."""
        try:
            return load_json(self.file_io, path, parse, self.read_retry)
        except MissingFileError:
            return None


def checked_id(found: _Numbered, number: int, path: str) -> _Numbered:
    """Check that the id in a file is that of its name.

    Raises:
        CorruptFileError: it is another one.
    """
    if found.id != number:
        raise CorruptFileError(path, "id", f"must be {number}, as in the file name")
    return found


def list_numbers(file_io: FileIO, folder: str, prefix: str) -> list[int]:
    """Return the numbers of the files `<prefix><number>` in a folder, ascending.

    Other names, including numbers of more than 64 bits, are ignored.
    """
    return [number for number, _ in list_numbered(file_io, folder, prefix)]


def list_numbered(file_io: FileIO, folder: str, prefix: str) -> list[tuple[int, FileStatus]]:
    """Return the files `<prefix><number>` in a folder with their numbers; see `list_numbers`."""
    found = []
    for status in file_io.list(folder):
        digits = status.name.removeprefix(prefix)
        is_number = digits != status.name and digits.isascii() and digits.isdigit()
        if is_number and int(digits) <= MAX_LONG:
            found.append((int(digits), status))
    return sorted(found, key=itemgetter(0))


def list_names(file_io: FileIO, folder: str, prefix: str) -> list[str]:
    """Return the names of the files `<prefix><name>` in a folder, sorted, without subfolders."""
    return [
        status.name.removeprefix(prefix)
        for status in file_io.list(folder)
        if status.name.startswith(prefix) and not status.is_folder
    ]


def create_file(
    file_io: FileIO, path: str, data: bytes, environment: "CatalogEnvironment | None"
) -> bool:
    """Create a file atomically; False if it exists.

    The lock protects tables on storage without atomic creation, and keeps other writers of the
    catalog out that rely on the lock alone.

    Raises:
        CommitError: the lock could not be acquired; nothing was written.
    """
    lock = None if environment is None else environment.lock()
    if lock is None:
        return file_io.create(path, data)
    from contextlib import ExitStack  # noqa: PLC0415 - only for catalogs with locks

    from paimon_explore.errors import CommitError, StorageError  # noqa: PLC0415

    with ExitStack() as stack:
        try:
            stack.enter_context(lock)
        except StorageError as error:
            raise CommitError(
                f"Nothing was committed, because the catalog's lock could not be acquired. {error}"
            ) from error
        return file_io.create(path, data)
