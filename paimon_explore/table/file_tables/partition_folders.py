"""The data files of a format table, with the values of their partition from the folder names.

A file is hidden if its name, or that of a folder on the way, starts with `.` or `_`; the folder of
the default partition is not. Folders that are not named after the partition keys are skipped.
Spec: concepts/table-types, format table.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema, to_arrow
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.definitions import STRING, RowType
from paimon_explore.errors import CorruptFileError, PaimonError
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.frozen_dataclass import dataclass

_HIDDEN = (".", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFolders:
    """How the folders of a format table are named.

    Attributes:
        location: the folder of the table.
        keys: the partition keys, with their types.
        only_value: folders are named `2026` instead of `year=2026`.
        default_name: the name of the folder of null values.
    """

    location: str
    keys: RowType
    only_value: bool
    default_name: str

    def files(self, file_io: FileIO) -> Iterator[tuple[tuple[str, ...], FileStatus]]:
        """Yield the data files with the unescaped names of their partition values, by path."""
        start = len(self.location.rstrip("/")) + 1
        for status in sorted(file_io.walk(self.location), key=lambda status: status.path):
            *folders, name = status.path[start:].split("/")
            values = self.values(folders)
            if values is not None and status.size and not name.startswith(_HIDDEN):
                yield values, status

    def values(self, folders: Sequence[str]) -> tuple[str, ...] | None:
        """Return the values of the partition keys; None if the folders are not of a partition."""
        names = self.keys.names
        values: list[str] = []
        if len(folders) < len(names):
            return None
        for key, folder in zip(names, folders, strict=False):
            name, separator, value = folder.partition("=")
            if self.only_value:
                name, separator, value = key, "=", folder
            if not separator or unquote(name) != key:
                return None
            if value != self.default_name and self.only_value and value.startswith(_HIDDEN):
                return None
            values.append(unquote(value))
        if any(folder.startswith(_HIDDEN) for folder in folders[len(names) :]):
            return None
        return tuple(values)

    def row(self, values: Sequence[str]) -> pa.RecordBatch:
        """Return one row of the values of a partition.

        Raises:
            CorruptFileError: a folder is not named after a value of its key's type.
        """
        columns = []
        for field, value in zip(self.keys, values, strict=True):
            text = None if value == self.default_name else value
            try:
                array = cast_column(pa.array([text], to_arrow(STRING)), STRING, field.type)
            except (PaimonError, UncastableError) as error:
                where = f"folder {value!r} of partition key {field.name!r}"
                raise CorruptFileError(self.location, where, str(error)) from error
            columns.append(array)
        return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(self.keys))
