"""Size of buffered rows, measured only when it matters.

Measuring the rows of a batch exactly takes as long as copying a small one, so that writers compare
an upper limit first.
"""

import pyarrow as pa


class LazySize:
    """The size of batches in bytes."""

    __slots__ = ("_measured", "_unmeasured", "limit")

    def __init__(self) -> None:
        self._measured = 0
        self._unmeasured: list[pa.RecordBatch | pa.Table] = []
        self.limit = 0
        """An upper limit of the size: of all buffers of the batches, each counted once a batch."""

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Add a batch."""
        self._unmeasured.append(rows)
        self.limit += rows.get_total_buffer_size()

    @property
    def exact(self) -> int:
        """Return the size; afterwards the limit is exact, too."""
        self._measured += sum(rows.nbytes for rows in self._unmeasured)
        self._unmeasured.clear()
        self.limit = self._measured
        return self._measured
