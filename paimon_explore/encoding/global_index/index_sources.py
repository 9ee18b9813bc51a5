"""What an index file was built from: the source metadata of its entry in the index manifest.

Of a primary-key index they name data files. Layout, big-endian: int32 version 1, int32 level, int32
number of files; for each file its name (Java's modified UTF-8 with a 2-byte length) and int64
number of rows. The rows of the index are numbered through the files in this order.

An index over row ids has none up to Java 2.0. Since 2.1 they are `DEIX`, int32 version 1 and int64
the id of the snapshot that was read.

Seen in: golden java200 `pk_index_btree`, golden java21 `btree_index`.
"""

from paimon_explore.encoding.file_index.byte_reader import ByteStream, encode_modified_utf8, int32
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass

VERSION = 1
_ROW_IDS_MAGIC = b"DEIX"
_FIELD = "_SOURCE_META of the index manifest"
_ROW_COUNT_BYTES = 8
_LEAST_FILE_BYTES = 2 + _ROW_COUNT_BYTES


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A data file that an index covers.

    Attributes:
        name: its file name.
        row_count: number of its rows, deleted ones included.
    """

    name: str
    row_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSources:
    """The data files that an index covers.

    Attributes:
        level: of the files, above 0.
        files: in the order in which their rows are numbered; at least one.
    """

    level: int
    files: tuple[SourceFile, ...]

    @property
    def row_count(self) -> int:
        """Number of rows of all files."""
        return sum(file.row_count for file in self.files)


def primary_key_sources(index: object) -> bytes | None:
    """Return the source metadata of a primary-key index; None for an index over row ids.

    Args:
        index: the record `_GLOBAL_INDEX` of an entry; None for an index file of another kind.
    """
    source = index.get("source_meta") if isinstance(index, dict) else None
    names_files = isinstance(source, bytes) and not source.startswith(_ROW_IDS_MAGIC)
    return source if names_files else None


def names_snapshot(index: object) -> bool:
    """Return whether the source metadata of an index over row ids names the snapshot."""
    source = index.get("source_meta") if isinstance(index, dict) else None
    return isinstance(source, bytes) and source.startswith(_ROW_IDS_MAGIC)


def encode_snapshot(snapshot_id: int) -> bytes:
    """Encode the source metadata of an index over row ids.

    >>> encode_snapshot(3).hex(" ", -4)
    '44454958 00000001 00000000 00000003'
    """
    return _ROW_IDS_MAGIC + int32(VERSION) + snapshot_id.to_bytes(8, "big")


def decode_sources(data: bytes, *, path: str) -> IndexSources:
    """Decode the source metadata of an index file.

    Args:
        data: `_SOURCE_META` of the entry in the index manifest.
        path: of the index file, for errors.

    Raises:
        CorruptFileError: the bytes break the layout.
        UnsupportedVersionError: the version is not known.
    """
    stream = ByteStream(data, path)
    version = stream.number()
    if version != VERSION:
        raise UnsupportedVersionError("primary-key index", version, (VERSION,), path)
    level = stream.number()
    count = stream.count((len(data) - stream.position) // _LEAST_FILE_BYTES)
    files = tuple(SourceFile(stream.utf(), stream.number(_ROW_COUNT_BYTES)) for _ in range(count))
    if level < 1 or not files or any(file.row_count < 0 for file in files):
        raise CorruptFileError(path, _FIELD, "must name files of a level above 0 with their rows")
    if stream.position < len(data):
        raise CorruptFileError(path, _FIELD, "must end after the last file")
    return IndexSources(level=level, files=files)


def encode_sources(sources: IndexSources) -> bytes:
    """Encode the source metadata of an index file."""
    parts = [int32(VERSION), int32(sources.level), int32(len(sources.files))]
    for file in sources.files:
        parts += [encode_modified_utf8(file.name), file.row_count.to_bytes(_ROW_COUNT_BYTES, "big")]
    return b"".join(parts)
