"""Writes to format tables: new files in the folders of partitions, as Java names them.

There is no commit: a file is visible once it is complete. If a write fails, the files that it has
created are deleted. An overwrite deletes the old files after the new ones are complete.
Spec: concepts/table-types, format table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.errors import undo_on_error
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    FORMAT_TABLE_FILE_COMPRESSION,
    MAX_INT64,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.partition_path import escape_name, partition_name, partition_texts
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.table.file_tables.partition_folders import PartitionFolders
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.formats.format_writers import open_format
from paimon_explore.write.input.table_batches import InputShape, Rows, open_rows

_CODECS: Mapping[str, str] = {"parquet": "snappy", "orc": "zstd"}
"""The default compression of files; none for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatWrite:
    """Where and how rows are written.

    Attributes:
        file_io: the storage.
        folders: the names of the folders.
        schema: the columns and partition keys.
        file_format: the format of the files.
    """

    file_io: FileIO
    folders: PartitionFolders
    schema: TableSchema
    file_format: str

    def append(self, data: Rows) -> tuple[str, ...]:
        """Write rows to new files, one for each partition; return their paths."""
        row_type = self.schema.row_type
        rows = pa.Table.from_batches(
            open_rows(data, InputShape(row_type=row_type)), arrow_schema(row_type)
        )
        layout = self._layout()
        created: list[str] = []
        try:
            for folder, part in self._parts(rows):
                name = f"data-{uuid4()}-0.{layout.extension}"
                path = join(
                    join(self.folders.location, folder) if folder else self.folders.location, name
                )
                created.append(path)
                self._write(path, layout, part)
        except BaseException:
            for path in created:
                self.file_io.delete(path)
            raise
        return tuple(created)

    def overwrite(self, data: Rows) -> tuple[str, ...]:
        """Replace the files of the partitions that the rows are in; return the new paths.

        Without partition keys, all files are replaced, also by no rows.
        """
        before = list(self.folders.files(self.file_io))
        created = self.append(data)
        start = len(self.folders.location.rstrip("/")) + 1
        names = [self.folders.values(path[start:].split("/")[:-1]) for path in created]
        written = {self._partition(values) for values in names if values is not None}
        for values, status in before:
            if not self.folders.keys.fields or self._partition(values) in written:
                self.file_io.delete(status.path)
        return created

    def _partition(self, values: tuple[str, ...]) -> tuple[object, ...]:
        row = self.folders.row(values).to_pylist()
        return tuple(row[0].values()) if row else ()

    def _layout(self) -> FileLayout:
        options = TableOptions(self.schema.options)
        codec = options.value(FORMAT_TABLE_FILE_COMPRESSION)
        keys = self.schema.partition_keys
        return FileLayout(
            format=self.file_format,
            compression=codec or _CODECS.get(self.file_format, "none"),
            options=options,
            schema_id=self.schema.id,
            fields=tuple(field for field in self.schema.fields if field.name not in keys),
            value_columns=(),
            value_modes=(),
            target_bytes=MAX_INT64,
        )

    def _parts(self, rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
        """The folder of each partition, relative to the table's, and its rows."""
        keys = self.folders.keys
        if not keys.fields:
            if rows.num_rows:
                yield "", rows
            return
        legacy = TableOptions(self.schema.options).value(PARTITION_LEGACY_NAME)
        columns = [rows.column(name).combine_chunks() for name in keys.names]
        types = [field.type for field in keys]
        for number, found in enumerate(types):
            if isinstance(found, AtomicType) and found.root is TypeRoot.TIMESTAMP_LTZ:
                # readers take the text for a local time
                types[number] = replace(found, root=TypeRoot.TIMESTAMP)
                columns[number] = cast_column(columns[number], found, types[number])
        texts = partition_texts(columns, types, legacy_names=legacy)
        default = self.folders.default_name
        named = [
            [escape_name(partition_name(text, default)) for text in column] for column in texts
        ]
        if not self.folders.only_value:
            prefixes = [f"{escape_name(name)}=" for name in keys.names]
            named = [
                [prefix + text for text in column]
                for prefix, column in zip(prefixes, named, strict=True)
            ]
        folders = np.array(["/".join(parts) for parts in zip(*named, strict=True)], np.object_)
        for folder in dict.fromkeys(folders.tolist()):
            yield str(folder), rows.take(np.flatnonzero(folders == folder))

    def _write(self, path: str, layout: FileLayout, rows: pa.Table) -> None:
        columns = [rows.column(field.name).combine_chunks() for field in layout.fields]
        with self.file_io.create_stream(path) as sink:
            writer = open_format(sink, layout)
            with undo_on_error(writer.abort):
                writer.write(columns)
                writer.close()
