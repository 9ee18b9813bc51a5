"""Primary-key indexes of a bucket, built when a compaction replaces its files.

For each indexed column and each level above 0, one index file covers all files of the level that a
compaction has written. It names them with their number of rows; its rows are numbered through them
in the order of their names. An index file whose files are no longer those of its level is replaced.
Deleted rows are indexed too, as deletion vectors apply to the rows that a lookup finds.

Files that were written by an upsert and only moved to another level have no index. Readers read
files without index as a whole. A full compaction with no other work builds the indexes that files
lack, for example since an option is set.

Full-text and vector indexes need optional packages. Without them these indexes are only removed
with the files that they cover.

Spec: primary-key-table, global index. Seen in: golden java200 `pk_index_btree`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.global_index.column_keys import indexed_rows
from paimon_explore.encoding.global_index.index_keys import global_index_keys, is_indexable
from paimon_explore.encoding.global_index.index_sources import (
    IndexSources,
    SourceFile,
    decode_sources,
    encode_sources,
    primary_key_sources,
)
from paimon_explore.errors import CorruptFileError, FormatError
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.index_files.search_index import (
    is_installed,
    primary_key_search_index,
)
from paimon_explore.maintenance.index_files.sorted_index import sorted_index
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import (
    FileKind,
    FileSource,
    ManifestEntries,
)
from paimon_explore.metadata.options.column_options import PK_VECTOR_INDEX_TYPE
from paimon_explore.metadata.options.table_options import (
    PK_BITMAP_INDEX_COLUMNS,
    PK_BTREE_INDEX_COLUMNS,
    PK_FULL_TEXT_INDEX_COLUMNS,
    PK_VECTOR_INDEX_COLUMNS,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import ReadRequest, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.index_lookups import BITMAP, BTREE, INDEX_TYPES
from paimon_explore.scan.manifest_arrays import Mask, column, numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.search_indexes import FULL_TEXT, VECTOR_TYPES
from paimon_explore.scan.splits.data_split import DataSplit, LocatedFiles, Splits
from paimon_explore.scan.splits.file_locations import DataFilePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget

IndexRow = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChanges:
    """Index files of a bucket that a compaction adds and removes."""

    new: IndexEntries
    deleted: IndexEntries


@dataclass(frozen=True, slots=True)
class _Definition:
    """An index that the options of the table ask for."""

    kind: str
    field: DataField

    def is_of(self, row: IndexRow) -> bool:
        """Return whether an index file belongs to the index."""
        index = row["global_index"]
        return (
            isinstance(index, dict)
            and row["index_type"] == self.kind
            and index["index_field_id"] == self.field.id
            and primary_key_sources(index) is not None
        )


_Build = tuple[_Definition, int, ManifestEntries]
"""An index to build over the files of a level."""


class BucketIndexes:
    """Keeps the primary-key indexes of a bucket in step with its files.

    Args:
        target: the table.
        split: the live files of the bucket before the compaction.
        index: the index files of the bucket.
    """

    def __init__(self, target: WriteTarget, split: DataSplit, index: IndexEntries) -> None:
        self._target = target
        self._split = split
        self._index = index
        self._written: list[str] = []

    def replace(self, before: Sequence[int], after: ManifestEntries) -> IndexChanges:
        """Write the index files of changed levels.

        Args:
            before: positions of the replaced files in the split.
            after: entries of new files, and of files on their new level.

        Raises:
            FormatError: a data file is malformed.
            StorageError: a file cannot be read or written.
        """
        builds, deleted = self._plan(before, after)
        return IndexChanges(
            new=IndexEntries.from_rows([self._build(*build) for build in builds]),
            deleted=self._index.filter(deleted),
        )

    @property
    def are_outdated(self) -> bool:
        """Whether files have no index that they should have, or an index has no files."""
        builds, deleted = self._plan((), ManifestEntries.empty())
        return bool(builds) or bool(deleted.any())

    def _plan(self, before: Sequence[int], after: ManifestEntries) -> "tuple[list[_Build], Mask]":
        """The index files to write, and which ones to remove."""
        definitions = list(_definitions(self._target))
        deleted = np.zeros(len(self._index), np.bool_)
        if not definitions and self._index.column("global_index").null_count == len(deleted):
            return [], deleted
        rows = self._index.rows()
        kept = np.ones(self._split.count, np.bool_)
        kept[list(before)] = False
        levels = list(_levels(ManifestEntries.concat([self._split.files.filter(kept), after])))
        names = self._split.files.table.column("file_name").to_pylist()
        deleted = _cover(self._index, [str(names[at]) for at in before])
        builds = []
        for definition in definitions:
            own = [at for at, row in enumerate(rows) if definition.is_of(row)]
            for level, files in levels:
                covering = [at for at in own if _covered(rows[at], files)]
                if len(covering) == 1:
                    own.remove(covering[0])
                else:
                    builds.append((definition, level, files))
            deleted[own] = True
        return builds, deleted

    def abort(self) -> None:
        """Delete the new index files."""
        discard(self._target.store.file_io, self._written)

    def _build(self, definition: _Definition, level: int, files: ManifestEntries) -> IndexRow:
        """Write an index file over files of a level, in the order of their names."""
        sources = IndexSources(level=level, files=_source_files(files))
        target, field, kind = self._target, definition.field, definition.kind
        values = column_values(target.store, target.schema, target.options, field.name, files)
        if kind in INDEX_TYPES:
            keys = global_index_keys(field.type)
            rows, nulls = indexed_rows(values, keys)
            content = sorted_index([rows], nulls, keys, kind)
        else:
            content = primary_key_search_index(values, field, kind, target.options)
        return {
            "kind": FileKind.ADD.value,
            "partition": self._split.partition,
            "bucket": self._split.bucket,
            "index_type": kind,
            "file_name": self._write(content.data),
            "file_size": len(content.data),
            "row_count": sources.row_count if content.data else 0,
            "global_index": {
                "row_range_start": 0,
                "row_range_end": sources.row_count - 1,
                "index_field_id": field.id,
                "index_meta": content.meta,
                "source_meta": encode_sources(sources),
            },
        }

    def _write(self, data: bytes) -> str:
        target = self._target
        names = target.file_names()
        name = f"index-{names.unique}-{next(names.numbers)}"
        folder = target.partition_path(self._split.partition)
        path = target.store.paths.index_file(folder, self._split.bucket, name)
        self._written.append(path)
        target.store.file_io.create(path, data)
        return name


def column_values(
    store: TableStore, schema: TableSchema, options: TableOptions, name: str, files: ManifestEntries
) -> "pa.ChunkedArray[Any]":
    """Read a column of all rows of data files, deleted ones included.

    Args:
        store: the table and branch.
        schema: the reading schema.
        options: effective options.
        name: of the column.
        files: entries of the files, in the order in which they are read.

    Raises:
        FormatError: a file is malformed, or does not have as many rows as its entry says.
        StorageError: a file cannot be read.
    """
    located = LocatedFiles(
        entries=files,
        paths_of=DataFilePaths(schema, options, store.paths),
        deletion_files={},
        snapshot_id=None,
        branch=store.paths.branch,
    )
    target = ScanTarget(store=store, schema=schema, options=options, snapshot=None)
    reader = SplitReader(unrestricted=True, target=target, columns=(name,))
    split = Splits.one(located)
    chunks = []
    with reader.files_ahead.of_splits([split]):
        for at, source in enumerate(_source_files(files)):
            file = SplitFile(split=split, row=at, reader=reader)
            batches = read_data_file(file.source(), ReadRequest(fields=reader.fields))
            own = [batch.column(0) for batch in batches]
            if sum(map(len, own)) != source.row_count:
                rule = f"must have {source.row_count} rows, as the manifest says"
                raise CorruptFileError(file.path, "number of rows", rule)
            chunks += own
    return pa.chunked_array(chunks)


def indexes_over(index: IndexEntries, files: Collection[str]) -> IndexEntries:
    """Return the primary-key indexes that cover some data files.

    Args:
        index: index files.
        files: names of data files.
    """
    return index.filter(_cover(index, files))


def _cover(index: IndexEntries, files: Collection[str]) -> Mask:
    """True for each index file whose source metadata names one of some data files."""
    names = [name.encode() for name in files]
    sources = map(_sources, index.rows())
    return np.array([any(name in source for name in names) for source in sources], np.bool_)


def _definitions(target: WriteTarget) -> Iterator[_Definition]:
    """The indexes that the options ask for.

    CHAR is left out, since writers differ in whether they pad its values.
    """
    for option, kind in ((PK_BTREE_INDEX_COLUMNS, BTREE), (PK_BITMAP_INDEX_COLUMNS, BITMAP)):
        for name in target.options.value(option):
            found = target.schema.field(name)
            if found and is_indexable(found.type) and not is_root(found.type, TypeRoot.CHAR):
                yield _Definition(kind, found)
    for option in (PK_FULL_TEXT_INDEX_COLUMNS, PK_VECTOR_INDEX_COLUMNS):
        for name in target.options.value(option):
            found = target.schema.field(name)
            kind = FULL_TEXT
            if option is PK_VECTOR_INDEX_COLUMNS:
                kind = PK_VECTOR_INDEX_TYPE.value_for(name, target.options) or ""
            if found and kind in (FULL_TEXT, *VECTOR_TYPES) and is_installed(kind):
                yield _Definition(kind, found)


def _levels(live: ManifestEntries) -> Iterator[tuple[int, ManifestEntries]]:
    """The files that are indexed, level by level, in the order of their names."""
    levels = numbers(live.table, "level")
    sources = as_python(column(live.table, "file_source"))
    is_compacted = np.array([source == FileSource.COMPACT for source in sources], np.bool_)
    chosen = (levels > 0) & is_compacted
    names = np.array(as_python(column(live.table, "file_name")), np.str_)
    for level in np.unique(levels[chosen]).tolist():
        own = np.flatnonzero(chosen & (levels == level))
        files = live.take(own[np.argsort(names[own], kind="stable")])
        if numbers(files.table, "row_count").sum():
            yield level, files


def _source_files(files: ManifestEntries) -> tuple[SourceFile, ...]:
    names = map(str, as_python(column(files.table, "file_name")))
    counts = numbers(files.table, "row_count").tolist()
    return tuple(map(SourceFile, names, counts))


def _sources(row: IndexRow) -> bytes:
    """The source metadata of an index file; empty for others than primary-key indexes."""
    return primary_key_sources(row["global_index"]) or b""


def _covered(row: IndexRow, files: ManifestEntries) -> bool:
    """Whether an index file covers exactly these files of a level."""
    try:
        sources = decode_sources(_sources(row), path=str(row["file_name"]))
    except FormatError:
        return False
    level = int(numbers(files.table, "level")[0])
    return sources == IndexSources(level=level, files=_source_files(files))
