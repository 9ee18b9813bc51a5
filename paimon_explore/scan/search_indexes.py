"""Searches in full-text and vector indexes: the best rows of a table, by row id.

Only rows that an index covers are searched. An index file covers a range of row ids; the rows in
the file count from the start of the range.

Spec: concepts/spec/tableindex, global index. Seen in: files of pypaimon 2.1, pypaimon-rust 0.4.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.global_index.index_sources import primary_key_sources
from paimon_explore.encoding.native_libraries import PositionalSource, missing_library
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.versioned_reads import open_sized
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import (
    FULL_TEXT_INDEX_SEARCH_MODE,
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
    VECTOR_INDEX_SEARCH_MODE,
)
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.file_locations import index_file_paths

FULL_TEXT = "full-text"
_FAST = "fast"
VECTOR_TYPES = ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexQuery:
    """A search in the index files of a column.

    Attributes:
        column: its name.
        limit: maximum number of rows.
        words: the query of a full-text index; None for a vector index.
        vector: the query of a vector index; None for a full-text index.
    """

    column: str
    limit: int
    words: str | Mapping[str, object] | None = None
    vector: npt.NDArray[np.float32] | None = None

    @property
    def types(self) -> tuple[str, ...]:
        """The types of indexes that can answer."""
        return VECTOR_TYPES if self.words is None else (FULL_TEXT,)

    def hits(
        self, source: PositionalSource, path: str, allowed: BitMap64 | None
    ) -> list[tuple[int, float]]:
        """Search one file.

        Raises:
            UnsupportedFeatureError: the optional package is not installed.
        """
        extra = "vindex" if self.words is None else "full-text"
        try:
            if self.words is not None:
                from paimon_explore.encoding.global_index import full_text_file as text  # noqa: PLC0415 - optional

                query = text.query_text(self.words)
                return text.search_full_text(source, path, query, self.limit, allowed)
            from paimon_explore.encoding.global_index import vector_file  # noqa: PLC0415 - optional

            if self.vector is None:
                raise InvalidInputError("A search needs a text or a vector.")
            return vector_file.search_vectors(source, path, self.vector, self.limit, allowed)
        except ImportError as error:
            what = f"searching the {'vector' if self.words is None else 'full-text'} index"
            raise missing_library(what, path, error, extra=extra) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRowIds:
    """The best rows, the best first.

    Attributes:
        row_ids: n row ids.
        scores: n scores; higher is better.
    """

    row_ids: tuple[int, ...]
    scores: tuple[float, ...]


def search_indexes(target: ScanTarget, query: IndexQuery, allowed: BitMap64) -> ScoredRowIds:
    """Search the indexes of a column.

    Args:
        target: table, schema and snapshot.
        query: column and query.
        allowed: the only row ids to return.

    Raises:
        NotFoundError: the column has no such index.
        UnsupportedFeatureError: updates leave the index outdated, the search mode asks for rows
            without index, or the optional package is not installed.
        CorruptFileError: an index file is damaged.
        InvalidInputError: the query is invalid.
    """
    found: list[tuple[float, int]] = []
    files = list(_files(target, query))
    _check_mode(target, query, allowed, [(start, end) for _, _, start, end in files])
    for path, size, start, end in files:
        inside = allowed & BitMap64(range(start, end))
        if not inside:
            continue
        kept = None if len(inside) == end - start else BitMap64(inside.shift(-start))
        with open_sized(target.store.file_io, path, size) as stream:
            hits = query.hits(PositionalSource(stream), path, kept)
        for row, score in hits:
            if not 0 <= row < end - start:
                rule = f"must be below {end - start}, the number of rows of its range"
                raise CorruptFileError(path, "row id", rule)
            found.append((-score, start + row))
    best = sorted(found)[: query.limit]
    return ScoredRowIds(
        row_ids=tuple(row for _, row in best), scores=tuple(-score for score, _ in best)
    )


def _check_mode(
    target: ScanTarget, query: IndexQuery, allowed: BitMap64, covered: Iterable[tuple[int, int]]
) -> None:
    """Check that rows without index need not be searched."""
    is_vector = query.words is None
    option = VECTOR_INDEX_SEARCH_MODE if is_vector else FULL_TEXT_INDEX_SEARCH_MODE
    mode = target.options.value(option)
    if mode == _FAST:
        return
    left = BitMap64(allowed)
    for start, end in covered:
        left -= BitMap64(range(start, end))
    if left:
        raise UnsupportedFeatureError(
            f"searching rows without index ({len(left):,}), as {option.key!r} = {mode!r} asks,",
            hint="Build the index again, which adds these rows, or pass "
            f"options={{{option.key!r}: {_FAST!r}}} to leave them out.",
        )


def _files(target: ScanTarget, query: IndexQuery) -> Iterator[tuple[str, int, int, int]]:
    """Path, size, first row id and last row id plus 1 of the index files of the column."""
    field = target.schema.field(query.column)
    entries = (
        IndexEntries.from_rows([])
        if target.snapshot is None or field is None
        else target.store.manifests.index_of(target.snapshot)
    )
    rows = entries.rows()
    kinds = {
        str(row["index_type"]): None
        for row in rows
        if field is not None and _is_of(row, field.id, query.types)
    }
    if not kinds or field is None:
        raise NotFoundError(
            "index",
            query.column,
            message=f"Column {query.column!r} has no index of type {' or '.join(query.types)}.",
            hint=f"Call maintenance.create_global_index({query.column!r}, {query.types[0]!r}).",
        )
    action = target.options.value(GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    if action is GlobalIndexColumnUpdateAction.IGNORE:
        raise UnsupportedFeatureError(
            f"searching an index that updates leave outdated, as "
            f"{GLOBAL_INDEX_COLUMN_UPDATE_ACTION.key!r} = 'ignore' says,"
        )
    chosen = next(iter(kinds))
    paths = as_python(index_file_paths(entries, target.schema, target.options, target.store.paths))
    for row, path in zip(rows, paths, strict=True):
        index = row["global_index"]
        if not _is_of(row, field.id, (chosen,)) or not isinstance(index, dict):
            continue
        start, end, size = index["row_range_start"], index["row_range_end"] + 1, row["file_size"]
        if not 0 <= start < end or not isinstance(size, int):
            rule = f"must be a range of row ids, not {start} to {end - 1}"
            raise CorruptFileError(str(path), "_GLOBAL_INDEX of the index manifest", rule)
        yield str(path), size, start, end


def _is_of(row: Mapping[str, object], field_id: int, types: tuple[str, ...]) -> bool:
    index = row["global_index"]
    return (
        isinstance(index, dict)
        and row["index_type"] in types
        and index["index_field_id"] == field_id
        and not index["extra_field_ids"]
        and primary_key_sources(index) is None
    )
