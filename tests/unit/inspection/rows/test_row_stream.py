"""Windows of rows that are read in order."""

from collections.abc import Iterator

import pyarrow as pa

from paimon_explore.inspection.rows.unit_reader import RowStream

SCHEMA = pa.schema([("n", pa.int64())])


class Source:
    """100 rows in batches of 10, which counts how often it is read."""

    def __init__(self) -> None:
        self.starts = 0
        self.batches = 0

    def __call__(self) -> Iterator[pa.RecordBatch]:
        self.starts += 1
        return self._rows()

    def _rows(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, 100, 10):
            self.batches += 1
            yield pa.record_batch({"n": list(range(start, start + 10))}, schema=SCHEMA)


def values(stream: RowStream, offset: int, count: int) -> list[object]:
    found: list[object] = stream.window(offset, count).rows["n"].to_pylist()
    return found


def test_only_what_is_asked_is_read_and_kept_rows_are_not_read_again() -> None:
    source = Source()
    stream = RowStream(SCHEMA, source)
    assert values(stream, 0, 5) == [0, 1, 2, 3, 4]
    assert (source.starts, source.batches) == (1, 1)
    assert values(stream, 25, 10) == list(range(25, 35))
    assert values(stream, 3, 4) == [3, 4, 5, 6]
    assert (source.starts, source.batches) == (1, 4)


def test_the_end_is_told_when_it_is_reached() -> None:
    stream = RowStream(SCHEMA, Source())
    assert stream.window(0, 50).end is None
    last = stream.window(95, 50)
    assert (last.rows["n"].to_pylist(), last.end) == ([95, 96, 97, 98, 99], 100)
    assert stream.window(200, 5).rows.num_rows == 0


def test_memory_is_bounded_and_dropped_rows_are_read_again() -> None:
    source = Source()
    stream = RowStream(SCHEMA, source, max_bytes=200)
    assert values(stream, 90, 10) == list(range(90, 100))
    assert len(stream._batches) <= 3
    assert values(stream, 0, 3) == [0, 1, 2]
    assert source.starts == 2


def test_a_distant_row_is_reached_in_steps() -> None:
    stream = RowStream(SCHEMA, Source())
    steps = 0
    while stream.window(95, 1, max_skipped=20).is_partial:
        steps += 1
    assert steps == 4
    assert values(stream, 95, 1) == [95]
