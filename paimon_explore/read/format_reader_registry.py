"""Readers of data files by format, which is determined by the file name.

The format is the last extension. Text formats may have a compression extension after it
(`.json.gz`); with `file.suffix.include.compression` others have one before it (`.zst.parquet`).
Readers of formats other than Parquet are imported on first use; those of Lance, Vortex and Mosaic
need optional packages.
Spec: concepts/spec/datafile, file names.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import tzinfo

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.traversal import check_known_types
from paimon_explore.encoding.data_file_reader import OpenDataFile, StoredColumn
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO, absolute_path, local_path
from paimon_explore.fileio.versioned_reads import open_sized
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.format_options import (
    ORC_TIMESTAMP_LTZ_LEGACY,
    TEXT_LINE_DELIMITER,
)
from paimon_explore.metadata.options.table_options import TableOptions

_TEXT_FORMATS = frozenset({"csv", "json", "text"})
_COMPRESSIONS = frozenset({"gz", "gzip", "bz2", "deflate", "snappy", "lz4", "zst", "zstd"})
_BY_COLUMN = frozenset({"parquet", "orc"})
_REFUSED = frozenset({"txt", "video"})
_COPY_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFileName:
    """Format and compression of a data file, parsed from its name.

    Attributes:
        format: the file format.
        compression: of the whole file, for text formats; else empty.
    """

    format: str
    compression: str = ""

    @property
    def is_by_column(self) -> bool:
        """Whether the format is columnar, so that columns can be read in several passes."""
        return self.format in _BY_COLUMN


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToOpen:
    """Parameters for opening a data file in any format.

    Attributes:
        file_io: file system of the file.
        path: of the file.
        name: its format and compression.
        columns: the columns of the file by its schema, in order, including system columns; some
            formats do not store column names.
        options: of the file's schema.
        use_threads: decode columns in parallel, if the format supports it.
        batch_bytes: approximate maximum size of a batch, if the format supports it.
        zone: time zone of the reader; None for the process's zone.
        size: in bytes, if known; saves a request on object stores.
        as_descriptor: whether the values of a blob file are read as descriptors.
    """

    file_io: FileIO
    path: str
    name: DataFileName
    columns: tuple[StoredColumn, ...]
    options: TableOptions
    use_threads: bool
    batch_bytes: int
    zone: tzinfo | None
    size: int | None = None
    as_descriptor: bool = False


def data_file_name(path: str, file_format: str | None = None) -> DataFileName:
    """Parses format and compression from a data file's name.

    Args:
        path: the file.
        file_format: the format, if something else than the name says it (format tables).

    Raises:
        CorruptFileError: the extension is not a known format.
        UnsupportedFeatureError: the format is not supported.

    >>> data_file_name("/t/bucket-0/data-1-0.json.gz")
    DataFileName(format='json', compression='gz')
    """
    _, *extensions = paths.name(path).lower().split(".")
    last = extensions[-1] if extensions else ""
    if file_format is not None:
        is_compressed = file_format in _TEXT_FORMATS and last in _COMPRESSIONS
        return DataFileName(format=file_format, compression=last if is_compressed else "")
    if last in _COMPRESSIONS and len(extensions) > 1 and extensions[-2] in _TEXT_FORMATS | _REFUSED:
        name = DataFileName(format=extensions[-2], compression=last)
    else:
        name = DataFileName(format=last)
    if name.format in _REFUSED:
        raise UnsupportedFeatureError(f"File format {name.format!r}", path)
    if name.format not in _OPENERS:
        known = ", ".join(sorted(_OPENERS))
        raise CorruptFileError(path, "extension", f"must be one of {known}, not {last!r}")
    return name


@contextmanager
def open_data_file(file: FileToOpen) -> Iterator[OpenDataFile]:
    """Context manager: opens a data file.

    Raises:
        MissingFileError: the file does not exist.
        CorruptFileError: its bytes break the format.
        UnsupportedFeatureError: the optional package of its format is not installed.
    """
    with _OPENERS[file.name.format](file) as opened:
        yield opened


@contextmanager
def _parquet(file: FileToOpen) -> Iterator[OpenDataFile]:
    with open_sized(file.file_io, file.path, file.size) as stream:
        yield open_parquet(
            stream, file.path, use_threads=file.use_threads, batch_bytes=file.batch_bytes
        )


@contextmanager
def _orc(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.orc.reader import open_orc  # noqa: PLC0415 - when a file has it
    from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned  # noqa: PLC0415 - when a file has it

    legacy = file.options.value(ORC_TIMESTAMP_LTZ_LEGACY)
    ltz = LocalZoned(legacy=legacy, reader_zone=file.zone)
    with open_sized(file.file_io, file.path, file.size) as stream:
        yield open_orc(stream, file.path, ltz)


@contextmanager
def _avro(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.avro.reader import AvroDataFile  # noqa: PLC0415 - when a file has it

    yield AvroDataFile(file.file_io.read(file.path), file.path)


@contextmanager
def _csv(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.csv_json import decompressed  # noqa: PLC0415 - when a file has it
    from paimon_explore.read.csv_json_data_file import csv_file  # noqa: PLC0415 - when a file has it

    text = decompressed(file.file_io.read(file.path), file.name.compression, path=file.path)
    names = [column.name for column in file.columns]
    yield csv_file(text, names, file.options, path=file.path)


@contextmanager
def _json(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.csv_json import decompressed  # noqa: PLC0415 - when a file has it
    from paimon_explore.read.csv_json_data_file import json_file  # noqa: PLC0415 - when a file has it

    text = decompressed(file.file_io.read(file.path), file.name.compression, path=file.path)
    yield json_file(text, file.options, path=file.path)


@contextmanager
def _text(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.csv_json import decompressed, text_records  # noqa: PLC0415 - when a file has it
    from paimon_explore.read.csv_json_data_file import TextDataFile  # noqa: PLC0415 - when a file has it

    if len(file.columns) != 1:
        rule = f"a text file has exactly one column, but its schema has {len(file.columns)}"
        raise CorruptFileError(file.path, "columns", rule)
    text = decompressed(file.file_io.read(file.path), file.name.compression, path=file.path)
    lines = text_records(text, file.options.value(TEXT_LINE_DELIMITER))
    yield TextDataFile(file.path, {file.columns[0].name: lines}, len(lines))


@contextmanager
def _row(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.row_format.row_file import RowDataFile  # noqa: PLC0415 - when a file has it

    # without its type the end of a value is not known
    fields = [DataField(id=0, name=one.name, type=one.type) for one in file.columns]
    check_known_types(fields, "reading a row file with")
    with open_sized(file.file_io, file.path, file.size) as stream:
        yield RowDataFile(stream, file.path, file.columns)


@contextmanager
def _blob(file: FileToOpen) -> Iterator[OpenDataFile]:
    from paimon_explore.encoding.blob.blob_file import BlobDataFile  # noqa: PLC0415 - when a file has it

    if len(file.columns) != 1:
        rule = f"a blob file has exactly one column, but its schema has {len(file.columns)}"
        raise CorruptFileError(file.path, "columns", rule)
    with open_sized(file.file_io, file.path, file.size) as stream:
        yield BlobDataFile(stream, file.path, file.columns[0], as_descriptor=file.as_descriptor)


@contextmanager
def _lance(file: FileToOpen) -> Iterator[OpenDataFile]:
    try:
        from paimon_explore.encoding.lance_file import LanceDataFile  # noqa: PLC0415 - optional
    except ImportError as error:
        raise _missing_library(file, error) from error

    with _local_copy(file) as local_file:
        yield LanceDataFile(local_file, file.path)


@contextmanager
def _vortex(file: FileToOpen) -> Iterator[OpenDataFile]:
    try:
        from paimon_explore.encoding.vortex_file import VortexDataFile  # noqa: PLC0415 - optional
    except ImportError as error:
        raise _missing_library(file, error) from error

    with open_sized(file.file_io, file.path, file.size) as stream:
        yield VortexDataFile(stream, file.path)


@contextmanager
def _mosaic(file: FileToOpen) -> Iterator[OpenDataFile]:
    try:
        from paimon_explore.encoding.mosaic_file import MosaicDataFile  # noqa: PLC0415 - optional
    except ImportError as error:
        raise _missing_library(file, error) from error

    with open_sized(file.file_io, file.path, file.size) as stream:
        yield MosaicDataFile(stream, file.path)


def _missing_library(file: FileToOpen, error: ImportError) -> UnsupportedFeatureError:
    from paimon_explore.encoding.native_libraries import missing_library  # noqa: PLC0415 - an error

    name = file.name.format
    return missing_library(f"reading {name} files", file.path, error, extra=name)


@contextmanager
def _local_copy(file: FileToOpen) -> Iterator[str]:
    """Context manager: the path of a file, or of a temporary copy of it, on the local disk."""
    with open_sized(file.file_io, file.path, file.size) as stream:
        if isinstance(file.file_io, LocalFileIO):
            yield absolute_path(local_path(file.path))
            return
        from tempfile import NamedTemporaryFile  # noqa: PLC0415 - files of stores

        with NamedTemporaryFile(suffix=f".{file.name.format}") as copy:
            while chunk := stream.read(_COPY_BYTES):
                copy.write(chunk)
            copy.flush()
            yield copy.name


_OPENERS: Mapping[str, Callable[[FileToOpen], AbstractContextManager[OpenDataFile]]] = {
    "parquet": _parquet,
    "orc": _orc,
    "avro": _avro,
    "csv": _csv,
    "json": _json,
    "text": _text,
    "row": _row,
    "blob": _blob,
    "lance": _lance,
    "vortex": _vortex,
    "mosaic": _mosaic,
}
