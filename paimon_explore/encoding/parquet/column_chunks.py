"""Where the column chunks of a row group are in its file."""

from collections.abc import Callable, Sequence

import pyarrow.parquet as pq

from paimon_explore.encoding.parts_ahead import Range


def chunk_ranges(
    metadata: pq.FileMetaData, group: int, is_wanted: Callable[[str], bool]
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
