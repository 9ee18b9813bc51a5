"""Blob files: BLOB columns, and arrays and maps of BLOB, are stored outside the data file.

A blob file holds one column of a range of the data file's rows. The blob files of a column cover
all rows in order: a new file is started when the target size is reached, and with each data file.
The commit assigns their row ids together with those of the data file.

In primary-key tables rows are merged and move between files. Their data files store descriptors,
and the contents are in managed files, which no manifest names: `blob_references` does.

Spec: append-table/blob, primary-key-table/blob-storage. Seen in: golden java200/blob and blob_more,
java21 `blob_key`.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import AtomicType, DataField, MapType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.data_types.traversal import is_blob_file_type, is_root, parts
from paimon_explore.encoding.blob.blob_collections import each_blob, encode_nested
from paimon_explore.encoding.blob.blob_descriptor import (
    BlobDescriptor,
    decode_descriptor,
    encode_descriptor,
    is_descriptor,
)
from paimon_explore.encoding.blob.blob_file import BlobFileWriter
from paimon_explore.encoding.blob.blob_references import MANAGED_SUFFIX
from paimon_explore.encoding.blob.blob_view import is_view
from paimon_explore.encoding.blob.map_keys import key_coder
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.merge_spec import VALUE_KIND
from paimon_explore.merge.numpy_columns import ints_of
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.blob_contents import read_contents
from paimon_explore.write.column_statistics import EMPTY_STATS
from paimon_explore.write.data_file_writer import AbortedError
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.file_row import file_row
from paimon_explore.write.new_file_names import FileLocation, FileRow
from paimon_explore.write.write_target import WriteTarget

BLOB = "blob"
ELSEWHERE = object()
"""The value of a row that an older file of the same rows has."""


def blob_fields(schema: TableSchema, options: TableOptions) -> tuple[DataField, ...]:
    """Return the columns that are stored in blob files.

    Raises:
        UnsupportedFeatureError: writing a kind of BLOB column is not supported.
    """
    inline = {*options.value(opt.BLOB_DESCRIPTOR_FIELD), *options.value(opt.BLOB_VIEW_FIELD)}
    found = []
    for field in schema.fields:
        if field.name in inline:
            continue
        if is_blob_file_type(field.type):
            if isinstance(field.type, MapType):
                key_coder(field.type.key)  # raises for other types
            found.append(field)
        elif any(is_root(kind, TypeRoot.BLOB) for kind in parts(field.type)):
            raise UnsupportedFeatureError(
                f"writing column {field.name!r} of type {type_text(field.type)}",
                hint="Store the BLOB in a column of its own.",
            )
    return tuple(found)


def check_references(rows: pa.RecordBatch, options: TableOptions) -> None:
    """Check that columns of descriptors, or of references to other tables, have nothing else.

    Raises:
        InvalidInputError: a value is no descriptor or reference.
    """
    for option, kind, is_one, encode in (
        (
            opt.BLOB_DESCRIPTOR_FIELD,
            "descriptor",
            is_descriptor,
            "blob_descriptor.encode_descriptor",
        ),
        (opt.BLOB_VIEW_FIELD, "reference", is_view, "blob_view.encode_view"),
    ):
        for name in options.value(option):
            at = rows.schema.get_field_index(name)
            values = () if at < 0 else as_python(rows.column(at))
            for row, value in enumerate(values):
                if isinstance(value, bytes) and not is_one(value):
                    raise InvalidInputError(
                        f"Row {row} of column {name!r} is no {kind}, which {option.key!r} "
                        "requires.",
                        hint=f"paimon_explore.encoding.blob.{encode} makes one.",
                    )


def without_blobs(layout: FileLayout, blobs: Sequence[DataField]) -> FileLayout:
    """Return the layout of the data files without the columns of the blob files."""
    if not blobs:
        return layout
    blob_names = {field.name for field in blobs}
    kept = [i for i, field in enumerate(layout.fields) if field.name not in blob_names]
    fields = tuple(layout.fields[i] for i in kept)
    return replace(
        layout,
        fields=fields,
        value_columns=tuple(range(len(fields))),
        value_modes=tuple(layout.value_modes[i] for i in kept),
        write_columns=tuple(field.name for field in fields),
    )


class BlobFiles:
    """Writes the BLOB columns of one bucket.

    Args:
        location: directory and names of the files.
        layout: layout of the data files.
        fields: the BLOB columns.
        target: the table.
    """

    def __init__(
        self,
        location: FileLocation,
        layout: FileLayout,
        fields: Sequence[DataField],
        target: WriteTarget,
    ) -> None:
        self._columns = {f.name: BlobColumn(location, layout, f, target) for f in fields}

    def add(self, rows: pa.Table) -> None:
        """Write the BLOB values of rows that are added to the current data file."""
        values = [rows.column(name).to_pylist() for name in self._columns]
        for row in zip(*values, strict=True):  # by row, so that files are numbered as in Java
            for column, value in zip(self._columns.values(), row, strict=True):
                column.add(value)

    def end(self) -> list[FileRow]:
        """Close the files together with the data file; return their manifest entries."""
        return [row for column in self._columns.values() for row in column.end()]

    def abort(self) -> None:
        """Delete the files of the writer."""
        for column in self._columns.values():
            column.abort()


class BlobFileSequence:
    """Writes one blob file after another.

    Args:
        location: directory and names of the files.
        layout: layout of the data files.
        target: the table.
        extension: extension of the files.

    Attributes:
        paths: the paths of the files.
        external: the external path of the last file for the manifest entry, or None.
    """

    def __init__(
        self, location: FileLocation, layout: FileLayout, target: WriteTarget, extension: str
    ) -> None:
        options = target.options
        self.layout = replace(layout, format=extension, suffix_compression=False)
        self.location = location
        self.paths: list[str] = []
        self.external: str | None = None
        self._store = target.store
        self._copies = options.value(opt.BLOB_AS_DESCRIPTOR)
        self._target_bytes = options.value(opt.BLOB_TARGET_FILE_SIZE) or target_file_bytes(
            options, has_primary_key=False
        )
        self._stack = ExitStack()
        self._writer: BlobFileWriter | None = None

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        return self._writer is not None

    @property
    def is_full(self) -> bool:
        """Whether the open file has the target size."""
        return self.current().size >= self._target_bytes

    def current(self) -> BlobFileWriter:
        """Return the writer of the open file; open one if none is open."""
        if self._writer is None:
            path, self.external = self.location.next_path(self.layout)
            self.paths.append(path)
            sink = self._stack.enter_context(self.location.file_io.create_stream(path))
            self._writer = BlobFileWriter(sink.write)
        return self._writer

    def contents(self, value: bytes) -> bytes:
        """Return the contents of a descriptor with `blob-as-descriptor`; else the value."""
        if self._copies and is_descriptor(value):
            return read_contents(self._store, decode_descriptor(value))
        return value

    def end(self) -> BlobFileWriter | None:
        """Close the open file and return its writer; None if no file is open."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.finish()
            self._stack.close()
        return writer

    def abort(self) -> None:
        """Delete all files."""
        self._writer = None
        error = AbortedError()
        self._stack.__exit__(AbortedError, error, None)
        discard(self.location.file_io, self.paths)


class BlobColumn:
    """Writes the blob files of one column.

    Args:
        location: directory and names of the files.
        layout: layout of the data files.
        field: the column.
        target: the table.
    """

    def __init__(
        self, location: FileLocation, layout: FileLayout, field: DataField, target: WriteTarget
    ) -> None:
        self._sequence = BlobFileSequence(location, layout, target, BLOB)
        self._name = field.name
        self._nested = None if isinstance(field.type, AtomicType) else field.type
        self._files: list[FileRow] = []

    def add(self, value: object) -> None:
        """Write the next row: the value, None, or `ELSEWHERE`.

        With `blob-as-descriptor` a BLOB may be a descriptor, whose contents are copied.
        """
        writer = self._sequence.current()
        if value is ELSEWHERE:
            writer.add_elsewhere()
            return
        value = each_blob(value, self._sequence.contents)
        if isinstance(value, list) and self._nested is not None:
            value = encode_nested(value, self._nested)
        writer.add_value(value if isinstance(value, bytes) else None)
        if self._sequence.is_full:
            self._close()

    def _close(self) -> None:
        writer = self._sequence.end()
        if writer is None:
            return
        found = file_row(
            self._sequence.layout,
            file_size=writer.size,
            row_count=writer.row_count,
            value_stats=replace(EMPTY_STATS, columns=()),
        )
        found |= {
            "file_name": self._sequence.paths[-1].rpartition("/")[2],
            "creation_time": local_millis(self._sequence.location.clock()),
            "write_cols": [self._name],
            "external_path": self._sequence.external,
        }
        self._files.append(found)

    def end(self) -> list[FileRow]:
        """Close the current file; return the entries since the last call."""
        self._close()
        files, self._files = self._files, []
        return files

    def abort(self) -> None:
        """Delete the files of the writer."""
        self._sequence.abort()


def change_blobs(
    rows: pa.RecordBatch,
    name: str,
    change: Callable[[bytes], bytes],
    absent: Sequence[bool] = (),
) -> pa.RecordBatch:
    """Replace the BLOBs of a column, by null where they are absent."""
    at = rows.schema.get_field_index(name)
    column, field = rows.column(at), rows.schema.field(at)
    values = [
        None if is_absent else each_blob(value, change)
        for value, is_absent in zip_longest(as_python(column), absent)
    ]
    return rows.set_column(at, field, pa.array(values, column.type))


class ManagedBlobs:
    """Writes the BLOBs of one bucket of a primary-key table to managed files.

    Args:
        location: directory and names of the files.
        layout: layout of the data files.
        target: the table.
    """

    def __init__(self, location: FileLocation, layout: FileLayout, target: WriteTarget) -> None:
        extension = MANAGED_SUFFIX.lstrip(".")
        self._mark = target.stored_mark
        self._columns = {
            layout.fields[position].name: BlobFileSequence(location, layout, target, extension)
            for position in layout.managed_blobs
        }

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        return any(column.is_open for column in self._columns.values())

    def described(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Write the BLOBs of rows with `_VALUE_KIND`, and return the rows with descriptors.

        Retracted rows have no BLOBs, as in Java, where the column allows it.
        """
        if not self._columns:
            return rows
        retracts = is_retract(ints_of(rows.column(VALUE_KIND)).astype(np.int8, copy=False))
        for name, column in self._columns.items():
            absent = retracts & rows.schema.field(name).nullable
            rows = change_blobs(rows, name, partial(self._stored, column), absent.tolist())
        return rows

    def _stored(self, column: BlobFileSequence, value: bytes) -> bytes:
        """Write a BLOB, unless it is stored already, and return its descriptor."""
        if self._mark is not None and value.startswith(self._mark):
            return value[len(self._mark) :]
        contents = column.contents(value)
        start = column.current().add_value(contents)
        place = BlobDescriptor(uri=column.paths[-1], offset=start, length=len(contents))
        if column.is_full:
            column.end()
        return encode_descriptor(place)

    def end(self) -> None:
        """Close the open files; further BLOBs start new ones."""
        for column in self._columns.values():
            column.end()

    def close(self) -> tuple[str, ...]:
        """Close the open files; return the paths of all."""
        self.end()
        return tuple(path for column in self._columns.values() for path in column.paths)

    def abort(self) -> None:
        """Delete the files of the writer."""
        for column in self._columns.values():
            column.abort()
