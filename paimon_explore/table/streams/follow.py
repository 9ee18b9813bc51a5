"""Opens a stream of changes; `Table.follow` and the command `tail` use it."""

from dataclasses import replace
from functools import partial

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import CONTINUOUS_DISCOVERY_INTERVAL
from paimon_explore.metadata.options.tag_options import CONSUMER_ID, CONSUMER_IGNORE_PROGRESS
from paimon_explore.scan.stream_start import after
from paimon_explore.table.streams.change_stream import ChangeStream, Pace
from paimon_explore.table.streams.stream_consumer import StreamConsumer
from paimon_explore.table.streams.stream_position import StreamPoints
from paimon_explore.table.streams.stream_reader import StreamReader, StreamRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """How a table is followed; see `Table.follow`.

    Attributes:
        name: the name of the table.
        from_: the start.
        full: whether the rows at the start come first.
        until: the end.
        consumer: the id of the consumer; None for the option `consumer-id`.
        auto_ack: whether asking for the next batch acknowledges the one before.
        poll_s: seconds between looks at the table; None for the option of the table, or 1.
    """

    name: str
    from_: object = None
    full: bool = False
    until: object = None
    consumer: str | None = None
    auto_ack: bool = True
    poll_s: float | None = None


def follow(request: StreamRequest, following: Following, pace: Pace) -> ChangeStream:
    """Open a stream. The start and the end are found now, not when the first batch is asked for.

    Raises:
        NotFoundError: there is no such table, snapshot or tag.
        InvalidInputError: no start position, unknown columns, or a filter that cannot be parsed.
    """
    if following.from_ is not None and request.start_options is None:
        request = replace(request, start_options={})
    target = request.target()
    changes = request.reader(target)
    options = target.options
    points = StreamPoints(changes)
    consumers = target.store.consumers
    name = options.value(CONSUMER_ID) if following.consumer is None else following.consumer
    stored = None if name is None else consumers.find(name)
    if stored is None or options.value(CONSUMER_IGNORE_PROGRESS):
        start = points.start(following.from_, full=following.full)
    else:
        start = after(stored.next_snapshot - 1)
    until = points.end(following.until)

    poll_s = following.poll_s
    if poll_s is None and options.has(CONTINUOUS_DISCOVERY_INTERVAL):
        poll_s = options.value(CONTINUOUS_DISCOVERY_INTERVAL) / 1000
    return ChangeStream(
        following.name,
        partial(StreamReader, request, changes, start, until),
        None if name is None else StreamConsumer(consumers, name, options, stored, pace.clock),
        pace if poll_s is None else replace(pace, poll_s=poll_s),
        auto_ack=following.auto_ack,
    )


def pinned_error() -> InvalidInputError:
    """Return the error for following a table at a fixed point in time."""
    return InvalidInputError(
        "A table at a fixed point in time has no new commits.",
        hint="Follow the table itself from there: t.follow(3, full=True) for snapshot 3.",
    )
