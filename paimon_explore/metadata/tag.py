"""The tag file: a named copy of a snapshot with an optional time to live.

Spec: concepts/spec/snapshot, maintenance/manage-tags. Seen in: golden java200 `tags`.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from paimon_explore.data_types.type_parser import excerpt
from paimon_explore.fileio.paths import name as file_name
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject, parse_object, render_object
from paimon_explore.metadata.snapshot import Snapshot, snapshot_from_object, snapshot_members
from paimon_explore.metadata.table_paths import TAG_PREFIX

_CREATE_TIME = "tagCreateTime"
_TIME_RETAINED = "tagTimeRetained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag.

    Attributes:
        name: the tag's name, taken from the file name.
        snapshot: a complete copy of the tagged snapshot, which outlives the snapshot file.
        create_time: the creator's local time without a zone; set only with `time_retained`.
        time_retained: time to live from `create_time` on; None means forever.
    """

    name: str
    snapshot: Snapshot
    create_time: datetime | None = None
    time_retained: timedelta | None = None

    @property
    def expire_time(self) -> datetime | None:
        """The time from which the tag may expire, in the creator's local time; None means never."""
        if self.create_time is None or self.time_retained is None:
            return None
        try:
            return self.create_time + self.time_retained
        except OverflowError:
            return None


def parse_tag(data: bytes, path: str) -> Tag:
    """Parse a tag file; the tag's name is taken from `path`.

    Raises:
        UnsupportedVersionError: the version of the snapshot is not supported.
        CorruptFileError: the file is not a JSON object, or a member has the wrong type.
    """
    source = parse_object(data, path)
    snapshot = snapshot_from_object(source)
    own = {_CREATE_TIME, _TIME_RETAINED}
    unknown: Mapping[str, object] = {
        key: value for key, value in snapshot.unknown.items() if key not in own
    }
    return Tag(
        name=file_name(path).removeprefix(TAG_PREFIX),
        snapshot=replace(snapshot, unknown=unknown),
        create_time=_create_time(source),
        time_retained=_time_retained(source),
    )


def encode_tag(tag: Tag) -> bytes:
    """Encode a tag file; times have the form of Java's JSON library."""
    members = snapshot_members(tag.snapshot)
    if tag.create_time is not None:
        time = tag.create_time
        parts = [time.year, time.month, time.day, time.hour, time.minute]
        if time.second or time.microsecond:
            parts.append(time.second)
        if time.microsecond:
            parts.append(time.microsecond * 1000)
        members[_CREATE_TIME] = parts
    if tag.time_retained is not None:
        members[_TIME_RETAINED] = tag.time_retained.total_seconds()
    return render_object(members)


def _create_time(source: JsonObject) -> datetime | None:
    """Parse `[year, month, day, hour, minute(, second(, nanosecond))]` or ISO text."""
    value = source.values.get(_CREATE_TIME)
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value).replace(tzinfo=None)
        if isinstance(value, list) and all(type(part) is int for part in value):
            year, month, day, hour, minute, *rest = value
            second, nanosecond = ([*rest, 0, 0])[:2]
            return datetime(year, month, day, hour, minute, second, nanosecond // 1000)  # noqa: DTZ001 - a local wall clock by definition
    except (ValueError, OverflowError) as error:
        raise source.error(_CREATE_TIME, f"must be a local date and time: {error}") from error
    raise source.error(_CREATE_TIME, f"must be a local date and time, not {excerpt(value)}")


def _time_retained(source: JsonObject) -> timedelta | None:
    value = source.values.get(_TIME_RETAINED)
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return timedelta(seconds=value)
        except (ValueError, OverflowError) as error:
            raise source.error(_TIME_RETAINED, f"must be a duration: {error}") from error
    raise source.error(_TIME_RETAINED, f"must be a number of seconds, not {excerpt(value)}")
