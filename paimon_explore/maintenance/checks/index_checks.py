"""Checks of primary-key indexes: that they name their data files, and find the rows of these."""

from collections.abc import Iterator, Mapping

import numpy as np
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.global_index.column_keys import IndexedRows, indexed_rows
from paimon_explore.encoding.global_index.index_sources import (
    IndexSources,
    decode_sources,
    primary_key_sources,
)
from paimon_explore.encoding.global_index.key_ranges import KeyRange, KeySet
from paimon_explore.errors import FormatError
from paimon_explore.maintenance.checks.findings import Finding
from paimon_explore.maintenance.compaction.primary_key_indexes import column_values
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.index_lookups import IndexFile, IndexSource, RowRange
from paimon_explore.scan.manifest_arrays import column, numbers
from paimon_explore.scan.splits.file_locations import index_file_paths

SOURCES = "a primary-key index has the rows of the data files that it names"
LOOKUPS = "a primary-key index finds the rows of its data files by their values"
_RANGES = 64
"""Maximum number of ranges of keys that are looked up in one index file."""


def check_primary_key_indexes(
    source: IndexSource, live: ManifestEntries, checked: set[str], *, read_rows: bool
) -> Iterator[Finding]:
    """Check the btree and bitmap indexes of a snapshot that name their data files.

    Args:
        source: where the indexes are.
        live: the live files.
        checked: paths of index files that have been read; those that are read now are added.
        read_rows: whether to read the indexed columns and compare them with the index files.

    Raises:
        FormatError: a data file or an index file is damaged.
        StorageError: a file cannot be read.
    """
    columns = [field.name for field in source.schema.fields]
    entries = source.entries(columns, with_sources=True)
    paths = index_file_paths(entries, source.schema, source.options, source.store.paths)
    for row, path in zip(entries.rows(), map(str, as_python(paths)), strict=True):
        index = row["global_index"]
        last = index["row_range_end"] if isinstance(index, dict) else None
        try:
            sources = decode_sources(primary_key_sources(index) or b"", path=path)
        except FormatError as error:
            yield Finding(rule=SOURCES, path=path, what=str(error))
            continue
        if row["row_count"] != sources.row_count or last != sources.row_count - 1:
            what = (
                f"its data files have {sources.row_count} rows, but the index manifest records "
                f"{row['row_count']} rows, the last one with number {last}"
            )
            yield Finding(rule=SOURCES, path=path, what=what)
        elif read_rows and path not in checked:
            checked.add(path)
            yield from _check_lookups(source, row, sources, live)


def _check_lookups(
    source: IndexSource, row: Mapping[str, object], sources: IndexSources, live: ManifestEntries
) -> Iterator[Finding]:
    """Look up the values of the data files in ranges of keys; skips files that are not live."""
    files = _files(sources, live)
    if files is None:
        return
    ranges = [RowRange(0, 0, sources.row_count)]
    columns = [field.name for field in source.schema.fields]
    found = source.files(
        IndexEntries.from_rows([row]), columns, lambda _row, _path: (sources.row_count, ranges)
    )
    for (_, name), indexes in found.items():
        values = column_values(source.store, source.schema, source.options, name, files)
        for index in indexes:
            rows = indexed_rows(values, np.arange(sources.row_count), index.keys)
            count = _wrong_rows(index, rows)
            if count:
                what = f"{count} of {sources.row_count} rows are not found, or by other values"
                yield Finding(rule=LOOKUPS, path=index.bytes.path, what=what)


def _files(sources: IndexSources, live: ManifestEntries) -> ManifestEntries | None:
    """The entries of the data files of an index; None if some are not live."""
    names = map(str, as_python(column(live.table, "file_name")))
    places = {name: at for at, name in enumerate(names)}
    counts = numbers(live.table, "row_count")
    found = [places.get(file.name, -1) for file in sources.files]
    if any(
        at < 0 or counts[at] != file.row_count
        for at, file in zip(found, sources.files, strict=True)
    ):
        return None
    return live.take(np.array(found, np.int64))


def _wrong_rows(index: IndexFile, rows: IndexedRows) -> int:
    """Number of rows that an index finds and should not, or the other way around."""
    opened = index.open()
    wrong = opened.null_rows() ^ rows.nulls
    groups = list(rows.groups())
    step = max(-(-len(groups) // _RANGES), 1)
    for start in range(0, len(groups), step):
        part = groups[start : start + step]
        keys = KeyRange(part[0][0], index.keys.after(part[-1][0]))
        expected = BitMap64([number for _, own in part for number in own])
        wrong |= opened.rows(KeySet.of(keys)) ^ expected
    return len(wrong)
