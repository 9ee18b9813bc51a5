"""The row groups of a file, and where their column chunks are."""

from collections.abc import Callable, Sequence

from paimon_explore.encoding.data_file_reader import Span
from paimon_explore.encoding.parquet.arrow_reader import FileMetaData
from paimon_explore.encoding.parts_ahead import Range


def chunk_ranges(
    metadata: FileMetaData, group: int, is_wanted: Callable[[str], bool]
) -> list[Range]:
    """Return the parts of a file with the wanted column chunks of a row group.

    Args:
        metadata: of the file.
        group: the row group.
        is_wanted: whether the leaf column of a dotted path is wanted.
    """
    found = metadata.row_group(group)
    ranges = []
    for leaf in range(found.num_columns):
        if is_wanted(metadata.schema.column(leaf).path):
            chunk = found.column(leaf)
            first = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset:
                first = min(first, chunk.dictionary_page_offset)
            ranges.append((first, chunk.total_compressed_size))
    return ranges


def under(prefixes: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a dotted path is one of these or a part of one.

    >>> [under(["a", "b.c"])(path) for path in ("a", "a.x", "ab", "b", "b.c.list")]
    [True, True, False, False, True]
    """
    exact = frozenset(prefixes)
    starts = tuple(f"{prefix}." for prefix in prefixes)
    return lambda path: path in exact or path.startswith(starts)


def spans_of(metadata: FileMetaData) -> tuple[Span, ...]:
    """Return the row groups as spans.

    Raises:
        ValueError: a row group lacks a column.
    """
    spans = []
    first = 0
    for group in range(metadata.num_row_groups):
        found = metadata.row_group(group)
        if found.num_columns != metadata.num_columns:
            raise ValueError(f"row group {group} must have {metadata.num_columns} column chunks")
        rows = found.num_rows
        spans.append(Span(first=first, rows=rows))
        first += rows
    return tuple(spans)
