"""The requests for the files of splits, which a store answers while other files are read."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.fileio.concurrent_requests import at_once, max_requests
from paimon_explore.fileio.requests_ahead import FilePart, requests_ahead
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.deletion_vector_filter import vector_part
from paimon_explore.scan.chains import file_schema
from paimon_explore.scan.manifest_arrays import column
from paimon_explore.scan.splits.data_split import (
    DataSplit,
    DifferenceSplit,
    LayeredSplit,
    LocatedFiles,
    RetractedSplit,
    Split,
)
from paimon_explore.store.table_store import TableStore

_READ_WHOLE = (".avro", ".csv", ".json", ".text", ".txt", ".gz", ".zst", ".bz2", ".snappy", ".lz4")
"""Ends of the names of files that are not opened for random access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesAhead:
    """What a reader needs of files.

    Attributes:
        store: the table.
        schema: the reading schema.
        columns: the columns to read; files without any of them may not be opened.
        has_filter: whether indexes may show that a file need not be opened.
        schemas: the known schemas by branch and id.
    """

    store: TableStore
    schema: TableSchema
    columns: Collection[str]
    has_filter: bool
    schemas: dict[tuple[str, int], TableSchema]

    def of_splits(self, splits: Sequence[Split]) -> AbstractContextManager[None]:
        """Request the files of splits, which the block reads in this order."""
        if max_requests(self.store.file_io) < 2:  # noqa: PLR2004 - two at once
            return nullcontext()
        self.load_schemas(splits)
        parts = (
            part
            for split in splits
            for one in _data_splits(split)
            for part in self._parts(one.source, range(one.start, one.start + one.count))
        )
        return requests_ahead(self.store.file_io, parts)

    def of_files(self, files: LocatedFiles, rows: Iterable[int]) -> AbstractContextManager[None]:
        """Request some files by their numbers, which the block reads in this order."""
        return requests_ahead(self.store.file_io, self._parts(files, rows))

    def _parts(self, files: LocatedFiles, rows: Iterable[int]) -> Iterator[FilePart]:
        """Yield what is read of files: of each its deletion vector, then the file itself."""
        table = files.entries.table
        wanted = ("file_name", "file_size", "write_cols", "embedded_file_index", "extra_files")
        for row in rows:
            name, size, written, embedded, extra = (
                table.column(key)[row].as_py() for key in wanted
            )
            is_indexed = embedded is not None or bool(extra)
            if is_indexed and self.has_filter:
                continue
            if written is not None and not set(written).intersection(self.columns):
                continue
            vector = files.vectors[row]
            if vector is not None:
                yield vector_part(vector)
            if not name.endswith(_READ_WHOLE):
                yield str(files.paths[row].as_py()), None, size

    def load_schemas(self, splits: Sequence[Split]) -> None:
        """Load the schemas of the files of splits at once, if the storage is remote."""
        if max_requests(self.store.file_io) < 2:  # noqa: PLR2004 - two at once
            return
        needed = {
            (one.branch, int(str(number)))
            for split in splits
            for one in _data_splits(split)
            for number in as_python(column(one.files.table, "schema_id").unique())
        }
        missing = sorted(needed - self.schemas.keys())
        calls = [partial(file_schema, self.schema, self.store, *one) for one in missing]
        self.schemas.update(zip(missing, at_once(self.store.file_io, calls), strict=True))


def _data_splits(split: Split) -> Iterator[DataSplit]:
    match split:
        case DataSplit():
            yield split
        case RetractedSplit():
            yield split.of
        case LayeredSplit():
            yield from split.layers
        case DifferenceSplit():
            for one in (*split.before, *split.after):
                yield from _data_splits(one)
