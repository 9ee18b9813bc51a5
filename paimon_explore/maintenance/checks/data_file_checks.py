"""Checks of data files: they exist, are readable, and contain the recorded rows."""

from collections.abc import Iterator, Mapping

import pyarrow as pa

from paimon_explore.data_types.traversal import unknown_types
from paimon_explore.errors import MissingFileError, PaimonError
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.checks.findings import Finding
from paimon_explore.maintenance.checks.row_checks import FileRows
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
    result_schema,
)
from paimon_explore.scan.splits.file_locations import data_file_paths
from paimon_explore.store.table_store import TableStore

ROWS = "a data file has the recorded number of rows"
READS = "a data file can be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFiles:
    """The data files of a table.

    Attributes:
        store: the branch.
        options: the table's options.
        present: all files of the table by path.
        schemas: all schemas by id.
        seen: paths of the files that have been checked.
    """

    store: TableStore
    options: TableOptions
    present: Mapping[str, FileStatus]
    schemas: Mapping[int, TableSchema]
    seen: set[str]

    def status(self, path: str) -> FileStatus | None:
        """Return size and time of a file; None if it does not exist."""
        found = self.present.get(path)
        if found is not None:
            return found
        try:
            return self.store.file_io.status(path)
        except MissingFileError:
            return None

    def check_rows(self, entries: ManifestEntries) -> Iterator[Finding]:
        """Check the rows of files that have not been checked yet."""
        if not len(entries):
            return
        schema = next(iter(self.schemas.values()))
        paths = [
            str(path.as_py())
            for path in data_file_paths(entries, schema, self.options, self.store.paths)
        ]
        for index, (path, row) in enumerate(zip(paths, entries.rows(), strict=True)):
            has_schema = row["schema_id"] in self.schemas  # else another check has reported it
            if path in self.seen or self.status(path) is None or not has_schema:
                continue
            self.seen.add(path)
            try:
                rows = self._rows(path, row)
            except PaimonError as error:
                yield Finding(rule=READS, path=path, what=str(error))
                continue
            if rows.num_rows != row["row_count"]:
                what = (
                    f"the file has {rows.num_rows} rows, but the manifest records "
                    f"{row['row_count']}"
                )
                yield Finding(rule=ROWS, path=path, what=what)
            schema_id = row["schema_id"]
            assert isinstance(schema_id, int)  # noqa: S101 - of an integer column
            read = FileRows(
                table=rows,
                entry=entries.slice(index, 1),
                schema=self.schemas[schema_id],
                options=self.options,
            )
            for rule, what in read.broken():
                yield Finding(rule=rule, path=path, what=what)

    def _rows(self, path: str, row: Mapping[str, object]) -> pa.Table:
        schema_id, columns, partition = row["schema_id"], row["write_cols"], row["partition"]
        assert isinstance(schema_id, int)  # noqa: S101 - of an integer column
        schema = self.schemas[schema_id]
        source = DataFileSource(
            file_io=self.store.file_io,
            path=path,
            schema=schema,
            write_cols=tuple(map(str, columns)) if isinstance(columns, list) else None,
            partition=partition if isinstance(partition, bytes) else None,
        )
        keyed = bool(schema.primary_keys)
        system = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND) if keyed else ()
        fields = tuple(f for f in source.stored_fields if not any(unknown_types(f.type)))
        request = ReadRequest(fields=fields, system_columns=system, from_keys=keyed)
        batches = read_data_file(source, request)
        return pa.Table.from_batches(batches, result_schema(request))
