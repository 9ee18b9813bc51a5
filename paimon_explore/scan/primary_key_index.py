"""Primary-key indexes in scans: the rows of data files that a predicate allows.

An index file (btree or bitmap) covers whole data files of a bucket, which its source metadata names
with their number of rows. It is built with compaction, so files of level 0 and files that were only
moved to another level have none. Data files do not change, so a lookup is right for every file that
is still live, whatever happened to others of its level. Deletion vectors apply to the rows found,
and the predicate is evaluated again.

All rows of a file are read if no index covers it; if an index cannot be trusted or would not pay
off, see `global_index`; or if its rows are merged with those of other files. The table must have
deletion vectors, so that visible files need no merge.

Spec: primary-key-table, global index. Seen in: golden java200 `pk_index_btree`.
"""

from collections.abc import Collection, Mapping
from itertools import accumulate, pairwise

import numpy as np
from pyroaring import BitMap, BitMap64

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.global_index.index_sources import (
    IndexSources,
    decode_sources,
    primary_key_sources,
)
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import (
    GLOBAL_INDEX_ENABLED,
    PK_BITMAP_INDEX_COLUMNS,
    PK_BTREE_INDEX_COLUMNS,
    TableOptions,
)
from paimon_explore.scan.index_lookups import (
    BITMAP,
    BTREE,
    INDEX_TYPES,
    IndexedRowIds,
    IndexSource,
    RowRange,
    looked_up,
)
from paimon_explore.scan.manifest_arrays import Mask, Rows, byte_rows, column, numbers
from paimon_explore.scan.predicate.expression import Expression, names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPositions:
    """The result of primary-key indexes for a predicate.

    Attributes:
        rows: the rows that may match, numbered through the files.
        starts: number of the first row of each file, then the number of all rows: n + 1 values.
    """

    rows: IndexedRowIds
    starts: Rows

    @property
    def kept(self) -> Mask:
        """True for each of the n files that may have a matching row."""
        return self._counts > 0

    @property
    def _counts(self) -> Rows:
        ends = self.starts.tolist()
        found = self.rows.row_ids
        counts = [found.range_cardinality(*part) for part in pairwise(ends)]
        return np.array(counts, np.int64)

    def positions(self, entries: ManifestEntries) -> Mapping[str, BitMap]:
        """The positions to read by file name, for files that are not read as a whole.

        Args:
            entries: the n files.
        """
        chosen: dict[str, BitMap] = {}
        names = map(str, as_python(column(entries.table, "file_name")))
        found = zip(names, self._counts, self.starts[:-1], self.starts[1:], strict=True)
        for name, count, start, end in found:
            if 0 < count < end - start:
                own = BitMap64()
                own.add_range(int(start), int(end))
                own &= self.rows.row_ids
                numbers_of_rows = np.frombuffer(own.to_array(), np.uint64)
                chosen[name] = BitMap((numbers_of_rows - np.uint64(start)).astype(np.uint32))
        return chosen


def indexed_positions(
    source: IndexSource, predicate: Expression, entries: ManifestEntries
) -> IndexedPositions | None:
    """Evaluates a predicate with the primary-key indexes of files that need no merge.

    Args:
        source: where the indexes are.
        predicate: bound to the reading schema.
        entries: the n files that are read.

    Returns:
        The rows that may match; None if no index applies.

    Raises:
        CorruptFileError: an index file or its entry is damaged.
        MissingFileError: an index file does not exist.
    """
    types = _types(source.options, names_of(predicate))
    if not types or not source.options.value(GLOBAL_INDEX_ENABLED):
        return None
    row_counts = numbers(entries.table, "row_count")
    starts: Rows = np.concatenate([[0], np.cumsum(row_counts)]).astype(np.int64)
    live = LiveFiles(entries, starts)
    files = source.files(source.entries(types, with_sources=True), types, live.ranges)
    configured = {
        (kind, name): found for (kind, name), found in files.items() if types[name] == kind
    }
    if not configured:
        return None
    read = BitMap64()
    read.add_range(0, int(starts[-1]))
    rows = looked_up(predicate, configured, read)
    return None if rows is None else IndexedPositions(rows=rows, starts=starts)


def _types(options: TableOptions, names: Collection[str]) -> Mapping[str, str]:
    """The type of the index of each column that has one by the options."""
    wanted = ((PK_BTREE_INDEX_COLUMNS, BTREE), (PK_BITMAP_INDEX_COLUMNS, BITMAP))
    return {
        name: kind for option, kind in wanted for name in options.value(option) if name in names
    }


class LiveFiles:
    """The files that a scan or search reads, with the numbers of their rows.

    Args:
        entries: n files.
        starts: number of the first row of each.
    """

    def __init__(self, entries: ManifestEntries, starts: Rows) -> None:
        table = entries.table
        places = zip(
            byte_rows(column(table, "partition")),
            numbers(table, "bucket").tolist(),
            map(str, as_python(column(table, "file_name"))),
            strict=True,
        )
        counts = numbers(table, "row_count").tolist()
        self._rows: dict[tuple[object, ...], tuple[int, int]] = dict(
            zip(places, zip(starts.tolist(), counts, strict=False), strict=True)
        )

    def ranges(self, row: Mapping[str, object], path: str) -> tuple[int, list[RowRange]]:
        """The rows of these files that an index file covers."""
        index = row["global_index"]
        try:
            sources = decode_sources(primary_key_sources(index) or b"", path=path)
        except UnsupportedVersionError:
            return 0, []
        _check_row_count(row, sources, path)
        found = []
        begins = accumulate((file.row_count for file in sources.files), initial=0)
        for begin, file in zip(begins, sources.files, strict=False):
            start, count = self._rows.get((row["partition"], row["bucket"], file.name), (0, -1))
            if count == file.row_count and count:
                found.append(RowRange(begin, start, count))
        return sources.row_count, found


def _check_row_count(row: Mapping[str, object], sources: IndexSources, path: str) -> None:
    index = row["global_index"]
    count = sources.row_count
    has_all_rows = row["index_type"] in INDEX_TYPES  # vector indexes count those with a vector
    if (
        (has_all_rows and row["row_count"] != count)
        or index["row_range_start"] != 0  # type: ignore[index]  # it has sources
        or index["row_range_end"] != count - 1  # type: ignore[index]  # it has sources
    ):
        rule = f"must have the {count} rows of its source files"
        raise CorruptFileError(path, "_GLOBAL_INDEX of the index manifest", rule)
