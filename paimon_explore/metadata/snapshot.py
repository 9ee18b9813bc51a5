"""The snapshot file: one commit of a table.

Spec: concepts/spec/snapshot. Seen in: golden java09, java200, pypaimon21 and rust04 `append_avro`.
Keys may have any order; `null` means absent; unknown keys are kept, so that rewriting a snapshot
loses nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from operator import attrgetter

from paimon_explore.data_types.local_time import utc_moment
from paimon_explore.errors import UnsupportedVersionError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject, parse_object, render_object

CURRENT_VERSION = 3
KNOWN_VERSIONS = (1, 2, 3)

NO_WATERMARK = -(2**63)
"""Watermark value that means no watermark, like an absent key."""

BATCH_COMMIT_IDENTIFIER = 2**63 - 1
"""The commit identifier of batch jobs, which commit once."""

_YEAR_10000_MS = 253_402_300_800_000


class CommitKind(Enum):
    """The kind of a commit, as stored in the file."""

    APPEND = "APPEND"
    COMPACT = "COMPACT"
    OVERWRITE = "OVERWRITE"
    ANALYZE = "ANALYZE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One snapshot, tag or long-lived changelog.

    Attributes:
        version: format version of the file, 1 to 3.
        id: the snapshot id, from 1.
        schema_id: the schema at the time of the commit.
        base_manifest_list: file name; all manifests up to the previous snapshot.
        delta_manifest_list: file name; manifests with the changes of this commit.
        commit_user: the committer; unique per writing job.
        commit_identifier: transaction number of the user; 2^63-1 for batch jobs.
        commit_kind: the kind of commit.
        time_millis: time of the commit, milliseconds since 1970 UTC.
        total_record_count: physical rows of the live files; None only before version 3.
        delta_record_count: physical rows added minus removed; None only before version 3.
        changelog_manifest_list: file name; manifests of changelog files, if any.
        changelog_record_count: rows of the changelog files.
        index_manifest: file name; all index files of the table, if any.
        watermark: the largest watermark so far, or None; -2^63 means none.
        statistics: file name of the table's statistics.
        properties: arbitrary strings by key.
        next_row_id: the next free row id, for row tracking.
        uuid: distinguishes this snapshot from rewritten ones with the same id.
        operation: the SQL operation of the commit, as text.
        writer_version: the program that wrote the file.
        log_offsets: used by releases up to 1.3, now unused.
        base_manifest_list_size, delta_manifest_list_size, changelog_manifest_list_size: bytes.
        unknown: members with other keys.
    """

    version: int = CURRENT_VERSION
    id: int
    schema_id: int
    base_manifest_list: str
    delta_manifest_list: str
    commit_user: str
    commit_identifier: int
    commit_kind: CommitKind
    time_millis: int
    total_record_count: int | None
    delta_record_count: int | None
    changelog_manifest_list: str | None = None
    changelog_record_count: int | None = None
    index_manifest: str | None = None
    watermark: int | None = None
    statistics: str | None = None
    properties: Mapping[str, str] | None = None
    next_row_id: int | None = None
    uuid: str | None = None
    operation: str | None = None
    writer_version: str | None = None
    log_offsets: Mapping[str, int] | None = None
    base_manifest_list_size: int | None = None
    delta_manifest_list_size: int | None = None
    changelog_manifest_list_size: int | None = None
    unknown: Mapping[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return id, kind, time and row counts."""
        when = utc_moment(self.time_millis) if self._has_time else None
        parts = [f"Snapshot {self.id} {self.commit_kind.value}"]
        parts += [] if when is None else [f"{when:%Y-%m-%d %H:%M:%S} UTC"]
        parts.append(f"schema {self.schema_id}")
        if self.delta_record_count is not None and self.total_record_count is not None:
            counts = f"{self.delta_record_count:+,} rows, {self.total_record_count:,} stored"
            parts.append(counts)
        return f"<{', '.join(parts)}>"

    def __hash__(self) -> int:
        """Equal snapshots have the same commit; mappings cannot be hashed."""
        return hash((self.id, self.commit_user, self.commit_identifier, self.delta_manifest_list))

    @property
    def state_files(self) -> tuple[str | None, ...]:
        """Return the names of the files that describe the state: lists, indexes, statistics."""
        lists = (self.base_manifest_list, self.delta_manifest_list)
        return (*lists, self.index_manifest, self.statistics)

    @property
    def referenced_files(self) -> tuple[str | None, ...]:
        """Return the names of all files that the snapshot references directly.

        Copies of one commit may reference different ones: a restored copy has no changelog.
        """
        return (*self.state_files, self.changelog_manifest_list)

    @property
    def _has_time(self) -> bool:
        return 0 <= self.time_millis < _YEAR_10000_MS


_NAMES = (  # in Java's order
    *("version", "uuid", "id", "schema_id", "base_manifest_list", "base_manifest_list_size"),
    *("delta_manifest_list", "delta_manifest_list_size", "changelog_manifest_list"),
    *("changelog_manifest_list_size", "index_manifest", "commit_user", "writer_version"),
    *("commit_identifier", "commit_kind", "time_millis", "log_offsets", "total_record_count"),
    *("delta_record_count", "changelog_record_count", "watermark", "statistics", "properties"),
    *("next_row_id", "operation"),
)
_KEYS = tuple(re.sub("_(.)", lambda part: part[1].upper(), name) for name in _NAMES)

_VALUES = attrgetter(*_NAMES)


def parse_snapshot(data: bytes, path: str) -> Snapshot:
    """Parse a snapshot file.

    Args:
        data: the file's bytes.
        path: the file, for messages.

    Raises:
        UnsupportedVersionError: the version is not 1, 2 or 3.
        CorruptFileError: the file is not a JSON object, or a member has the wrong type.
    """
    return snapshot_from_object(parse_object(data, path))


def snapshot_from_object(source: JsonObject) -> Snapshot:
    """Create a snapshot from a JSON object that may have further members, like a tag file."""
    version = source.optional_integer("version")
    if version is None:
        version = KNOWN_VERSIONS[0]
    if version not in KNOWN_VERSIONS:
        raise UnsupportedVersionError("snapshot file", version, KNOWN_VERSIONS, source.path)
    return Snapshot(
        version=version,
        id=source.integer("id"),
        schema_id=source.integer("schemaId"),
        base_manifest_list=source.name("baseManifestList"),
        delta_manifest_list=source.name("deltaManifestList"),
        commit_user=source.text("commitUser"),
        commit_identifier=source.integer("commitIdentifier"),
        commit_kind=_commit_kind(source),
        time_millis=source.integer("timeMillis"),
        total_record_count=_count(source, "totalRecordCount", version),
        delta_record_count=_count(source, "deltaRecordCount", version),
        changelog_manifest_list=source.optional_name("changelogManifestList"),
        changelog_record_count=source.optional_integer("changelogRecordCount"),
        index_manifest=source.optional_name("indexManifest"),
        watermark=source.optional_integer("watermark"),
        statistics=source.optional_name("statistics"),
        properties=source.optional_texts("properties"),
        next_row_id=source.optional_integer("nextRowId"),
        uuid=source.optional_text("uuid"),
        operation=source.optional_text("operation"),
        writer_version=source.optional_text("writerVersion"),
        log_offsets=source.optional_integers("logOffsets"),
        base_manifest_list_size=source.optional_integer("baseManifestListSize"),
        delta_manifest_list_size=source.optional_integer("deltaManifestListSize"),
        changelog_manifest_list_size=source.optional_integer("changelogManifestListSize"),
        unknown=source.unknown(_KEYS),
    )


@dataclass(frozen=True, slots=True)
class LatestSnapshot:
    """The latest snapshot of a table when it was read.

    Attributes:
        snapshot: None if there were no snapshots.
    """

    snapshot: Snapshot | None


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Encode a snapshot file."""
    return render_object(snapshot_members(snapshot))


def snapshot_members(snapshot: Snapshot) -> dict[str, object]:
    """Return the members of a snapshot's JSON object in Java's order, unknown members last."""
    values = zip(_KEYS, _VALUES(snapshot), strict=True)
    return {**{key: _member(value) for key, value in values}, **snapshot.unknown}


def _member(value: object) -> object:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, CommitKind):
        return value.value
    return dict(value) if isinstance(value, Mapping) else value


def _commit_kind(source: JsonObject) -> CommitKind:
    token = source.text("commitKind")
    for kind in CommitKind:
        if kind.value == token:
            return kind
    known = choices(kind.value for kind in CommitKind)
    rule = f"must be one of {known}, not {token!r}; a newer version of Paimon may have written it"
    raise source.error("commitKind", rule)


def _count(source: JsonObject, key: str, version: int) -> int | None:
    """Return a record count, which is optional before version 3."""
    return source.integer(key) if version >= CURRENT_VERSION else source.optional_integer(key)
