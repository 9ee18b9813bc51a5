"""The consumer of a stream: its position, stored with the table as Java stores it.

The file of a consumer holds the next snapshot to read; snapshots from there on do not expire. It is
written when a stream with a new name starts with changes, and whenever the stream moves on. While
it waits, the file is written again from time to time, so that the consumer does not expire.

A consumer has one reader. Each stream starts at the stored position and reads all commits from
there; work is not shared. Before a stream stores a position it checks that the file holds what it
stored last, so of two streams with one name the slower one fails. The check and the write are not
atomic: streams that move at the same moment may both go on until the next commit. A consumer that
was deleted or has expired is written anew.
"""

import time
from collections.abc import Callable

from paimon_explore.errors import ConsumerConflictError
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import CONSUMER_EXPIRATION_TIME
from paimon_explore.store.references import Consumers

_LIVES = 3
"""How often a waiting stream writes its position before the consumer would expire."""


class StreamConsumer:
    """The stored position of a stream.

    Args:
        consumers: the consumers of the branch.
        name: the id of the consumer.
        options: table options, for the expiration time.
        stored: the position with which the stream starts; None for a new consumer.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        consumers: Consumers,
        name: str,
        options: TableOptions,
        stored: Consumer | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._consumers = consumers
        self._stored = stored
        self._tried = stored
        self._clock = clock
        self._written = clock()
        expiration = options.value(CONSUMER_EXPIRATION_TIME)
        self._renewal_s = None if expiration is None else expiration / 1000 / _LIVES

    def move(self, position: int) -> None:
        """Store the next snapshot to read; nothing is written if it is stored already.

        Raises:
            ConsumerConflictError: something else has moved the consumer.
        """
        if self._stored is None or self._stored.next_snapshot != position:
            self._write(Consumer(next_snapshot=position))

    def renew(self) -> None:
        """Write the position again if the consumer would expire soon."""
        if self._renewal_s is None or self._stored is None:
            return
        if self._clock() - self._written >= self._renewal_s:
            self._write(self._stored)

    def _write(self, consumer: Consumer) -> None:
        found = self._consumers.find(self.name)
        known = (self._stored, self._tried)  # a write that failed may have taken effect
        if found is not None and self._stored is not None and found not in known:
            raise ConsumerConflictError(
                f"The consumer {self.name!r} was moved to snapshot {found.next_snapshot} by "
                f"another stream or by hand; this stream had {self._stored.next_snapshot}.",
                position=consumer.next_snapshot,
                hint="A consumer has one reader: give each stream its own name. To go on from the "
                "stored position, start a new stream.",
            )
        self._tried = consumer
        self._consumers.save(self.name, consumer)
        self._stored, self._written = consumer, self._clock()
