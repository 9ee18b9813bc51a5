"""Parquet files to import."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.command_line.file_import.import_file import BATCH_ROWS, Target
from paimon_explore.command_line.file_import.text_cast import cast_column
from paimon_explore.errors import CorruptFileError, StorageError
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetImport:
    """A Parquet file.

    Attributes:
        path: the file.
    """

    path: Path

    def inferred_schema(self) -> pa.Schema:
        """Return the columns of the file."""
        with self._opened() as file:
            return file.schema_arrow

    def batches(self, target: Target) -> Iterator[pa.RecordBatch]:
        """Read the rows in the types of the table."""
        first = 0
        with self._opened() as file:
            names = file.schema_arrow.names
            fields = [target.column(name, str(self.path)) for name in names]
            for batch in file.iter_batches(BATCH_ROWS):
                columns = zip(fields, batch.columns, strict=True)
                row = partial(self._location, first)
                yield target.batch(columns, cast_column, row)
                first += batch.num_rows

    def _location(self, first: int, index: int) -> str:
        return f"{self.path}, row {first + index + 1}"

    def _opened(self) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(self.path)
        except pa.ArrowInvalid as error:
            raise CorruptFileError(str(self.path), "footer", f"{error}".splitlines()[0]) from error
        except OSError as error:
            raise StorageError("read", str(self.path), error.strerror or str(error)) from error
