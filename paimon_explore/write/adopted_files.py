"""Adoption of existing Parquet and ORC files as data files of a table without primary key.

The files are copied, or linked, into the folder of their partition and bucket under new names, and
are not rewritten. They are read once: the values must have exactly the types of the table's
columns, because readers expect them as Paimon stores them, and the manifest entry needs the number
of rows and the statistics of the columns.

A file must contain all columns of the table, also the partition columns, and rows of one partition.

Spec: concepts/spec/datafile; the counterpart in Java is `FileMetaUtils`, used by `migrate_table`.

Files that a caller names to be added to a table: paths, folders, and how they get there.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from enum import StrEnum
from os import PathLike, fspath
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pyarrow.types as pat

from paimon_explore.arguments import invalid_argument, path
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import TIMESTAMPS, DataField, TypeRoot
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    StorageError,
    UnsupportedFeatureError,
    choices,
    undo_on_error,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import UNAWARE_TOTAL_BUCKETS
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET
from paimon_explore.write.buckets.partition_grouping import partitions_of
from paimon_explore.write.column_statistics import StatsCollector, StatsPlan
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.file_row import file_row
from paimon_explore.write.input.arrow_cast import conform
from paimon_explore.write.input.cast_policy import CastPolicy, casting
from paimon_explore.write.input.python_values import constant_column, default_of
from paimon_explore.write.new_file_names import FileRow
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_MAGIC = {b"PAR1": "parquet", b"ORC": "orc"}
_BUCKET = 0
_ROWS = 1 << 16
_HINT = "Write its rows with append() instead."


class AdoptionMode(StrEnum):
    """How a file gets into the folder of the table."""

    COPY = "copy"
    LINK = "link"
    MOVE = "move"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignFile:
    """A file that is not part of the table.

    Attributes:
        file_io: its storage.
        path: its path.
    """

    file_io: FileIO
    path: str


def adopt_files(
    target: WriteTarget,
    files: Sequence[ForeignFile],
    *,
    mode: AdoptionMode,
    partition_path: str | None = None,
) -> list[CommitMessage]:
    """Bring files into a table, without committing them.

    Args:
        target: the table.
        files: the files; those without rows are left out.
        mode: copy or link them; the caller deletes moved files after the commit.
        partition_path: the partition that they must belong to, as a path; None for any.

    Returns:
        The commit messages. All new files are deleted if this raises.

    Raises:
        InvalidInputError: a file is neither Parquet nor ORC, its columns are not those of the
            table, or its rows belong to several partitions or another one.
        UnsupportedFeatureError: the table cannot adopt files.
        StorageError: a file cannot be read, copied or linked.
    """
    check_adoptable(target)
    made: list[str] = []
    with undo_on_error(discard, target.store.file_io, made):
        return [
            message
            for file in files
            for message in _adopted(target, file, mode, partition_path, made)
        ]


def check_adoptable(target: WriteTarget) -> None:
    """Check that a table can adopt files.

    Raises:
        UnsupportedFeatureError: its files have more than the rows, or rows belong to buckets.
    """
    schema = target.schema
    reason = ""
    if schema.primary_keys:
        reason = "a primary key, whose files are sorted and have system columns"
    elif target.options.value(opt.BUCKET) != DYNAMIC_BUCKET:
        reason = "fixed buckets, where the bucket key decides about the file of a row"
    elif any(is_root(kind, TypeRoot.BLOB) for f in schema.fields for kind in parts(f.type)):
        reason = "BLOB columns, which are stored in files of their own"
    if reason:
        hint = "Write the rows with append() or upsert() instead."
        raise UnsupportedFeatureError(f"adding files to a table with {reason},", hint=hint)


def _adopted(
    target: WriteTarget,
    file: ForeignFile,
    mode: AdoptionMode,
    partition_path: str | None,
    made: list[str],
) -> Iterator[CommitMessage]:
    with closing(file.file_io.open(file.path)) as source:
        content = _Content(file.path, source, target)
        content.read()
    if content.partition is None:
        return
    expected = target.partition_path(content.partition)
    _check_partition(file.path, expected, partition_path)
    layout = replace(content.layout, suffix_compression=False)
    location = target.file_location(content.partition, _BUCKET, target.file_names())
    path, external = location.next_path(layout)
    made.append(path)
    transfer = link_file if mode is AdoptionMode.LINK else copy_file
    transfer(file.file_io, file.path, target.store.file_io, path)
    row = content.file_row(path.rpartition("/")[2])
    row["creation_time"] = local_millis(target.clock())
    if external is not None:
        row["external_path"] = external
    entries = entries_of(
        [row], partition=content.partition, bucket=_BUCKET, total_buckets=UNAWARE_TOTAL_BUCKETS
    )
    yield CommitMessage(
        partition=content.partition,
        bucket=_BUCKET,
        total_buckets=UNAWARE_TOTAL_BUCKETS,
        new_files=entries,
    )


def _check_partition(path: str, expected: str, given: str | None) -> None:
    """Check that the rows belong to the given partition, and to that in the path of the file."""
    if given is not None and given != expected:
        raise InvalidInputError(
            f"File {path} has rows of partition {expected}, not of {given}.",
            hint="Leave out partition=, or pass the partition of the rows.",
        )
    folders = dict(part.split("=", 1) for part in path.split("/")[:-1] if "=" in part)
    for part in expected.split("/"):
        name, _, value = part.partition("=")
        if name in folders and unquote(folders[name]) != unquote(value):
            raise InvalidInputError(
                f"File {path} is in a folder {name}={folders[name]}, but its rows belong to "
                f"partition {expected}."
            )


class _Content:
    """The rows of a file: their number, partition and statistics.

    Args:
        path: the file, for errors.
        source: its bytes.
        target: the table.

    Attributes:
        partition: the partition of the rows; None without rows.
        layout: the layout of the table's files, in the format of the file.
    """

    def __init__(self, path: str, source: pa.NativeFile, target: WriteTarget) -> None:
        self.partition: bytes | None = None
        self._path = path
        self._source = source
        self._size = source.size()
        self._target = target
        self._fields = target.schema.fields
        self._rows = 0
        self.layout: FileLayout = replace(
            append_layout(target.schema, target.options), format=self._format()
        )
        self._stats = StatsCollector(StatsPlan(self._fields, self.layout.value_modes))

    def read(self) -> None:
        """Read all rows once."""
        try:
            for batch in self._batches():
                if batch.num_rows:
                    self._add(batch)
        except pa.ArrowException as error:
            raise InvalidInputError(
                f"File {self._path} cannot be read as {self.layout.format}: {error}."
            ) from error

    def _format(self) -> str:
        head = self._source.read(4)
        for magic, name in _MAGIC.items():
            if head.startswith(magic):
                return name
        raise InvalidInputError(
            f"File {self._path} is neither a Parquet nor an ORC file.", hint=_HINT
        )

    def _batches(self) -> Iterator[pa.RecordBatch]:
        self._source.seek(0)
        if self.layout.format == "parquet":
            file = pq.ParquetFile(self._source)
            self._check_columns(file.schema_arrow)
            self._check_timestamps(file)
            yield from file.iter_batches(_ROWS)
            return
        orc = po.ORCFile(self._source)
        self._check_columns(orc.schema)
        self._check_no_timestamps()
        for stripe in range(orc.nstripes):
            yield orc.read_stripe(stripe)

    def _check_columns(self, schema: pa.Schema) -> None:
        names = [field.name for field in self._fields]
        missing = [name for name in names if name not in schema.names]
        if missing:
            is_partition = missing[0] in self._target.schema.partition_keys
            raise InvalidInputError(
                f"File {self._path} has no column {missing[0]!r}"
                f"{', a partition column' if is_partition else ''}.",
                hint="Add the column to its rows, and write them with append() instead.",
            )
        extra = [name for name in schema.names if name not in names]
        if extra:
            raise InvalidInputError(
                f"File {self._path} has the column {extra[0]!r}, which the table does not have.",
                hint=f"Columns: {choices(names)}. Add the column with add_column() first.",
            )

    def _check_no_timestamps(self) -> None:
        """Refuse timestamps in ORC files: their values depend on the time zone of the writer."""
        for field in self._fields:
            kinds = (kind for kind in parts(field.type) if is_root(kind, *TIMESTAMPS))
            if any(kinds):
                raise UnsupportedFeatureError(
                    f"adding an ORC file with the TIMESTAMP column {field.name!r}, whose values "
                    "depend on the time zone of the writer,",
                    self._path,
                    hint=_HINT,
                )

    def _check_timestamps(self, file: pq.ParquetFile) -> None:
        """Refuse nanoseconds as INT64: Paimon stores them as INT96."""
        for at in range(len(file.schema)):
            column = file.schema.column(at)
            found = file.schema_arrow.field(column.path.partition(".")[0]).type
            if pat.is_timestamp(found) and found.unit == "ns" and column.physical_type == "INT64":
                raise InvalidInputError(
                    f"File {self._path}, column {column.path!r}: Paimon stores timestamps with "
                    "nanoseconds as INT96, not as INT64.",
                    hint=_HINT,
                )

    def _add(self, batch: pa.RecordBatch) -> None:
        with casting(CastPolicy.STRICT):
            columns = [self._checked(batch.column(field.name), field) for field in self._fields]
        names = [field.name for field in self._fields]
        rows = pa.RecordBatch.from_arrays(columns, names=names)
        found = partitions_of(rows, self._target.schema.partition_type).keys
        if len(found) > 1 or self.partition not in (None, found[0]):
            raise InvalidInputError(
                f"File {self._path} has rows of several partitions.", hint=_HINT
            )
        self.partition = found[0]
        self._stats.add(columns)
        self._rows += batch.num_rows

    def _checked(self, column: Column, field: DataField) -> Column:
        try:
            return conform(column, field.type, where=field.name, first_row=self._rows)
        except InvalidInputError as error:
            raise InvalidInputError(f"File {self._path}: {error.message}", hint=_HINT) from error

    def file_row(self, name: str) -> FileRow:
        """Return the manifest entry of the file."""
        found = file_row(
            self.layout,
            file_size=self._size,
            row_count=self._rows,
            sequences=(0, self._rows - 1 if self.layout.numbered else 0),
            value_stats=self._stats.encode(dense=self.layout.dense_stats),
        )
        return {**found, "file_name": name}


def given_partition_path(target: WriteTarget, partition: Mapping[str, object]) -> str:
    """Return the path of a partition that the caller gave.

    Raises:
        InvalidInputError: not all partition columns are given, or others, or a wrong value.
    """
    fields = target.schema.partition_type.fields
    names = [field.name for field in fields]
    if set(partition) != set(names):
        raise InvalidInputError(
            f"partition must have a value for each of {choices(names)}, the partition columns of "
            f"the table; it has {choices(partition)}."
            if names
            else "The table is not partitioned.",
            hint="Pass all of them, or leave out partition=." if names else "Leave out partition=.",
        )
    columns = [_partition_column(field, partition[field.name]) for field in fields]
    row = pa.RecordBatch.from_arrays(columns, names=names)
    return target.partition_path(partitions_of(row, target.schema.partition_type).keys[0])


def _partition_column(field: DataField, value: object) -> Column:
    if isinstance(value, str) and not is_root(field.type, TypeRoot.CHAR, TypeRoot.VARCHAR):
        return default_of(replace(field, default_value=value))
    return constant_column(value, field)


def delete_moved(files: Sequence[ForeignFile]) -> None:
    """Delete moved files after the commit; files that cannot be deleted remain."""
    for file in files:
        with suppress(StorageError):
            file.file_io.delete(file.path)


_EXTENSIONS = (".parquet", ".orc")
_HIDDEN = ("_", ".")


def adoption_mode(name: object) -> AdoptionMode:
    """Return the mode of an argument.

    Raises:
        InvalidInputError: there is no such mode.

    >>> adoption_mode("copy").value
    'copy'
    """
    known = [mode.value for mode in AdoptionMode]
    if name not in known:
        raise InvalidInputError(f"Unknown mode {name!r}.", hint=f"Use {choices(known)}.")
    return AdoptionMode(name)


def foreign_files(
    files: str | PathLike[str] | Iterable[str | PathLike[str]],
    storage_options: Mapping[str, object] | None = None,
) -> list[ForeignFile]:
    """Return the files of paths; those of folders by their extension, sorted by path.

    Args:
        files: one path, or several.
        storage_options: settings of their storage.

    Raises:
        InvalidInputError: no file is given, or one twice.
        NotFoundError: a path does not exist, or a folder has no Parquet or ORC files.
    """
    given = [files] if isinstance(files, str | PathLike) else files
    if not isinstance(given, Iterable):
        raise invalid_argument("files", files, "a path or a list of paths")
    found: list[ForeignFile] = []
    for one in given:
        file_io, location = resolve(path("A file", one), storage_options)
        found += _files_at(file_io, location, fspath(one))
    if not found:
        raise InvalidInputError("add_files() needs at least one file.")
    paths = [file.path for file in found]
    twice = next((name for name in paths if paths.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"File {twice} is given twice.")
    return found


def _files_at(file_io: FileIO, location: str, given: str) -> list[ForeignFile]:
    if not file_io.exists(location):
        raise NotFoundError("file", given)
    if not file_io.status(location).is_folder:
        return [ForeignFile(file_io=file_io, path=location)]
    below = [
        status.path
        for status in file_io.walk(location)
        if status.name.endswith(_EXTENSIONS)
        and not any(
            part.startswith(_HIDDEN) for part in status.path[len(location) :].split("/") if part
        )
    ]
    if not below:
        raise NotFoundError("Parquet or ORC file", given)
    return [ForeignFile(file_io=file_io, path=name) for name in sorted(below)]


_CHUNK_BYTES = 8 << 20


def copy_file(source_io: FileIO, source: str, target_io: FileIO, target: str) -> None:
    """Copy a file in parts; the copy has a new name and appears when it is complete.

    Raises:
        StorageError: a file cannot be read or written.
    """
    try:
        with source_io.open(source) as read, target_io.create_stream(target) as written:
            while data := read.read(_CHUNK_BYTES):
                written.write(data)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError("copy", source, str(error)) from error


def link_file(source_io: FileIO, source: str, target_io: FileIO, target: str) -> None:
    """Create a second name (hard link) of a local file, without copying its bytes.

    Raises:
        UnsupportedFeatureError: a storage is not the local disk.
        StorageError: the file cannot be linked, for example to another disk.
    """
    if not isinstance(source_io, LocalFileIO) or not isinstance(target_io, LocalFileIO):
        raise UnsupportedFeatureError(
            "a link to a file", f"{source} to {target}", hint="Copy the file: mode='copy'."
        )
    try:
        Path(paths.parent(target)).mkdir(parents=True, exist_ok=True)
        os.link(source, target)
    except OSError as error:
        hint = "Copy the file: mode='copy'."
        raise StorageError("link", source, str(error), hint=hint) from error
