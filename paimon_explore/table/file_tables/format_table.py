"""`FormatTable`: a folder of files of one format, with partitions by folder, as a table."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from paimon_explore.arguments import integer, optional_integer, optional_names
from paimon_explore.data_types import data_frames
from paimon_explore.errors import UnsupportedFeatureError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    FILE_FORMAT,
    FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE,
    PARTITION_DEFAULT_NAME,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.table.file_tables.format_scan import FormatScan
from paimon_explore.table.file_tables.partition_folders import PartitionFolders
from paimon_explore.table.row_reader import RowSource

if TYPE_CHECKING:
    from paimon_explore.table.file_tables.format_write import FormatWrite
    from paimon_explore.write.input.table_batches import Rows

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
                f"a format table of {found} files",
                self.name,
                hint=f"Formats: {choices(FORMATS)}.",
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
