"""A read of a format table: its files, pruned by partition, and their rows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa

from paimon_explore.arguments import integer, names
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import DataFileSource, ReadRequest, read_data_file
from paimon_explore.read.requested_columns import project
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction, names_of
from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.table.engine_scans.scan_conversions import ConvertibleScan
from paimon_explore.table.engine_scans.scan_part import ScanPart, whole_part
from paimon_explore.table.file_tables.partition_folders import PartitionFolders


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FormatScan(ConvertibleScan):
    """A read of a format table, described by columns, a filter and a limit.

    `FormatTable.scan` creates it. Each read lists the folders again.

    Attributes:
        file_io: the storage of the files.
        folders: where the files are.
        schema_of_table: all columns.
        file_format: the format of the files.
        columns: names of the columns in result order.
        where: the filter, bound to the table's columns; TRUE keeps all rows.
        row_limit: maximum number of rows; None for all.
    """

    file_io: FileIO
    folders: PartitionFolders
    schema_of_table: TableSchema
    file_format: str
    columns: tuple[str, ...]
    where: Expression = TRUE
    row_limit: int | None = None

    def select(self, *columns: str | Iterable[str]) -> "FormatScan":
        """Return a scan of some of the columns; see `Scan.select`.

        Raises:
            InvalidInputError: no argument, an unknown column, a field of a ROW column, or a column
                that is selected twice.
        """
        if not columns:
            raise InvalidInputError("select() needs at least one column.")
        wanted = tuple(name for given in columns for name in names("columns", given))
        found = project(wanted, self.schema_of_table.row_type)
        for field in found:
            if field != self.schema_of_table.row_type.field(field.name):
                raise InvalidInputError(f"A field of column {field.name!r} cannot be selected.")
        return replace(self, columns=found.names)

    def filter(self, where: Where) -> "FormatScan":
        """Return a scan of the rows that also match a condition; see `Scan.filter`.

        Raises:
            InvalidInputError: a condition that cannot be parsed, or an unknown column.
        """
        bound = bind(predicate(where), self.schema_of_table.row_type)
        return replace(
            self, where=bound if self.where == TRUE else conjunction([self.where, bound])
        )

    def limit(self, rows: int) -> "FormatScan":
        """Return a scan of at most so many rows."""
        limit = integer("limit", rows, minimum=0)
        known = self.row_limit
        return replace(self, row_limit=limit if known is None else min(known, limit))

    @property
    def row_type(self) -> RowType:
        """The result's columns in Paimon types."""
        return self.schema_of_table.project(self.columns)

    @property
    def schema(self) -> pa.Schema:
        """The result's Arrow schema."""
        return arrow_schema(self.row_type)

    def files(self) -> list[FileStatus]:
        """Return the files to read: those of partitions that the filter may match."""
        return [status for _, status in self._files()]

    def count(self) -> int:
        """Return the number of rows."""
        return sum(batch.num_rows for batch in self.to_batches())

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows as a stream of record batches, one file at a time.

        Raises:
            CorruptFileError: a file breaks its format; raised while rows are read.
        """
        return pa.RecordBatchReader.from_batches(self.schema, self._limited())

    def to_arrow(self) -> pa.Table:
        """Read the rows into an Arrow table."""
        return self.to_batches().read_all()

    def parts(self) -> tuple[ScanPart, ...]:
        """Return the whole scan as its only part."""
        return (whole_part(self, self.folders.location),)

    def _limited(self) -> Iterator[pa.RecordBatch]:
        left = self.row_limit
        if left == 0:
            return
        for batch in self._batches():
            yield batch if left is None else batch.slice(0, left)
            if left is not None:
                left -= min(left, batch.num_rows)
                if left == 0:
                    return

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self.schema
        read = self._read_fields()
        row_type = RowType(fields=read)
        for values, status in self._files():
            for batch in self._file_rows(status, values, read):
                found = batch
                if self.where != TRUE:
                    truth: pa.BooleanArray = evaluate(self.where, batch, row_type)  # type: ignore[assignment]  # of a batch, an array
                    found = batch.filter(truth)
                if found.num_rows:
                    yield pa.RecordBatch.from_arrays(
                        [found.column(name) for name in self.columns], schema=schema
                    )

    def _read_fields(self) -> tuple[DataField, ...]:
        """The columns of the result, then those that only the filter reads."""
        wanted = {*self.columns, *names_of(self.where)}
        rest = [name for name in self.schema_of_table.row_type.names if name in wanted]
        return self.schema_of_table.project(dict.fromkeys([*self.columns, *rest])).fields

    def _files(self) -> Iterator[tuple[tuple[str, ...], FileStatus]]:
        """The files with their partition values, by partition and name."""
        matching: dict[tuple[str, ...], bool] = {}
        for values, status in self.folders.files(self.file_io):
            if values not in matching:
                matching[values] = self._may_match(values)
            if matching[values]:
                yield values, status

    def _may_match(self, values: tuple[str, ...]) -> bool:
        keys = self.folders.keys
        known = split(self.where, keys.names).pushed if self.where != TRUE and values else TRUE
        if known == TRUE:
            return True
        truth: pa.BooleanArray = evaluate(known, self.folders.row(values), keys)  # type: ignore[assignment]  # of a batch, an array
        return bool(truth.true_count)

    def _file_rows(
        self, status: FileStatus, values: tuple[str, ...], read: tuple[DataField, ...]
    ) -> Iterator[pa.RecordBatch]:
        """Read the columns of a file, with the values of its partition."""
        keys = self.folders.keys.names
        stored = tuple(field for field in read if field.name not in keys)
        source = DataFileSource(
            file_io=self.file_io,
            path=status.path,
            size=status.size,
            schema=_schema_of_files(self.schema_of_table),
            file_format=self.file_format,
        )
        partition = self.folders.row(values) if keys else None
        schema = arrow_schema(RowType(fields=read))
        for batch in read_data_file(source, ReadRequest(fields=stored)):
            columns = {field.name: batch.column(at) for at, field in enumerate(stored)}
            if partition is not None:
                for name in keys:
                    column = partition.column(name)
                    columns[name] = column.take(pa.repeat(pa.scalar(0), batch.num_rows))
            found = [columns[field.name] for field in read]
            yield pa.RecordBatch.from_arrays(found, schema=schema)


def _schema_of_files(schema: TableSchema) -> TableSchema:
    """The schema of the data files, which do not contain the partition keys."""
    fields = tuple(field for field in schema.fields if field.name not in schema.partition_keys)
    return replace(schema, fields=fields, partition_keys=(), primary_keys=())
