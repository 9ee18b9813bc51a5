"""`FormatTable`: a folder of files of one format, with partitions by folder, as a table.

A read of a format table: its files, pruned by partition, and their rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from paimon_explore.arguments import integer, names, optional_integer, optional_names
from paimon_explore.data_types import data_frames
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.encoding.positional_batches import first_rows
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    FILE_FORMAT,
    FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE,
    PARTITION_DEFAULT_NAME,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import DataFileSource, ReadRequest, read_data_file
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction, names_of
from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.scan.requested_columns import project
from paimon_explore.table.engine_scans.scan_conversions import ConvertibleScan
from paimon_explore.table.engine_scans.scan_part import ScanPart, whole_part
from paimon_explore.table.file_tables.partition_folders import PartitionFolders
from paimon_explore.table.row_reader import RowSource

if TYPE_CHECKING:
    from paimon_explore.table.file_tables.format_write import FormatWrite
    from paimon_explore.write.input.table_batches import Rows


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
        return pa.RecordBatchReader.from_batches(
            self.schema, first_rows(self._batches(), self.row_limit)
        )

    def to_arrow(self) -> pa.Table:
        """Read the rows into an Arrow table."""
        return self.to_batches().read_all()

    def parts(self) -> tuple[ScanPart, ...]:
        """Return the whole scan as its only part."""
        return (whole_part(self, self.folders.location),)

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


FORMATS = ("parquet", "orc", "csv", "json", "text")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class FormatTable:
    """A table of type `format-table`: files of one format in folders, without snapshots.

    `Catalog.format_table` opens it. Its columns are known to the catalog, its files are those in
    its folder at the time of a read. It has no snapshots, tags, branches or statistics, as in Java.

    Attributes:
        name: `database.table`.
        schema: the columns, partition keys and options.
        location: the folder of the files.
        file_io: the storage of the folder.
    """

    name: str
    schema: TableSchema
    location: str
    file_io: FileIO

    @property
    def options(self) -> TableOptions:
        """The table's options."""
        return TableOptions(self.schema.options)

    @property
    def file_format(self) -> str:
        """The format of the files: `parquet`, `orc`, `csv`, `json` or `text`.

        Raises:
            UnsupportedFeatureError: it is another one.
        """
        found = self.options.value(FILE_FORMAT).strip().lower()
        if found not in FORMATS:
            raise UnsupportedFeatureError(
                f"a format table of {found} files", self.name, hint=f"Formats: {choices(FORMATS)}."
            )
        return found

    def scan(
        self,
        columns: Iterable[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
    ) -> FormatScan:
        """Describe a read of the table; folders of other partitions are not read.

        Args:
            columns: the columns in result order; None for all.
            where: a filter, as in `Table.scan`.
            limit: maximum number of rows.

        Raises:
            InvalidInputError: unknown columns, or a filter that cannot be parsed.
            UnsupportedFeatureError: the files have another format.
        """
        wanted = optional_names("columns", columns)
        scan = FormatScan(
            file_io=self.file_io,
            folders=self._folders(),
            schema_of_table=self.schema,
            file_format=self.file_format,
            columns=self.schema.row_type.names,
            row_limit=optional_integer("limit", limit, minimum=0),
        )
        scan = scan if wanted is None else scan.select(wanted)
        return scan if where is None else scan.filter(where)

    def append(self, data: "Rows") -> tuple[str, ...]:
        """Write rows to new files, one for each partition.

        The files are not visible at once, but one after the other. Rows are kept in memory.

        Args:
            data: the rows, as for `Table.append`, with the partition columns.

        Returns:
            The paths of the new files.

        Raises:
            InvalidInputError: a column is unknown, or a value does not fit.
            UnsupportedFeatureError: the format cannot be written, or not a column's type.
        """
        return self._writer().append(data)

    def overwrite(self, data: "Rows") -> tuple[str, ...]:
        """Replace the partitions that rows are in; without partition keys, the whole table.

        As in Java, other partitions are kept. Old files are deleted after the new ones are written.

        Args:
            data: the rows, as for `append`.

        Returns:
            The paths of the new files.
        """
        return self._writer().overwrite(data)

    def rows(self) -> RowSource:
        """Return all rows as those of a system table, computed on request."""
        scan = self.scan()
        return RowSource(name=self.name, schema=scan.schema, load=scan.to_batches)

    def at(self, *_point: object, **_points: object) -> NoReturn:
        """Refuse, as Java does: a format table has no snapshots and no tags.

        Raises:
            UnsupportedFeatureError: always.
        """
        raise UnsupportedFeatureError("time travel in a format table", self.name)

    def partitions(self) -> list[dict[str, object]]:
        """Return the values of the partitions that have files, one dictionary for each."""
        folders = self._folders()
        found = dict.fromkeys(values for values, _ in folders.files(self.file_io))
        return [folders.row(values).to_pylist()[0] for values in found if values]

    def count(self, where: Where | None = None) -> int:
        """Return the number of rows.

        Args:
            where: a filter, as for `scan`.
        """
        return self.scan(where=where).count()

    def head(self, rows: int = 5) -> "data_frames.DataFrame":
        """Read the first rows into a pandas DataFrame.

        Args:
            rows: maximum number of rows.
        """
        return self.scan(limit=integer("rows", rows, minimum=0)).to_pandas()

    def to_arrow(self) -> pa.Table:
        """Read all rows into an Arrow table."""
        return self.scan().to_arrow()

    def to_batches(self) -> pa.RecordBatchReader:
        """Read all rows as a stream of record batches."""
        return self.scan().to_batches()

    def to_pandas(self) -> "data_frames.DataFrame":
        """Read all rows into a pandas DataFrame."""
        return self.scan().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows through Arrow's C stream interface."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Return name, format, location and columns."""
        keys = self.schema.partition_keys
        parts = [
            f"format table {self.name} of {self.options.value(FILE_FORMAT)} files",
            f"  location: {self.location}",
            *([f"  partitioned by {choices(keys)}"] if keys else []),
            f"  columns: {choices(self.schema.row_type.names, limit=8)}",
        ]
        return "\n".join(sanitized(part) for part in parts)

    def _writer(self) -> "FormatWrite":
        from paimon_explore.table.file_tables.format_write import FormatWrite

        return FormatWrite(
            file_io=self.file_io,
            folders=self._folders(),
            schema=self.schema,
            file_format=self.file_format,
        )

    def _folders(self) -> PartitionFolders:
        return PartitionFolders(
            location=self.location,
            keys=self.schema.project(self.schema.partition_keys),
            only_value=self.options.value(FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE),
            default_name=self.options.value(PARTITION_DEFAULT_NAME),
        )
