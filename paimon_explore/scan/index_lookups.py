"""Lookups of a predicate in btree and bitmap index files, in a space of row numbers of the scan.

The rows that a scan may read have numbers: row ids in tables with data evolution, else consecutive
numbers through the files. Each index file numbers its own rows from 0 on; `RowRange` tells which
numbers of the scan they are. Rows that no index file covers are in every result.

Global indexes in scans: the row ids that a predicate allows, by btree and bitmap index files.

Indexes are used for tables with data evolution, whose files have row ids that do not change. The
index manifest of the scanned snapshot names the files and the range of row ids that each covers.
Rows that no index covers are always read, whatever `scalar-index.search-mode` says. So are all rows
if an index cannot be trusted or would not pay off:

- its type, version or compression is not supported, or it has several columns;
- the type of the column has changed, so that keys are stored as the old type, or became shorter;
- `global-index.column-update-action` is `ignore`: updates leave indexes outdated;
- a range of keys is so large that it is faster to read the data.

Spec: concepts/spec/tableindex, global index. Seen in: `tests/support/global_indexes.py`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.encoding.global_index.bitmap_file import BitmapIndexFile
from paimon_explore.encoding.global_index.blocks import IndexFileBytes
from paimon_explore.encoding.global_index.btree_file import BTreeIndexFile
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, is_indexable
from paimon_explore.encoding.global_index.index_meta import SortedIndexMeta, decode_index_meta
from paimon_explore.encoding.global_index.index_sources import primary_key_sources
from paimon_explore.encoding.global_index.key_ranges import KeySet
from paimon_explore.errors import (
    CorruptFileError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
)
from paimon_explore.fileio.versioned_reads import range_reader
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
    GLOBAL_INDEX_ENABLED,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import Rows
from paimon_explore.scan.predicate.expression import Expression, names_of
from paimon_explore.scan.pruning.global_index_condition import GlobalIndexCondition, Lookup
from paimon_explore.scan.splits.file_locations import index_file_paths
from paimon_explore.store.table_store import TableStore

BTREE = "btree"
BITMAP = "bitmap"
INDEX_TYPES = (BTREE, BITMAP)
"""The types that are used in scans, in order of preference."""
MAX_SCANNED_BYTES = 4 << 20
"""Size of the blocks that one lookup decodes at most."""


@dataclass(frozen=True, slots=True)
class RowRange:
    """Consecutive rows of an index file, and their numbers in the scan.

    Attributes:
        own: number of the first row in the index file.
        first: number of the first row in the scan.
        count: number of rows.
    """

    own: int
    first: int
    count: int

    @property
    def end(self) -> int:
        """Number in the scan after the last row."""
        return self.first + self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile:
    """An index file.

    Attributes:
        kind: `btree` or `bitmap`.
        row_count: its rows are numbered below this.
        ranges: the rows that the scan may read.
        meta: first and last key.
        keys: of the column.
        bytes: the content.
    """

    kind: str
    row_count: int
    ranges: tuple[RowRange, ...]
    meta: SortedIndexMeta
    keys: GlobalIndexKeys
    bytes: IndexFileBytes

    def open(self) -> BTreeIndexFile | BitmapIndexFile:
        """Read the footer and the block index of the file."""
        made = BTreeIndexFile if self.kind == BTREE else BitmapIndexFile
        return made(self.bytes, self.keys)

    def placed(self, rows: BitMap64) -> BitMap64:
        """Row numbers of the scan from those of the file."""
        if rows and rows.max() >= self.row_count:
            rule = f"must be below {self.row_count}, the number of rows that the file covers"
            raise CorruptFileError(self.bytes.path, "row id", rule)
        found = BitMap64()
        for part in self.ranges:
            own = rows
            if part.own or part.count < self.row_count:
                own = BitMap64()
                own.add_range(part.own, part.own + part.count)
                own &= rows
            found |= own.shift(part.first - part.own)
        return found

    def may_have(self, keys: KeySet) -> bool:
        """Whether some keys may be in the file."""
        first, last = self.meta.first, self.meta.last
        return first is not None and last is not None and keys.overlaps(first, last)


FilesByColumn: TypeAlias = Mapping[tuple[str, str], Sequence[IndexFile]]
"""Index files by type and column."""
RangesOf: TypeAlias = Callable[[Mapping[str, object], str], tuple[int, Sequence[RowRange]]]
"""Returns the number of rows of an index file and those of the scan, from its entry and path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSource:
    """Where the indexes of a scan are.

    Attributes:
        store: of the branch.
        schema: the reading schema.
        options: table options overlaid with dynamic options.
        snapshot: the scanned snapshot.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot

    def entries(self, names: Collection[str], *, with_sources: bool) -> IndexEntries:
        """The btree and bitmap index files of some columns.

        Args:
            names: of the columns.
            with_sources: those that name their data files, else those that have row ids.
        """
        entries = self.store.manifests.index_of(self.snapshot)
        wanted = {field.id for field in self.schema.fields if field.name in names}
        return entries.filter(
            np.array(
                [
                    is_index_of(row, INDEX_TYPES, wanted, with_sources=with_sources)
                    and row["global_index"]["index_meta"] is not None  # type: ignore[index]  # an index
                    for row in entries.rows()
                ],
                np.bool_,
            )
        )

    def files(
        self, entries: IndexEntries, names: Collection[str], ranges_of: RangesOf
    ) -> FilesByColumn:
        """The index files with rows of the scan.

        Args:
            entries: of the files.
            names: of the columns.
            ranges_of: returns the rows that a file covers.

        Raises:
            CorruptFileError: the entry of a file breaks the layout.
        """
        if not len(entries):
            return {}
        columns = _unchanged_columns(self.store.schemas.list(), self.schema, names)
        paths = index_file_paths(entries, self.schema, self.options, self.store.paths)
        found: dict[tuple[str, str], list[IndexFile]] = {}
        for row, path in zip(entries.rows(), map(str, as_python(paths)), strict=True):
            index = row["global_index"]
            field = columns.get(index["index_field_id"]) if isinstance(index, dict) else None
            count, ranges = (0, ()) if field is None else ranges_of(row, path)
            if field is None or not ranges:
                continue
            keys = GlobalIndexKeys(field.type)
            size = int(str(row["file_size"]))
            read = range_reader(self.store.file_io, path, size)
            file = IndexFile(
                kind=str(row["index_type"]),
                row_count=count,
                ranges=tuple(ranges),
                meta=decode_index_meta(index["index_meta"], keys, path=path),  # type: ignore[index]  # it has a field
                keys=keys,
                bytes=IndexFileBytes(read, size, path),
            )
            found.setdefault((file.kind, field.name), []).append(file)
        return found


def is_index_of(
    row: Mapping[str, object],
    types: Collection[str],
    field_ids: Collection[int],
    *,
    with_sources: bool,
) -> bool:
    """Whether an entry is of an index on one of these columns.

    Args:
        row: the entry.
        types: the types of indexes.
        field_ids: of the columns.
        with_sources: whether it names its data files, or has row ids.
    """
    index = row["global_index"]
    return (
        isinstance(index, dict)
        and row["index_type"] in types
        and index["index_field_id"] in field_ids
        and not index["extra_field_ids"]
        and (primary_key_sources(index) is not None) is with_sources
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRowIds:
    """The result of indexes for a predicate.

    Attributes:
        row_ids: numbers of the rows that may match: those found, and those without index.
        indexes: type and column of each index that was used.
        not_indexed: number of rows that one of these indexes does not cover.
    """

    row_ids: BitMap64
    indexes: tuple[tuple[str, str], ...]
    not_indexed: int


def looked_up(predicate: Expression, files: FilesByColumn, read: BitMap64) -> IndexedRowIds | None:
    """Evaluates a predicate with index files.

    Args:
        predicate: bound to the reading schema.
        files: by type and column.
        read: numbers of the rows that the scan may read.

    Returns:
        The rows that may match; None if no index applies.

    Raises:
        CorruptFileError: an index file is damaged.
        MissingFileError: an index file does not exist.
    """
    lookups = _Lookups(files, read)
    keys = {column: parts[0].keys for (_, column), parts in files.items()}
    rows = GlobalIndexCondition(keys=keys, look_up=lookups.rows).rows(predicate)
    if rows is None or not lookups.used:
        return None
    return IndexedRowIds(
        row_ids=rows & read, indexes=tuple(lookups.used), not_indexed=len(lookups.not_indexed)
    )


class _Lookups:
    """Looks up rows in the index files of a scan.

    Attributes:
        used: type and column of each index that was used.
        not_indexed: numbers of rows that one of these indexes does not cover.
    """

    def __init__(self, files: FilesByColumn, read: BitMap64) -> None:
        self.used: dict[tuple[str, str], None] = {}
        self.not_indexed = BitMap64()
        self._files = files
        self._read = read

    def rows(self, lookup: Lookup) -> BitMap64 | None:
        """A superset of the rows of a lookup; None for all."""
        for kind in INDEX_TYPES:
            files = self._files.get((kind, lookup.column))
            found = None if files is None else _found(files, lookup)
            if files is None or found is None:
                continue
            covered = BitMap64()
            for part in {part for file in files for part in file.ranges}:
                covered.add_range(part.first, part.end)
            others = self._read - covered
            self.used[kind, lookup.column] = None
            self.not_indexed |= others
            return found | others
        return None


def _found(files: Sequence[IndexFile], lookup: Lookup) -> BitMap64 | None:
    """The rows of a lookup in index files; None if they cannot tell, or only slowly."""
    try:
        if lookup.keys.is_every and not lookup.nulls:
            return _not_null(files)
        rows = BitMap64()
        left = MAX_SCANNED_BYTES
        for file in files:
            has_keys, has_nulls = file.may_have(lookup.keys), lookup.nulls and file.meta.has_nulls
            opened = file.open() if has_keys or has_nulls else None
            if opened is not None and has_nulls:
                rows |= file.placed(opened.null_rows())
            if opened is not None and has_keys:
                left -= opened.scanned_bytes(lookup.keys)
                if left < 0:
                    return None
                rows |= file.placed(opened.rows(lookup.keys))
    except (UnsupportedFeatureError, UnsupportedVersionError):
        return None
    return rows


def _not_null(files: Sequence[IndexFile]) -> BitMap64:
    """The rows of the ranges of index files that are not null."""
    rows = BitMap64()
    for file in files:
        for part in file.ranges:
            rows.add_range(part.first, part.end)
    for file in files:
        if file.meta.has_nulls:
            rows -= file.placed(file.open().null_rows())
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexedColumn:
    """A column whose keys have always been stored in the same way."""

    name: str
    type: AtomicType

    @property
    def key_type(self) -> tuple[object, ...]:
        """What decides how keys are stored."""
        return self.type.root, self.type.precision, self.type.scale


def _unchanged_columns(
    schemas: Iterable[TableSchema], schema: TableSchema, names: Collection[str]
) -> dict[int, _IndexedColumn]:
    """The columns, by id, whose keys have always been stored in the same way.

    CHAR is left out, since writers differ in whether they pad its values. So are texts whose
    maximum length was reduced: reads cut values that the index may contain as a whole.
    """
    wanted = {
        field.id: _IndexedColumn(name=field.name, type=field.type)
        for field in schema.fields
        if field.name in names and isinstance(field.type, AtomicType)
        if is_indexable(field.type) and field.type.root is not TypeRoot.CHAR
    }
    lengths: dict[int, int] = {}
    for field in (field for other in schemas for field in other.fields):
        found = wanted.get(field.id)
        if found is None:
            continue
        kind = field.type
        same = isinstance(kind, AtomicType) and found.key_type == (
            kind.root, kind.precision, kind.scale
        )  # fmt: skip
        length = (kind.length or 0) if isinstance(kind, AtomicType) else 0
        if not same or length < lengths.get(field.id, 0):
            del wanted[field.id]
        lengths[field.id] = length
    return wanted


def indexed_row_ids(
    source: IndexSource, predicate: Expression, first: Rows, after: Rows
) -> IndexedRowIds | None:
    """Evaluates a predicate with the global indexes.

    Args:
        source: where the indexes are.
        predicate: bound to the reading schema.
        first: first row id of each file that is read.
        after: last row id plus 1 of each.

    Returns:
        The rows that may match; None if no index applies.

    Raises:
        CorruptFileError: an index file is damaged.
        MissingFileError: an index file does not exist.
    """
    if not _is_used(source):
        return None
    names = names_of(predicate)
    files = source.files(source.entries(names, with_sources=False), names, covered_row_ids)
    if not files:
        return None
    read = BitMap64()
    for start, end in zip(first.tolist(), after.tolist(), strict=True):
        read.add_range(start, end)
    return looked_up(predicate, files, read)


def _is_used(source: IndexSource) -> bool:
    """Whether the scan may use global indexes."""
    action = source.options.value(GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    return (
        source.snapshot.index_manifest is not None
        and source.options.value(DATA_EVOLUTION_ENABLED)
        and source.options.value(GLOBAL_INDEX_ENABLED)
        and action is not GlobalIndexColumnUpdateAction.IGNORE
    )


def covered_row_ids(row: Mapping[str, object], path: str) -> tuple[int, tuple[RowRange, ...]]:
    """The number of rows of an index file, and the row ids that it covers.

    Raises:
        CorruptFileError: the entry of the file has no range.
    """
    index = row["global_index"]
    if not isinstance(index, dict):
        raise CorruptFileError(path, "_GLOBAL_INDEX", "must be there")
    start, end = index["row_range_start"], index["row_range_end"] + 1
    if not 0 <= start < end:
        rule = f"must be a range of row ids, not {start} to {end - 1}"
        raise CorruptFileError(path, "_GLOBAL_INDEX of the index manifest", rule)
    return end - start, (RowRange(0, start, end - start),)
