"""Which files are closed, and which rows leave memory, when a write has many buckets."""

from dataclasses import dataclass, field

import pyarrow as pa

from paimon_explore.write.buckets.bucket_writers import MAX_OPEN_FILES, BucketWriters
from paimon_explore.write.data_file_writer import LazySize


@dataclass(eq=False)
class Writer:
    """A writer of one bucket that only counts."""

    bucket: int
    ended: list[int]
    buffered: LazySize = field(default_factory=LazySize)
    buffered_rows: int = 0
    is_open: bool = False
    flushed: list[int] = field(default_factory=list)

    def write(self) -> None:
        self.is_open = True

    def flush(self) -> None:
        self.flushed.append(self.buffered.exact)
        self.buffered = LazySize()
        self.is_open = True

    def end_file(self) -> None:
        self.is_open = False
        self.ended.append(self.bucket)

    def abort(self) -> None:
        self.end_file()


def half_of_a_batch(size: int) -> pa.RecordBatch:
    """Rows of a size in bytes, whose limit is twice as large."""
    return pa.record_batch({"x": pa.array([0] * (2 * size), pa.int8())}).slice(0, size)


def test_the_file_that_was_used_longest_ago_is_closed_first() -> None:
    ended: list[int] = []
    writers = BucketWriters(lambda _, bucket: Writer(bucket, ended))
    for bucket in (*range(MAX_OPEN_FILES), 0, 1, *range(MAX_OPEN_FILES, MAX_OPEN_FILES + 3)):
        writer = writers.of(b"", bucket)
        writer.write()
        writers.keep_open(writer)
    assert ended == [2, 3, 4]


def test_the_largest_buffers_are_flushed_until_the_rest_fits() -> None:
    ended: list[int] = []
    writers = BucketWriters(lambda _, bucket: Writer(bucket, ended), budget_bytes=10)
    for bucket in (*range(MAX_OPEN_FILES), *(100, 101, 102)):
        writers.of(b"", bucket).is_open = bucket < MAX_OPEN_FILES
    for bucket, size in ((100, 4), (101, 7), (102, 6)):
        writers.of(b"", bucket).buffered.add(half_of_a_batch(size))
    writers.flush_over_budget()
    assert [writers.of(b"", bucket).flushed for bucket in (100, 101, 102)] == [[], [7], []]
    assert ended == [101]
    writers.flush_over_budget()
    assert ended == [101]


def test_a_writer_is_aborted_once() -> None:
    ended: list[int] = []
    writers = BucketWriters(lambda _, bucket: Writer(bucket, ended))
    writers.of(b"", 1)
    writers.abort()
    writers.abort()
    assert (ended, list(writers)) == ([1], [])
