"""Readers of data files by format, which is determined by the file name.

The format is the last extension. Text formats may have a compression extension after it
(`.json.gz`); with `file.suffix.include.compression` others have one before it (`.zst.parquet`).
Readers of formats other than Parquet are imported on first use; those of Lance, Vortex and Mosaic
need optional packages.
Spec: concepts/spec/datafile, file names.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import tzinfo

import pyarrow as pa

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.traversal import check_known_types
from paimon_explore.encoding.data_file_reader import OpenDataFile, StoredColumn
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError, needs_extra
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO, absolute_path, local_path
from paimon_explore.fileio.requests_ahead import open_sized
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
    with ExitStack() as stack:
        name = file.name.format
        with needs_extra(name, f"reading {name} files", file.path):
            opened = _OPENERS[name](file, stack)
        yield opened


def _stream(file: FileToOpen, stack: ExitStack) -> pa.NativeFile:
    return stack.enter_context(open_sized(file.file_io, file.path, file.size))


def _text_of(file: FileToOpen) -> str:
    from paimon_explore.encoding.csv_json import decompressed  # noqa: PLC0415 - when a file has it

    return decompressed(file.file_io.read(file.path), file.name.compression, path=file.path)


def _check_one_column(file: FileToOpen) -> None:
    if len(file.columns) != 1:
        name = file.name.format
        rule = f"a {name} file has exactly one column, but its schema has {len(file.columns)}"
        raise CorruptFileError(file.path, "columns", rule)


def _parquet(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    return open_parquet(
        _stream(file, stack),
        file.path,
        use_threads=file.use_threads,
        batch_bytes=file.batch_bytes,
    )


def _orc(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.orc.reader import open_orc  # noqa: PLC0415 - when a file has it
    from paimon_explore.encoding.orc.timestamp_fixes import LocalZoned  # noqa: PLC0415 - when a file has it

    legacy = file.options.value(ORC_TIMESTAMP_LTZ_LEGACY)
    ltz = LocalZoned(legacy=legacy, reader_zone=file.zone)
    return open_orc(_stream(file, stack), file.path, ltz)


def _avro(file: FileToOpen, _: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.avro.reader import AvroDataFile  # noqa: PLC0415 - when a file has it

    return AvroDataFile(file.file_io.read(file.path), file.path)


def _csv(file: FileToOpen, _: ExitStack) -> OpenDataFile:
    from paimon_explore.read.csv_json_data_file import csv_file  # noqa: PLC0415 - when a file has it

    names = [column.name for column in file.columns]
    return csv_file(_text_of(file), names, file.options, path=file.path)


def _json(file: FileToOpen, _: ExitStack) -> OpenDataFile:
    from paimon_explore.read.csv_json_data_file import json_file  # noqa: PLC0415 - when a file has it

    return json_file(_text_of(file), file.options, path=file.path)


def _text(file: FileToOpen, _: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.csv_json import text_records  # noqa: PLC0415 - when a file has it
    from paimon_explore.read.csv_json_data_file import TextDataFile  # noqa: PLC0415 - when a file has it

    _check_one_column(file)
    lines = text_records(_text_of(file), file.options.value(TEXT_LINE_DELIMITER))
    return TextDataFile(file.path, {file.columns[0].name: lines}, len(lines))


def _row(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.row_format.row_file import RowDataFile  # noqa: PLC0415 - when a file has it

    # without its type the end of a value is not known
    fields = [DataField(id=0, name=one.name, type=one.type) for one in file.columns]
    check_known_types(fields, "reading a row file with")
    return RowDataFile(_stream(file, stack), file.path, file.columns)


def _blob(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.blob.blob_file import BlobDataFile  # noqa: PLC0415 - when a file has it

    _check_one_column(file)
    stream = _stream(file, stack)
    return BlobDataFile(stream, file.path, file.columns[0], as_descriptor=file.as_descriptor)


def _lance(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.lance_file import LanceDataFile  # noqa: PLC0415 - optional

    return LanceDataFile(_local_copy(file, stack), file.path)


def _vortex(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.vortex_file import VortexDataFile  # noqa: PLC0415 - optional

    return VortexDataFile(_stream(file, stack), file.path)


def _mosaic(file: FileToOpen, stack: ExitStack) -> OpenDataFile:
    from paimon_explore.encoding.mosaic_file import MosaicDataFile  # noqa: PLC0415 - optional

    return MosaicDataFile(_stream(file, stack), file.path)


def _local_copy(file: FileToOpen, stack: ExitStack) -> str:
    """Return the path of a file, or of a temporary copy of it, on the local disk."""
    stream = _stream(file, stack)
    if isinstance(file.file_io, LocalFileIO):
        return absolute_path(local_path(file.path))
    from pathlib import Path  # noqa: PLC0415 - files of stores
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - as above

    folder = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
    path = Path(folder) / f"copy.{file.name.format}"
    with path.open("xb") as copy:  # it is closed afterwards: Windows opens no temporary file twice
        while chunk := stream.read(_COPY_BYTES):
            copy.write(chunk)
    return str(path)


_OPENERS: Mapping[str, Callable[[FileToOpen, ExitStack], OpenDataFile]] = {
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
