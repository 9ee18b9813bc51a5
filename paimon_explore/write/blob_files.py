"""Blob files: BLOB columns, and arrays and maps of BLOB, are stored outside the data file.

A blob file holds one column of a range of the data file's rows. The blob files of a column cover
all rows in order: a new file is started when the target size is reached, and with each data file.
The commit assigns their row ids together with those of the data file.

Spec: append-table/blob. Seen in: golden java200/blob and blob_more.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import AtomicType, DataField, MapType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.data_types.traversal import is_blob_file_type, is_root, parts
from paimon_explore.encoding.blob.blob_collections import encode_nested
from paimon_explore.encoding.blob.blob_descriptor import decode_descriptor, is_descriptor
from paimon_explore.encoding.blob.blob_file import BlobFileWriter
from paimon_explore.encoding.blob.blob_view import is_view
from paimon_explore.encoding.blob.map_keys import key_coder
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.file_io import discard
from paimon_explore.metadata.options import table_options as opt
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
        options = target.options
        self._store = target.store
        self._copies = options.value(opt.BLOB_AS_DESCRIPTOR)
        self._location = location
        self._layout = replace(layout, format=BLOB, suffix_compression=False)
        self._name = field.name
        self._nested = None if isinstance(field.type, AtomicType) else field.type
        self._target_bytes = options.value(opt.BLOB_TARGET_FILE_SIZE) or layout.target_bytes
        self._stack = ExitStack()
        self._writer: BlobFileWriter | None = None
        self._paths: list[str] = []
        self._external: str | None = None
        self._files: list[FileRow] = []

    def add(self, value: object) -> None:
        """Write the next row: the value, None, or `ELSEWHERE`.

        With `blob-as-descriptor` a BLOB may be a descriptor, whose contents are copied.
        """
        writer = self._writer or self._open()
        if value is ELSEWHERE:
            writer.add_elsewhere()
            return
        if self._copies:
            value = self._copied(value)
        if isinstance(value, list) and self._nested is not None:
            value = encode_nested(value, self._nested)
        writer.add_value(value if isinstance(value, bytes) else None)
        if writer.size >= self._target_bytes:
            self._close()

    def _copied(self, value: object) -> object:
        """Replace descriptors by their contents: of a BLOB, in an array or in pairs of a map."""
        match value:
            case list():
                return [self._copied(one) for one in value]
            case (key, item):
                return key, self._copied(item)
            case bytes() if is_descriptor(value):
                return read_contents(self._store, decode_descriptor(value))
            case _:
                return value

    def _open(self) -> BlobFileWriter:
        path, self._external = self._location.next_path(self._layout)
        self._paths.append(path)
        sink = self._stack.enter_context(self._location.file_io.create_stream(path))
        self._writer = BlobFileWriter(sink.write)
        return self._writer

    def _close(self) -> None:
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        writer.finish()
        self._stack.close()
        found = file_row(
            self._layout,
            file_size=writer.size,
            row_count=writer.row_count,
            value_stats=replace(EMPTY_STATS, columns=()),
        )
        found |= {
            "file_name": self._paths[-1].rpartition("/")[2],
            "creation_time": local_millis(self._location.clock()),
            "write_cols": [self._name],
            "external_path": self._external,
        }
        self._files.append(found)

    def end(self) -> list[FileRow]:
        """Close the current file; return the entries since the last call."""
        self._close()
        files, self._files = self._files, []
        return files

    def abort(self) -> None:
        """Delete the files of the writer."""
        self._writer = None
        error = AbortedError()
        self._stack.__exit__(AbortedError, error, None)
        discard(self._location.file_io, self._paths)
