"""Reads the rows of a data file at some positions, without decoding the rows between them.

Of Parquet files only the pages with these rows are read, if the row group is large enough for that
to pay off; of other formats the stripes or blocks with these rows.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints, concat_arrays, take_rows
from paimon_explore.encoding.data_file_reader import (
    OpenDataFile,
    Paged,
    PagesError,
    PositionedBatch,
    StoredColumn,
    decode_dictionary,
)
from paimon_explore.read.data_file import DataFileSource, ReadRequest, open_rows

_BATCH_ROWS = 65_536


def read_rows_at(source: DataFileSource, request: ReadRequest, positions: Ints) -> pa.Table:
    """Read rows by position.

    Args:
        source: the file.
        request: the columns; its filters by position and predicate are ignored.
        positions: ascending row positions; those beyond the end of the file are ignored.

    Returns:
        The columns of `result_schema(request)`.

    Raises:
        MissingFileError: the file does not exist.
        CorruptFileError: the bytes break the format.
        UnsupportedFeatureError: the format is not supported.
    """
    with open_rows(source, request) as rows:
        columns = rows.columns(rows.request)
        batches = [
            columns.result(batch, found)
            for batch, found in _rows_at(rows.file, columns.stored, positions)
        ]
    return pa.Table.from_batches(batches, schema=columns.schema)


def _rows_at(
    file: OpenDataFile, stored: Sequence[StoredColumn], positions: Ints
) -> Iterator[tuple[PositionedBatch, Ints]]:
    for index, span in enumerate(file.spans):
        start, end = np.searchsorted(positions, (span.first, span.first + span.rows))
        if start == end:
            continue
        own = positions[start:end]
        columns, count = _of_span(file, stored, index, own)
        if count:
            batch = PositionedBatch(first=int(own[0]), rows=count, columns=tuple(columns))
            yield batch, own[:count]


def _of_span(
    file: OpenDataFile, stored: Sequence[StoredColumn], index: int, rows: Ints
) -> tuple[list[Column], int]:
    """The columns at some positions of a span, and how many of the positions exist."""
    paged = _paged(file, stored, index, rows)
    rest = [column for column in stored if column not in paged]
    if not rest and stored:
        return [paged[column] for column in stored], len(rows)
    streamed, count = _streamed(file, rest, index, rows)
    found = {**paged, **streamed}
    return [found[column].slice(0, count) for column in stored], count


def _paged(
    file: OpenDataFile, stored: Sequence[StoredColumn], index: int, rows: Ints
) -> dict[StoredColumn, Column]:
    """The columns whose pages can be decoded individually."""
    pages = file.paged(stored, index) if isinstance(file, Paged) and stored else None
    found: dict[StoredColumn, Column] = {}
    if pages is None:
        return found
    for column in stored:
        try:
            (values,) = pages.values((column,), rows)
        except PagesError:
            continue  # nested columns, for example
        found[column] = decode_dictionary(values)
    return found


def _streamed(
    file: OpenDataFile, stored: Sequence[StoredColumn], index: int, rows: Ints
) -> tuple[dict[StoredColumn, Column], int]:
    parts: list[list[Column]] = [[] for _ in stored]
    count = 0
    for batch in file.batches(stored, (index,), _BATCH_ROWS):
        end = batch.first + batch.rows
        start, stop = np.searchsorted(rows, (batch.first, end))
        if start < stop:
            within = rows[start:stop] - batch.first
            count += len(within)
            for part, column in zip(parts, batch.columns, strict=True):
                part.append(decode_dictionary(take_rows(column, within)))
        if end > int(rows[-1]):
            break
    if not count:
        return {}, 0
    joined = [concat_arrays(part) for part in parts]
    return dict(zip(stored, joined, strict=True)), count
