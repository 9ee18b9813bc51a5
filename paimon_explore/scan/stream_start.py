"""Start positions of streams: the state to read first, if any, and the first commit after it.

| `scan.mode` | first | then the changes |
| --- | --- | --- |
| `latest-full`, `full` (default) | the rows of the latest snapshot | after it |
| `compacted-full` | the rows of the latest compacted snapshot, else of the latest | after it |
| `from-snapshot-full` | the rows of that snapshot | after it |
| `from-file-creation-time` | the files of the latest snapshot created since a time | after it |
| `from-creation-timestamp` | the same, if commits since the time may have expired | after it |
| the same, else | | of the first commit at or after the time, and after it |
| `from-timestamp` | | of the first commit at or after the time, and after it |
| `from-snapshot` | | of that snapshot, and after it |
| `latest` | | after the latest snapshot |

The progress of a consumer replaces all of them, unless `consumer.ignore-progress` is set. Modes and
positions are those of the official Java 2.0.0, with two exceptions. Java refuses to stream from a
tag, a version or a watermark; here it means the snapshot that a batch read of it reads. Where the
first commit has expired, Java silently starts with the earliest; here the stream fails.
"""

from typing import assert_never

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.option_enums import StartupMode
from paimon_explore.metadata.options.refused_options import Use, check_supported_options
from paimon_explore.metadata.options.table_options import SCAN_VERSION, TableOptions
from paimon_explore.metadata.options.tag_options import CONSUMER_ID, CONSUMER_IGNORE_PROGRESS
from paimon_explore.metadata.schema.scan_option_validation import startup_mode
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.commit_times import first_created, last_before
from paimon_explore.scan.time_travel import TimeTravel, resolve, travel_of
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStart:
    """The start position of a stream.

    Attributes:
        snapshot: everything up to this id counts as delivered.
        whole: the rows of a snapshot come first.
        first: that snapshot; None for the first one of a table that has none yet.
    """

    snapshot: int
    whole: bool = False
    first: Snapshot | None = None


def after(number: int) -> StreamStart:
    """Start with the changes after a snapshot."""
    return StreamStart(snapshot=number)


def whole(first: Snapshot | None) -> StreamStart:
    """Start with the rows of a snapshot."""
    return StreamStart(snapshot=0, whole=True, first=first)


def stream_start(store: TableStore, options: TableOptions) -> StreamStart:
    """Return the start position that the options of a table specify.

    Raises:
        NotFoundError: there is no such snapshot or tag.
        InvalidInputError: the options contradict each other.
        UnsupportedFeatureError: an option is set that streams cannot follow.
    """
    check_supported_options(options, Use.STREAM, store.paths.root)
    progress = consumer_progress(store, options)
    return option_start(store, options) if progress is None else after(progress.next_snapshot - 1)


def consumer_progress(store: TableStore, options: TableOptions) -> Consumer | None:
    """Return the progress of the consumer that the options name; None to ignore it."""
    name = options.value(CONSUMER_ID)
    if name is None or options.value(CONSUMER_IGNORE_PROGRESS):
        return None
    return store.consumers.find(name)


def option_start(store: TableStore, options: TableOptions) -> StreamStart:
    """Return the start position of the options, without regard to a consumer."""
    travel = travel_of(options)
    mode = startup_mode(options)
    if mode is StartupMode.LATEST_FULL and options.has(SCAN_VERSION):
        mode = StartupMode.FROM_SNAPSHOT
    match mode:
        case StartupMode.LATEST:
            return after(store.snapshots.latest_id() or 0)
        case StartupMode.FROM_TIMESTAMP if travel.timestamp_ms is not None:
            return after(last_before(store, travel.timestamp_ms))
        case StartupMode.FROM_CREATION_TIMESTAMP if travel.created_ms is not None:
            first = first_created(store, travel.created_ms)
            return whole(store.snapshots.latest()) if first is None else after(first - 1)
        case StartupMode.FROM_SNAPSHOT if travel.snapshot is not None:
            return after(travel.snapshot - 1)
        case StartupMode.FROM_SNAPSHOT:
            return _named(store, travel)
        case (
            StartupMode.DEFAULT
            | StartupMode.FULL
            | StartupMode.LATEST_FULL
            | StartupMode.COMPACTED_FULL
            | StartupMode.FROM_SNAPSHOT_FULL
            | StartupMode.FROM_FILE_CREATION_TIME
        ):
            return whole(resolve(store, travel))
        case StartupMode.INCREMENTAL | StartupMode.LATEST_DELTA:
            raise InvalidInputError(
                "An incremental read has an end, so it cannot be streamed.",
                hint="Unset the options incremental-between* and scan.mode, or use between().",
            )
        case StartupMode.FROM_TIMESTAMP | StartupMode.FROM_CREATION_TIMESTAMP:
            raise AssertionError(mode)  # `travel_of` has checked that they have their time
        case _:
            assert_never(mode)


def _named(store: TableStore, travel: TimeTravel) -> StreamStart:
    """Start with the changes of the snapshot of a tag, version or watermark."""
    found = resolve(store, travel)
    return after(0 if found is None else found.id - 1)
