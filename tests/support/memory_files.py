"""File sets in memory that tests copy and throw away."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from uuid import uuid4

import pyarrow as pa
import pytest

from paimon_explore.encoding.avro.cross_check import CrossCheck
from paimon_explore.errors import MissingFileError
from paimon_explore.fileio import memory
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.maintenance.checks import avro_cross_checks
from paimon_explore.maintenance.checks.avro_cross_checks import (
    MetadataRecords,
    cross_check_metadata,
)
from paimon_explore.metadata.manifest.manifest_table import ManifestTable
from paimon_explore.store import manifests
from support.paused_file_io import PausedFileIO

_Asked = dict[tuple[str, MemoryFileIO, str], object]
"""What was asked of files, by operation and path, and the answers."""
_CONTENT, _LISTED = MemoryFileIO._content, MemoryFileIO.list
_SNAPSHOTS = ("/snapshot", "/changelog")
"""Folders that every commit and expiry changes."""


class ObjectStoreInMemory(PausedFileIO):
    """Files as an object store offers them: several requests at once, and entity tags."""

    max_requests = 2

    def list(self, folder: str) -> list[FileStatus]:
        return [
            one
            if one.is_folder
            else replace(one, etag=sha256(self.inner.read(one.path)).hexdigest())
            for one in super().list(folder)
        ]

    def read_version(self, path: str, etag: str) -> bytes:
        del etag
        return self.read(path)

    def read_immutable(self, path: str) -> bytes:
        return self.read(path)

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        del size
        return self.open(path)


def copied_files(source: MemoryFileIO) -> MemoryFileIO:
    """A file set of its own with the same files."""
    copy = MemoryFileIO(str(uuid4()))
    files = source._files
    memory._FILE_SETS[copy.name] = memory._Files(
        content=dict(files.content), folders=set(files.folders)
    )
    return copy


def forget_files(name: str) -> None:
    """Free a file set."""
    memory._FILE_SETS.pop(name, None)


def forget_manifests() -> None:
    """Empty the cache of manifests of this process, which would hide that files are gone."""
    manifests._SHARED.clear()


class _DecodedManifests(manifests.ManifestCache):
    """Records that checks decoded, found while the files have the same content."""

    def __init__(self) -> None:
        super().__init__()
        self._contents: dict[object, bytes | None] = {}

    def _find(self, key: object) -> manifests._CachedRecords | None:
        return super()._find(key) if self._contents.get(key) == _content(key) else None

    def put_slices(
        self,
        parts: Mapping[object, tuple[int, int]],
        records: ManifestTable,
        sharing: int = 1,
    ) -> None:
        self._contents.update({key: _content(key) for key in parts})
        super().put_slices(parts, records, sharing)

    def clear(self) -> None:
        """Nothing, as the content is compared."""


def _content(key: object) -> bytes | None:
    """Read a file by its key in a cache of manifests; None if it is missing."""
    assert isinstance(key, tuple)
    files, path = key[:2]
    content: bytes | None = None
    with suppress(MissingFileError):
        content = files.read(path)
    return content


class UnchangedFiles:
    """Checks of files in memory that need not be repeated while the files are the same."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Asked] = {}
        self._manifests = _DecodedManifests()
        self._compared: dict[Hashable, CrossCheck] = {}

    @contextmanager
    def decoded_once(self) -> Iterator[None]:
        """Decode manifests only if their content is new to checks, whoever wrote or read them."""

        def compared(
            data: bytes, path: str, decoded: MetadataRecords, most: int | None = None
        ) -> CrossCheck:
            key = path, data, most
            if key not in self._compared:
                self._compared[key] = cross_check_metadata(data, path, decoded, most)
            return self._compared[key]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(manifests, "_SHARED", self._manifests)
            patch.setattr(avro_cross_checks, "cross_check_metadata", compared)
            yield

    def check(self, what: Hashable, check: Callable[[], None]) -> None:
        """Check something, unless the same check asked for what files still answer.

        Args:
            what: tells the check and all that it expects, also of snapshots: which of them there
                are is not asked again.
            check: raises if something is wrong.
        """
        asked = self._known.get(what)
        if not asked or any(_answer(*question) != found for question, found in asked.items()):
            with _recorded() as asked:
                check()
            self._known[what] = asked


def _answer(operation: str, files: MemoryFileIO, path: str) -> object:
    """What files say to a question; None if a file is missing."""
    if operation == "list":
        return [status.name for status in _LISTED(files, path)]
    return files._files.content.get(memory._key(path))


@contextmanager
def _recorded() -> Iterator[_Asked]:
    """Gather what is asked of files in memory."""
    asked: _Asked = {}

    def note(operation: str, files: MemoryFileIO, path: str) -> None:
        if not path.endswith(_SNAPSHOTS) and not path.rpartition("/")[0].endswith(_SNAPSHOTS):
            asked[operation, files, path] = _answer(operation, files, path)

    def content(files: MemoryFileIO, operation: str, path: str) -> tuple[bytes, int]:
        note("read", files, path)
        return _CONTENT(files, operation, path)

    def listed(files: MemoryFileIO, folder: str) -> list[FileStatus]:
        note("list", files, folder)
        return _LISTED(files, folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryFileIO, "_content", content)
        patch.setattr(MemoryFileIO, "list", listed)
        yield asked
