"""`ChangeStream`: the commits of a table as they are made, for loops and for coroutines."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table.streams.change_batch import ChangeBatch
from paimon_explore.table.streams.stream_consumer import StreamConsumer
from paimon_explore.table.streams.stream_reader import StreamReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a stream waits.

    Attributes:
        poll_s: seconds between looks at the table.
        timeout_s: seconds that a request waits for a batch before the stream ends; None for no end.
        total_s: seconds after which the stream ends in any case; None for no end.
        clock: monotonic seconds.
        sleep: waits for some seconds; None waits such that `close` ends it.
    """

    poll_s: float = 1.0
    timeout_s: float | None = None
    total_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] | None = None

    def left(self, asked: float, began: float) -> float | None:
        """Return how long to wait for the next look; None if the time is over."""
        now = self.clock()
        ends = []
        if self.timeout_s is not None:
            ends.append(asked + self.timeout_s - now)
        if self.total_s is not None:
            ends.append(began + self.total_s - now)
        return None if any(end <= 0 for end in ends) else min([self.poll_s, *ends])


class ChangeStream:
    """The changes of a table, commit by commit, as `table.follow` returns them.

    It is an iterator (`for batch in stream`), an asynchronous iterator (`async for batch in
    stream`), and a context manager that closes it. Nothing is read before a batch is asked for, and
    no further than for this batch. Other threads may call `close`, `ack` and `position`.

    A batch is taken when the next one is asked for. An error, or Ctrl+C, does not end the stream:
    the next request goes on with the first commit that has not been taken, from its first batch.

    >>> import paimon_explore as pe
    >>> with pe.demo().table("demo.events").follow("earliest", timeout=0) as stream:
    ...     for batch in stream:
    ...         batch.snapshot_id, batch.commit_kind, batch.rows["rowkind"].to_pylist()
    (1, 'APPEND', ['+I', '+I'])
    (2, 'APPEND', ['+U'])
    (3, 'APPEND', ['-D'])

    Args:
        name: the name of the table.
        reader: makes the reader, given what to call when a commit has been taken, and when a batch
            is acknowledged.
        consumer: the consumer whose position is stored; None for none.
        pace: how the stream waits.
        auto_ack: whether a batch is acknowledged when the next one is asked for.
    """

    def __init__(
        self,
        name: str,
        reader: Callable[[Callable[[int], None], Callable[[ChangeBatch], None]], StreamReader],
        consumer: StreamConsumer | None,
        pace: Pace,
        *,
        auto_ack: bool,
    ) -> None:
        self.name = name
        self._reader = reader(self._taken, self._acknowledge)
        self._consumer = consumer
        self._pace = pace
        self._auto_ack = auto_ack
        self._parts = self._reader.parts()
        self._failed = False
        self._ended = False
        self._pending: ChangeBatch | None = None
        self._given: ChangeBatch | None = None
        self._acknowledged = 0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._wakers: list[Callable[[], object]] = []
        self._began = pace.clock()
        if consumer is not None and self._reader.taken is not None:
            consumer.move(self._reader.taken + 1)

    @property
    def position(self) -> int | None:
        """The next snapshot whose changes are read: that after the last one that was taken.

        A new stream with `from_=stream.position` goes on there. None before the rows of the state
        that come first have been taken.

        >>> import paimon_explore as pe
        >>> stream = pe.demo().table("demo.events").follow("earliest", timeout=0)
        >>> next(stream).snapshot_id, stream.position
        (1, 1)
        >>> next(stream).snapshot_id, stream.position
        (2, 2)
        """
        taken = self._reader.taken
        return None if taken is None else taken + 1

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows: `rowkind`, then the selected ones."""
        return self._reader.schema

    def ack(self) -> None:
        """Acknowledge all batches that were given: the consumer goes on after them.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.events")
        >>> stream = t.follow(2, timeout=0, consumer="job")
        >>> next(stream).snapshot_id, t.maintenance.consumers["job"].next_snapshot
        (2, 2)
        >>> stream.ack()
        >>> t.maintenance.consumers["job"].next_snapshot
        3
        """
        given = self._given
        if given is not None:
            self._acknowledge(given)

    def close(self) -> None:
        """End the stream, also from another thread; a request that waits returns at once.

        >>> import paimon_explore as pe
        >>> stream = pe.demo().table("demo.events").follow("earliest")
        >>> stream.close()
        >>> list(stream)
        []
        """
        self._closed.set()
        for wake in list(self._wakers):
            with suppress(RuntimeError):  # the loop has ended
                wake()

    def __enter__(self) -> Self:
        """Return the stream."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close the stream."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the stream."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the stream."""
        self.close()

    def __iter__(self) -> Self:
        """Return the stream."""
        return self

    def __next__(self) -> ChangeBatch:
        """Return the next batch; wait for it if there is none yet."""
        asked = self._pace.clock()
        while True:
            self._step()
            found = self._take()
            if found is not None:
                return found
            wait_s = self._wait_s(asked)
            if wait_s is None:
                raise StopIteration
            (self._pace.sleep or self._closed.wait)(wait_s)

    def __aiter__(self) -> Self:
        """Return the stream."""
        return self

    async def __anext__(self) -> ChangeBatch:
        """Return the next batch; tables are read in a thread, the wait does not block the loop."""
        asked = self._pace.clock()
        while True:
            await asyncio.to_thread(self._step)
            found = self._take()
            if found is not None:
                return found
            wait_s = self._wait_s(asked)
            if wait_s is None:
                raise StopAsyncIteration
            await self._sleep(wait_s)

    def __repr__(self) -> str:
        """Return the table, the position and the consumer."""
        position = "at its start" if self.position is None else f"next snapshot {self.position}"
        consumer = "" if self._consumer is None else f", consumer {self._consumer.name!r}"
        state = ", ended" if self._ended or self._closed.is_set() else ""
        return f"<ChangeStream of {self.name}, {position}{consumer}{state}>"

    def _step(self) -> None:
        """Read the next batch into `_pending`, if there is one; one that was not taken is kept."""
        with self._lock:
            if self._pending is not None or self._ended or self._closed.is_set():
                return
            try:
                if self._failed:
                    self._resume()
                self._pending = next(self._parts)
            except StopIteration:
                self._ended = True
            except BaseException:
                self._failed = True
                raise

    def _resume(self) -> None:
        """Go on after an error: it may have come before the position was stored."""
        if self._reader.taken is not None:
            self._taken(self._reader.taken)
        self._parts, self._failed = self._reader.parts(), False

    def _take(self) -> ChangeBatch | None:
        found, self._pending = self._pending, None
        if found is not None and self._closed.is_set():
            return None
        self._given = found or self._given
        return found

    def _wait_s(self, asked: float) -> float | None:
        """How long to wait for the next look; None at the end."""
        if self._ended or self._closed.is_set():
            return None
        if self._consumer is not None:
            self._consumer.renew()
        return self._pace.left(asked, self._began)

    async def _sleep(self, seconds: float) -> None:
        loop, woken = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> object:
            return loop.call_soon_threadsafe(woken.set)

        self._wakers.append(wake)
        try:
            if not self._closed.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), seconds)
        finally:
            self._wakers.remove(wake)

    def _taken(self, number: int) -> None:
        """Store the position when a commit has been taken, or has no rows."""
        if self._consumer is not None and (self._auto_ack or self._given is None):
            self._consumer.move(number + 1)

    def _acknowledge(self, batch: ChangeBatch) -> None:
        """Store the position after a batch, and after commits without rows that follow it."""
        if self._consumer is None or not batch.is_last:
            return
        position = batch.snapshot.id + 1
        if batch is self._given:
            self._given = None
            position = max(position, self.position or position)
        if position > self._acknowledged:
            self._acknowledged = position
            self._consumer.move(position)
