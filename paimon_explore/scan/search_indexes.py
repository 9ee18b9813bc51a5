"""Searches in full-text and vector indexes: the best rows of a table, by row id.

An index file covers a range of row ids, from whose start the rows in the file count; or, as a
primary-key index, data files whose rows are numbered for the search. Which rows no index covers is
part of the result.

Spec: concepts/spec/tableindex, global index; primary-key-table, global index. Seen in: files of
pypaimon 2.1, pypaimon-rust 0.4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import Floats, as_python
from paimon_explore.encoding.global_index.search_scores import Hit
from paimon_explore.encoding.native_libraries import PositionalSource
from paimon_explore.errors import (
    CorruptFileError,
    NotFoundError,
    UnsupportedFeatureError,
    needs_extra,
)
from paimon_explore.fileio.requests_ahead import open_sized
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    FULL_TEXT_INDEX_SEARCH_MODE,
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
    GLOBAL_INDEX_SEARCH_MODE,
    PK_FULL_TEXT_INDEX_COLUMNS,
    PK_VECTOR_INDEX_COLUMNS,
    VECTOR_INDEX_SEARCH_MODE,
)
from paimon_explore.scan.index_lookups import RowRange, covered_row_ids, is_index_of
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.primary_key_index import LiveFiles
from paimon_explore.scan.scored_rows import ScoredRows
from paimon_explore.scan.splits.file_locations import index_file_paths
from paimon_explore.scan.splits.row_id_ranges import row_ranges

FULL_TEXT = "full-text"
_FAST = "fast"
SearchQuery: TypeAlias = (
    str
    | Mapping[str, object]
    | Sequence[float]
    | Sequence[Sequence[float]]
    | npt.NDArray[np.generic]
    | pa.Array  # type: ignore[type-arg]  # it has no type arguments when hints are evaluated
    | pa.ChunkedArray  # type: ignore[type-arg]  # likewise
    | pa.Scalar  # type: ignore[type-arg]  # likewise
)
"""Words or a query of the full-text library, a vector, or several vectors."""
VECTOR_TYPES = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndexQuery:
    """A search in a column: one query for texts, or several ones for vectors.

    Attributes:
        column: its name.
        limit: maximum number of rows of each query.
        words: the query of a full-text index; None for a vector index.
        vectors: n queries of a vector index, d numbers each; None for a full-text index.
        options: of the search in a vector index; see `search_vectors`.
    """

    column: str
    limit: int
    words: str | Mapping[str, object] | None = None
    vectors: Floats | None = None
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of queries."""
        return 1 if self.vectors is None else len(self.vectors)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of indexes that can answer."""
        return (FULL_TEXT,) if self.vectors is None else VECTOR_TYPES

    def finds_all_rows(self, target: ScanTarget) -> bool:
        """Whether the options of the table ask for rows that no index covers."""
        is_text = self.vectors is None
        own = FULL_TEXT_INDEX_SEARCH_MODE if is_text else VECTOR_INDEX_SEARCH_MODE
        options = target.options
        if options.has(own) or not options.has(GLOBAL_INDEX_SEARCH_MODE):
            return options.value(own) != _FAST
        return options.value(GLOBAL_INDEX_SEARCH_MODE) != _FAST

    def hits(
        self, source: PositionalSource, path: str, allowed: BitMap64 | None
    ) -> tuple[str | None, list[list[Hit]]]:
        """Search one file; returns the metric of vectors, and the rows of each query.

        Raises:
            UnsupportedFeatureError: the optional package is not installed.
        """
        if self.vectors is None:
            with needs_extra("full-text", "searching the full-text index", path):
                from paimon_explore.encoding.global_index import full_text_file as text  # noqa: PLC0415 - optional

                query = text.query_text(self.words or "")
                return None, [text.search_full_text(source, path, query, self.limit, allowed)]
        with needs_extra("vindex", "searching the vector index", path):
            from paimon_explore.encoding.global_index import vector_file  # noqa: PLC0415 - optional

            vectors = self.vectors.astype(np.float32)
            return vector_file.search_vectors(
                source, path, vectors, self.limit, allowed, self.options
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IndexSearch:
    """What the indexes of a column find.

    Attributes:
        results: the best rows of each query.
        covered: the rows that an index covers.
        index_type: of the index; None if there is none.
        metric: of the vectors in the index; None if no file was read.
    """

    results: tuple[ScoredRows, ...]
    covered: BitMap64
    index_type: str | None
    metric: str | None


def search_indexes(
    target: ScanTarget, query: IndexQuery, files: ManifestEntries, allowed: BitMap64
) -> IndexSearch:
    """Search the indexes of a column.

    Args:
        target: table, schema and snapshot.
        query: column and query.
        files: the data files, with the numbers of their rows.
        allowed: the only rows to return.

    Raises:
        NotFoundError: the column has no such index.
        UnsupportedFeatureError: updates leave the index outdated, index files have different
            metrics, or the optional package is not installed.
        CorruptFileError: an index file is damaged.
        InvalidInputError: the query is invalid.
    """
    metric, index_type, covered = None, None, BitMap64()
    hits: list[list[Hit]] = [[] for _ in range(query.count)]
    for file in _index_files(target, query, files):
        index_type = file.index_type
        for part in file.ranges:
            covered.add_range(part.first, part.end)
        kept = file.own_rows(allowed)
        if not kept or not file.size:  # of nulls only, Java writes an empty file
            continue
        with open_sized(target.store.file_io, file.path, file.size) as stream:
            source = PositionalSource(stream)
            every = len(kept) == file.row_count
            of, found = query.hits(source, file.path, None if every else kept)
        if metric not in {None, of}:
            raise UnsupportedFeatureError(
                f"searching index files of column {query.column!r} with different metrics, "
                f"{metric!r} and {of!r},",
                hint="Drop the index and build it again.",
            )
        metric = of
        for own, rows in zip(hits, found, strict=True):
            own.extend(file.placed(rows))
    results = [
        ScoredRows.best([row for row, _ in own], [score for _, score in own], query.limit)
        for own in hits
    ]
    return IndexSearch(
        results=tuple(results), covered=covered, index_type=index_type, metric=metric
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexFile:
    """An index file.

    Attributes:
        path: its path.
        size: in bytes.
        index_type: of the index.
        row_count: its rows are numbered below this.
        ranges: the rows that the search may find.
    """

    path: str
    size: int
    index_type: str
    row_count: int
    ranges: Sequence[RowRange]

    def own_rows(self, allowed: BitMap64) -> BitMap64:
        """The allowed rows, by their numbers in the file."""
        found = BitMap64()
        for part in self.ranges:
            inside = BitMap64(range(part.first, part.end)) & allowed
            found |= inside.shift(part.own - part.first)
        return found

    def placed(self, hits: Iterable[Hit]) -> list[Hit]:
        """Hits by the numbers that their rows have in the search."""
        found = []
        for row, score in hits:
            if not 0 <= row < self.row_count:
                rule = f"must be below {self.row_count}, the number of rows of its range"
                raise CorruptFileError(self.path, "row id", rule)
            part = next(one for one in self.ranges if one.own <= row < one.own + one.count)
            found.append((part.first + row - part.own, score))
        return found


def _index_files(
    target: ScanTarget, query: IndexQuery, files: ManifestEntries
) -> Iterator[_IndexFile]:
    """The index files of the column, of one type."""
    field = target.schema.field(query.column)
    entries = (
        IndexEntries.from_rows([])
        if target.snapshot is None
        else target.store.manifests.index_of(target.snapshot)
    )
    is_keyed = target.keys is not None
    wanted = [
        field is not None and is_index_of(row, query.types, {field.id}, with_sources=is_keyed)
        for row in entries.rows()
    ]
    entries = entries.filter(np.array(wanted, np.bool_))
    rows = entries.rows()
    if not rows:
        _check_missing(target, query)
        return
    action = target.options.value(GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    if action is GlobalIndexColumnUpdateAction.IGNORE and not is_keyed:
        raise UnsupportedFeatureError(
            f"searching an index that updates leave outdated, as "
            f"{GLOBAL_INDEX_COLUMN_UPDATE_ACTION.key!r} = 'ignore' says,"
        )
    live = LiveFiles(files, row_ranges(files)[0])
    paths = as_python(index_file_paths(entries, target.schema, target.options, target.store.paths))
    for row, path in zip(rows, map(str, paths), strict=True):
        if row["index_type"] != rows[0]["index_type"]:
            continue
        count, ranges = live.ranges(row, path) if is_keyed else covered_row_ids(row, path)
        if ranges:
            yield _IndexFile(
                path=path,
                size=int(str(row["file_size"])),
                index_type=str(row["index_type"]),
                row_count=count,
                ranges=ranges,
            )


def _check_missing(target: ScanTarget, query: IndexQuery) -> None:
    """Check that a search makes sense without an index file of the column."""
    option = PK_FULL_TEXT_INDEX_COLUMNS if query.vectors is None else PK_VECTOR_INDEX_COLUMNS
    is_keyed = target.keys is not None
    if is_keyed and query.column in target.options.value(option):
        return  # no compaction has built one yet
    has_row_ids = target.options.value(DATA_EVOLUTION_ENABLED)
    if query.finds_all_rows(target) and (has_row_ids or target.hides_level_0):
        return
    column, kind = query.column, query.types[0]
    hint = f"Call maintenance.create_global_index({column!r}, {kind!r})."
    if is_keyed:
        hint = f"Set the option {option.key!r} to {column!r} and compact the table."
    raise NotFoundError(
        "index",
        column,
        message=f"Column {column!r} has no index of type {' or '.join(query.types)}.",
        hint=hint,
    )
