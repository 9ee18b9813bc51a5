"""The folder of the metadata files of an Iceberg table: `v<id>.metadata.json` and the hint."""

import re
from contextlib import suppress

from paimon_explore.commit.iceberg.table_metadata import (
    IcebergMetadata,
    encode_metadata,
    parse_metadata,
)
from paimon_explore.errors import CorruptFileError, MissingFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot

_METADATA_FILE = re.compile(r"v([0-9]{1,18})\.metadata\.json")
_OWN_FILE = re.compile(r"v[0-9]+\.metadata\.json|[0-9a-f-]{36}-m[0-9]+\.avro|snap-.*\.avro")
_HINT = "version-hint.text"


@dataclass(frozen=True, slots=True)
class MetadataFolder:
    """The metadata files of one table; their versions are snapshot ids.

    Attributes:
        file_io: the storage.
        path: the folder.
    """

    file_io: FileIO
    path: str

    def versions(self) -> list[int]:
        """Return the versions that exist, ascending."""
        try:
            files = self.file_io.list(self.path)
        except MissingFileError:
            return []
        matches = (_METADATA_FILE.fullmatch(status.name) for status in files)
        return sorted(int(match[1]) for match in matches if match is not None)

    def find(self, version: int) -> IcebergMetadata | None:
        """Return a version, if it exists.

        Raises:
            CorruptFileError: the file is invalid.
        """
        data = self.data(version)
        return None if data is None else parse_metadata(data, self.file(version))

    def data(self, version: int) -> bytes | None:
        """Return the file of a version, if it exists."""
        try:
            return self.file_io.read(self.file(version))
        except MissingFileError:
            return None

    def newest(self) -> IcebergMetadata | None:
        """Return the newest version that is valid, if any."""
        for version in reversed(self.versions()):
            with suppress(CorruptFileError):
                return self.find(version)
        return None

    def hint(self) -> int | None:
        """Return the version that readers begin with; None without a valid hint."""
        try:
            text = self.file_io.read(join(self.path, _HINT))
        except MissingFileError:
            return None
        return int(text) if text.strip().isdigit() else None

    def write(self, metadata: IcebergMetadata, now_ms: int) -> None:
        """Write a version, in place of one that a rollback left, and then the hint."""
        version = metadata.current.id
        data = encode_metadata(metadata, now_ms)
        path = self.file(version)
        if not self.file_io.create(path, data):
            self.file_io.replace(path, data)
        self.file_io.replace(join(self.path, _HINT), str(version).encode())

    def replace(self, version: int, metadata: IcebergMetadata, now_ms: int) -> None:
        """Write a version again; the hint does not change."""
        self.file_io.replace(self.file(version), encode_metadata(metadata, now_ms))

    def delete(self, version: int) -> None:
        """Delete a version."""
        self.file_io.delete(self.file(version))

    def clear(self) -> None:
        """Delete the metadata of a table that was dropped; other files remain."""
        for status in self.file_io.list(self.path):
            if not status.is_folder and (status.name == _HINT or _OWN_FILE.fullmatch(status.name)):
                self.file_io.delete(status.path)

    def is_written(self, snapshot: Snapshot) -> bool:
        """Return whether the metadata of a snapshot exists."""
        found = self.find(snapshot.id)
        return found is not None and found.current.is_of(snapshot)

    def file(self, version: int) -> str:
        """Return the path of a version."""
        return join(self.path, f"v{version}.metadata.json")
