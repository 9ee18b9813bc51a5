"""A folder on the local disk with copies of files of a store, shared by processes.

Only data files, manifests, and index and statistics files are copied, if their name contains a
UUID: such a name is used once, so a copy is never outdated. Snapshots, schemas, tags, consumers and
hints are always requested.

A copy is written to a temporary file and renamed, and begins with its length and checksum. So a
process may end at any time, and several may write the same copy: a reader finds a whole copy or
none. If the copies exceed the limit, those that were not used for the longest time are removed.
Errors of the local disk never fail a read: the store is asked instead.

A copy is read without asking the store whether the user may still read the file, so the folder is
created for the user alone.
"""

import os
import re
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from struct import Struct
from uuid import uuid4

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.threads import free_in_forks

DEFAULT_CACHE_BYTES = 10 << 30
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FOLDERS = frozenset({"manifest", "index", "statistics"})
_HEADER = Struct(">4sIQ")
"""Magic number, checksum and length of a copy."""
_MAGIC = b"PXC1"
_SCANS_PER_LIMIT = 20
"""The folder is scanned when a process has written this fraction of the limit."""
_KEPT_SHARE = 0.9
"""Share of the limit that remains after copies are removed."""
_TEMPORARY = ".tmp"
_OLD_TEMPORARY_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class DiskCache:
    """The cache in a folder.

    Attributes:
        folder: absolute path; created on first use.
        max_bytes: limit of the size of all copies.
    """

    folder: str
    max_bytes: int = DEFAULT_CACHE_BYTES

    def get(self, path: str, part: str, fetch: Callable[[], bytes]) -> bytes:
        """Return a part of a file from its copy, or fetch it and store a copy.

        Args:
            path: the file, with the address of its store.
            part: which part of the file.
            fetch: asks the store.
        """
        if not is_used_once(path):
            return fetch()
        copy = self._copy_of(path, part)
        found = _content(copy)
        if found is None:
            found = fetch()
            with suppress(OSError):  # the copy is optional
                self._store(copy, found)
        return found

    def _copy_of(self, path: str, part: str) -> Path:
        name = sha256(f"{path}\n{part}".encode()).hexdigest()
        return Path(self.folder) / name[:2] / name

    def _store(self, copy: Path, data: bytes) -> None:
        if len(data) > self.max_bytes // 4:
            return
        if not copy.parent.exists():
            Path(self.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
            copy.parent.mkdir(mode=0o700, exist_ok=True)
        temporary = copy.with_name(f"{uuid4()}{_TEMPORARY}")
        try:
            with temporary.open("wb") as file:
                file.write(_HEADER.pack(_MAGIC, zlib.crc32(data), len(data)))
                file.write(data)
            temporary.replace(copy)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        if _WRITTEN.add(self, _HEADER.size + len(data)) * _SCANS_PER_LIMIT >= self.max_bytes:
            _WRITTEN.reset(self)
            self.shrink()

    def shrink(self) -> None:
        """Remove the copies that were not used for the longest time, down to the limit."""
        copies: list[tuple[float, int, str]] = []
        newest = 0.0
        for folder in _entries(self.folder):
            for entry in _entries(folder.path):
                with suppress(OSError):
                    status = entry.stat()
                    newest = max(newest, status.st_mtime)
                    copies.append((status.st_mtime, status.st_size, entry.path))
        total = sum(size for _, size, _ in copies)
        kept = self.max_bytes * _KEPT_SHARE if total > self.max_bytes else total
        for used, size, path in sorted(copies):
            if path.endswith(_TEMPORARY):
                is_removed = used < newest - _OLD_TEMPORARY_SECONDS  # its process has ended
            else:
                is_removed = total > kept
            if is_removed:
                with suppress(OSError):
                    Path(path).unlink()
                total -= size


class _Written:
    """The bytes that this process has written to each cache since its last scan."""

    def __init__(self) -> None:
        self._bytes: dict[DiskCache, int] = {}
        self._lock = free_in_forks(threading.Lock())

    def add(self, cache: DiskCache, size: int) -> int:
        """Add written bytes; returns their sum. The first call of a process starts a scan."""
        with self._lock:
            total = self._bytes.get(cache, cache.max_bytes) + size
            self._bytes[cache] = total
            return total

    def reset(self, cache: DiskCache) -> None:
        """Start again after a scan."""
        with self._lock:
            self._bytes[cache] = 0


_WRITTEN = _Written()


def is_used_once(path: str) -> bool:
    """Return whether the name of a file is used only once.

    >>> uuid = "2b9fdd06-ba60-45b0-b1f1-50a923402e4a"
    >>> is_used_once(f"s3://b/t/manifest/manifest-{uuid}-0"), is_used_once(f"s3://b/t/tag/tag-{uuid}")
    (True, False)
    """
    folder, _, name = path.rpartition("/")
    kind = folder.rpartition("/")[2]
    return (kind in _FOLDERS or kind.startswith("bucket-")) and _UUID.search(name) is not None


def _content(copy: Path) -> bytes | None:
    """Return the content of a copy; None if there is none, or it is damaged."""
    try:
        data = copy.read_bytes()
    except OSError:
        return None
    if len(data) < _HEADER.size:
        return None
    magic, checksum, length = _HEADER.unpack_from(data)
    content = data[_HEADER.size :]
    if magic != _MAGIC or length != len(content) or checksum != zlib.crc32(content):
        return None
    with suppress(OSError):
        os.utime(copy)  # it was used
    return content


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
