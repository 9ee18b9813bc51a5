"""Values that divide a file sorted by key, from the statistics of row groups and pages."""

from collections.abc import Iterator

from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.data_file_reader import (
    Bounded,
    OpenDataFile,
    Paged,
    PagesError,
    StoredColumn,
)
from paimon_explore.errors import PaimonError
from paimon_explore.read.data_file import DataFileSource, ReadRequest, open_rows


def split_points(source: DataFileSource, field: DataField, rows: int) -> list[object]:
    """Ascending values of the first key column, about `rows` rows apart.

    The rows between two values need not be exactly those between two row groups or pages: any
    values divide the keys.

    Args:
        source: a file sorted by key.
        field: the first key column.
        rows: minimum number of rows between two values.

    Returns:
        The values; none if the file has no statistics or cannot be read, which is reported when
        its rows are read.
    """
    try:
        with open_rows(source, ReadRequest(fields=(field,), from_keys=True)) as opened:
            columns = opened.columns(opened.request)
            if not columns.stored or not columns.unchanged[0]:
                return []
            candidates = list(_candidates(opened.file, columns.stored[0], rows))
    except PaimonError:
        return []
    found: list[object] = []
    last = 0
    for first, value in candidates:
        if value is not None and first - last >= rows:
            found.append(value)
            last = first
    return found


def _candidates(
    file: OpenDataFile, column: StoredColumn, rows: int
) -> Iterator[tuple[int, object]]:
    """Row positions, ascending, each with a lower bound of the values from there on."""
    bounds = file.bounds(column) if isinstance(file, Bounded) else None
    for index, span in enumerate(file.spans):
        if bounds is not None and index:
            yield span.first, bounds.minimum[index].as_py()
        if span.rows > rows:
            yield from _page_candidates(file, column, index)


def _page_candidates(
    file: OpenDataFile, column: StoredColumn, index: int
) -> Iterator[tuple[int, object]]:
    pages = file.paged((column,), index) if isinstance(file, Paged) else None
    if pages is None:
        return
    try:
        found = pages.bounds(column)
    except PagesError:
        return  # the statistics of the row groups are left
    if found is None:
        return
    firsts = found.firsts.tolist()
    for page in range(1, len(found.bounds.minimum)):
        yield firsts[page], found.bounds.minimum[page].as_py()
