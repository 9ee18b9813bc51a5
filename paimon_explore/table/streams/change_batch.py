"""The batches of a stream: some of the changes of one commit."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from datetime import datetime

import pyarrow as pa

from paimon_explore.data_types.local_time import local_moment
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ChangeBatch:
    """Changes of one commit, or rows of the state that comes first.

    Attributes:
        snapshot: the snapshot of the commit, or that of the state.
        rows: the changed rows: a column `rowkind` (`+I`, `-U`, `+U`, `-D`), then the selected
            columns. The rows of a state are `+I`; in mode `delta` it ends with the records of
            postponed buckets, of which some may be deletes.
        part: the number of the batch in its commit, from 0.
        is_last: whether it is the last batch of its commit.
        is_state: whether its rows are those of the table at the snapshot, not the changes.
    """

    snapshot: Snapshot
    rows: pa.Table
    part: int
    is_last: bool
    is_state: bool
    _acknowledge: Callable[["ChangeBatch"], None] = field(repr=False)

    @property
    def snapshot_id(self) -> int:
        """The id of the snapshot."""
        return self.snapshot.id

    @property
    def time(self) -> datetime:
        """The time of the commit, in the local time zone."""
        return local_moment(self.snapshot.time_millis)

    @property
    def commit_kind(self) -> str:
        """The kind of the commit: `APPEND`, `OVERWRITE`, `COMPACT` or `ANALYZE`."""
        return self.snapshot.commit_kind.value

    @property
    def watermark(self) -> int | None:
        """The watermark of the snapshot, epoch milliseconds; None for none."""
        return self.snapshot.watermark

    def ack(self) -> None:
        """Acknowledge the batch: the consumer of the stream goes on after it.

        The position moves with the last batch of a commit. An acknowledgement includes all earlier
        batches.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.events")
        >>> stream = t.follow("earliest", timeout=0, consumer="sink", auto_ack=False)
        >>> for batch in stream:
        ...     if batch.snapshot_id < 3:
        ...         batch.ack()  # after the rows are stored elsewhere
        >>> t.maintenance.consumers["sink"].next_snapshot
        3
        """
        self._acknowledge(self)

    def __copy__(self) -> "ChangeBatch":
        """Return itself, since it does not change."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all but the stream: only the batch itself can be acknowledged."""
        return _without_stream, (self.snapshot, self.rows, self.part, self.is_last, self.is_state)

    def __repr__(self) -> str:
        """Return the snapshot, and the number and columns of the rows."""
        columns = sanitized(choices(self.rows.column_names, limit=8))
        of = "rows" if self.is_state else "changes"
        part = "" if self.is_last and not self.part else f", part {self.part}"
        return f"{self.rows.num_rows:,} {of} of {self.snapshot!r}{part}\n  columns: {columns}"


def _without_stream(
    snapshot: Snapshot,
    rows: pa.Table,
    part: int,
    is_last: bool,  # noqa: FBT001 - as pickled
    is_state: bool,  # noqa: FBT001
) -> ChangeBatch:
    return ChangeBatch(
        snapshot=snapshot,
        rows=rows,
        part=part,
        is_last=is_last,
        is_state=is_state,
        _acknowledge=_refuse_acknowledgement,
    )


def _refuse_acknowledgement(batch: ChangeBatch) -> None:
    raise InvalidInputError(
        f"A copy of the changes of snapshot {batch.snapshot_id} cannot acknowledge them.",
        hint="Call ack() of the batch that the stream returned, in its process.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The size of a batch.

    Attributes:
        rows: maximum number of rows.
        size: maximum number of bytes in memory, as far as a single row is not larger.
    """

    rows: int = 1_000_000
    size: int = 64 << 20

    def batches(
        self, found: Iterable[pa.RecordBatch], schema: pa.Schema
    ) -> Iterator[tuple[pa.Table, bool]]:
        """Put record batches together, or divide them; with each whether it is the last.

        At most one batch and what was decoded beyond it are in memory.
        """
        group: list[pa.RecordBatch] = []
        rows = size = 0
        for piece in self._pieces(found):
            is_full = rows + piece.num_rows > self.rows or size + piece.nbytes > self.size
            if group and is_full:
                yield pa.Table.from_batches(group, schema=schema), False
                group, rows, size = [], 0, 0
            group.append(piece)
            rows, size = rows + piece.num_rows, size + piece.nbytes
        if group:
            yield pa.Table.from_batches(group, schema=schema), True

    def _pieces(self, found: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in found:
            count = batch.num_rows
            by_size = count * self.size // max(batch.nbytes, 1)
            step = max(1, min(self.rows, by_size))
            for first in range(0, count, step):
                yield batch.slice(first, step)
