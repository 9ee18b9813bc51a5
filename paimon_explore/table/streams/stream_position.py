"""The start and the end of a stream, as arguments of `table.follow`."""

from collections.abc import Mapping
from datetime import date

import numpy as np

from paimon_explore.arguments import invalid_argument
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.metadata.options.table_options import (
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
    SCAN_CREATION_TIME_MILLIS,
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_MODE,
    SCAN_SNAPSHOT_ID,
    SCAN_TAG_NAME,
    SCAN_TIMESTAMP,
    SCAN_TIMESTAMP_MILLIS,
    SCAN_VERSION,
    SCAN_WATERMARK,
)
from paimon_explore.scan.commit_times import last_before
from paimon_explore.scan.stream_start import StreamStart, after, option_start, whole
from paimon_explore.scan.time_travel import TimestampLike, TimeTravel, epoch_ms, resolve
from paimon_explore.table.row_changes import ChangeReader

_POSITIONS = (
    *(SCAN_MODE, SCAN_SNAPSHOT_ID, SCAN_TAG_NAME, SCAN_VERSION, SCAN_WATERMARK),
    *(SCAN_TIMESTAMP, SCAN_TIMESTAMP_MILLIS),
    *(SCAN_FILE_CREATION_TIME_MILLIS, SCAN_CREATION_TIME_MILLIS),
    *(INCREMENTAL_BETWEEN, INCREMENTAL_BETWEEN_TIMESTAMP, INCREMENTAL_TO_AUTO_TAG),
)
_KEYS = frozenset(key for o in _POSITIONS for key in (o.key, *o.fallback_keys))
_FULL = ("full", "latest-full", "compacted-full")
_NAMES = ("latest", "earliest", *_FULL)

StreamPoint = TimestampLike | Mapping[str, object]
"""Where a stream starts; see `Table.follow`."""


def without_positions(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without those that say where a read starts."""
    return {key: value for key, value in options.items() if key not in _KEYS}


def position_options(given: object) -> dict[str, str] | None:
    """Return the start position of an argument as table options; None if it is none.

    Raises:
        InvalidInputError: an option that says nothing about the start.
    """
    if not isinstance(given, Mapping):
        return None
    options = {str(key): str(value) for key, value in given.items()}
    wrong = [key for key in options if key not in _KEYS]
    if wrong:
        raise InvalidInputError(
            f"from_ has options that are no start position: {choices(wrong)}.",
            hint="Set such options when the table is opened: catalog.table(name, options=…).",
        )
    return options


class StreamPoints:
    """Finds the start and the end of a stream.

    Args:
        reader: the changes of the table.
    """

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader
        self._store = reader.target.store

    def start(self, given: object, *, full: bool) -> StreamStart:
        """Return the start position of an argument.

        Args:
            given: as `from_` of `Table.follow`.
            full: whether the rows at that point come first.

        Raises:
            NotFoundError: there is no such snapshot or tag.
            InvalidInputError: it is no start position.
        """
        if given is None or isinstance(given, Mapping):
            found = option_start(self._store, self._reader.target.options)
            return self._with_rows(found) if full and not found.whole else found
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            return self._number(int(given), full=full)
        if isinstance(given, str):
            return self._text(given, full=full)
        if isinstance(given, date | np.datetime64):
            return self._time(given, full=full)
        allowed = f"{choices(_NAMES)}, a snapshot id, a tag, a time or scan options"
        raise invalid_argument("from_", given, allowed)

    def end(self, given: object) -> int | None:
        """Return the last snapshot of a stream; None for a stream without end.

        Args:
            given: a snapshot id, the name of a tag, `now` or None.

        Raises:
            NotFoundError: there is no such tag.
            InvalidInputError: it is none of these.
        """
        if given is None:
            return None
        if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 0:
            return int(given)
        if given == "now":
            return self._store.snapshots.latest_id() or 0
        if isinstance(given, str):
            return self._store.tags.load(given).snapshot.id
        raise invalid_argument("until", given, "a snapshot id, the name of a tag, 'now' or None")

    def _number(self, number: int, *, full: bool) -> StreamStart:
        if number < 1:
            raise invalid_argument("from_", number, "a snapshot id of at least 1")
        if full:
            return whole(resolve(self._store, TimeTravel(snapshot=number)))
        latest = self._store.snapshots.latest_id() or 0
        if number > latest + 1:
            hint = f"The latest snapshot is {latest}." if latest else "There is no snapshot yet."
            raise NotFoundError("snapshot", number, self._store.paths.root, hint=hint)
        return after(number - 1)

    def _text(self, text: str, *, full: bool) -> StreamStart:
        store = self._store
        if text == "latest":
            found = store.snapshots.latest()
            return whole(found) if full else after(0 if found is None else found.id)
        if text == "earliest":
            if full:
                return whole(store.snapshots.earliest())
            return after(self._reader.first_until(store.snapshots.latest_id() or 0) - 1)
        if text in _FULL:
            mode = {SCAN_MODE.key: text}
            return option_start(store, self._reader.target.options.changed(mode))
        if text in store.tags.names():
            found = store.tags.load(text).snapshot
            return whole(found) if full else after(found.id - 1)
        try:
            return self._time(text, full=full)
        except InvalidInputError as error:
            raise NotFoundError(
                "tag",
                text,
                store.paths.root,
                hint=f"from_ is one of {choices(_NAMES)}, a snapshot id, a tag, a time such as "
                "'2026-11-20 10:00:00', or a dict of scan options. "
                f"Tags: {choices(store.tags.names())}.",
            ) from error

    def _time(self, moment: TimestampLike, *, full: bool) -> StreamStart:
        millis = epoch_ms(moment)
        if full:
            return whole(resolve(self._store, TimeTravel(timestamp_ms=millis)))
        return after(last_before(self._store, millis))

    def _with_rows(self, start: StreamStart) -> StreamStart:
        """Start with the rows before the first changes."""
        return start if not start.snapshot else whole(self._store.snapshots.load(start.snapshot))
