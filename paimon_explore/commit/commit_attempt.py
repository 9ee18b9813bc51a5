"""The steps of one commit attempt, up to the content of the snapshot file.

The steps in `STEPS` run in order and share the state of the attempt. They write files with unique
names to which nothing refers yet; `committer` describes the protocol.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from uuid import uuid4

import numpy as np

from paimon_explore.commit.commit_trace import CommitStep
from paimon_explore.commit.conflicts import ConflictRules, check_conflicts, check_rescaled
from paimon_explore.commit.file_changes import (
    Changes,
    PartitionSet,
    without_statistics_of_deletes,
)
from paimon_explore.commit.index_files import combine_index
from paimon_explore.commit.key_conflicts import KeyRules, check_keys, is_same_snapshot
from paimon_explore.commit.manifest_merge import (
    MergeRules,
    merge_candidates,
    merge_manifests,
)
from paimon_explore.commit.manifest_writer import ManifestWriter, WrittenFile
from paimon_explore.commit.overwrite import (
    Overwrite,
    PartitionMatcher,
    overwrite_changes,
    upgrade_level_0,
)
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions, check_overwritten
from paimon_explore.commit.row_tracking import (
    RowIdMapping,
    assign_row_ids,
    grouped_by_partition,
    numbered_by_snapshot,
)
from paimon_explore.commit.strict_mode import check_strict_mode, without_duplicates
from paimon_explore.errors import CommitConflictError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    NO_WATERMARK,
    CommitKind,
    Snapshot,
)
from paimon_explore.store.table_store import TableStore

Metrics = Mapping[str, int | str]
"""Metrics of a step, such as numbers of files and bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNote:
    """Properties of a commit that are stored in its snapshot.

    Attributes:
        watermark: the watermark of the commit, if any.
        properties: arbitrary strings by key.
        operation: the SQL operation.
    """

    watermark: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    operation: str | None = None


NO_NOTE = CommitNote()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to create one snapshot.

    Attributes:
        kind: the commit kind.
        identifier: the commit identifier.
        changes: the changes of the messages.
        note: properties of the commit.
        check: whether to check for conflicts.
        overwrite: the partitions to replace, if it is an overwrite.
        statistics: name of a new statistics file, if any; else the previous one remains.
        merging: rules for merging manifests, if different from the options.
        planned_on: the snapshot whose rows were read to compute new values of some columns, or to
            reassign row ids, if any.
        row_ids: new row ids of existing rows, if any; no commit may follow `planned_on`.
        seen: the snapshot since which no other commit may have written the same keys.
        overwritten: partitions to which no other commit may have written since a snapshot.
        bucketed_since: the snapshot since which no other commit may have changed the number of
            buckets of the new files.
        schema: the schema that the commit introduces; None for the latest one. It is stored by
            `before_publish` of the committer.
    """

    kind: CommitKind
    identifier: int = BATCH_COMMIT_IDENTIFIER
    changes: Changes = field(default_factory=Changes)
    note: CommitNote = NO_NOTE
    check: bool = False
    overwrite: Overwrite | None = None
    statistics: str | None = None
    merging: MergeRules | None = None
    planned_on: SeenSnapshot | None = None
    row_ids: RowIdMapping | None = None
    seen: SeenSnapshot | None = None
    overwritten: OverwrittenPartitions | None = None
    bucketed_since: SeenSnapshot | None = None
    schema: TableSchema | None = None


@dataclass(slots=True, kw_only=True)
class CommitAttempt:
    """The state of one commit attempt.

    Attributes:
        request: the request.
        number: the attempt number, from 1.
        latest: the latest snapshot.
        schema: the latest schema.
        changes: the changes of this attempt; overwrites plan the files to remove in each attempt.
        delta_entries: the entries to write, with row ids.
        next_row_id: the next free row id after this commit.
        base, delta, changelog: the manifest lists, once written.
        index_manifest: name of the index manifest, if the table has index files.
        snapshot: the new snapshot.
    """

    request: Request
    number: int
    latest: Snapshot | None
    schema: TableSchema
    changes: Changes
    delta_entries: ManifestEntries
    next_row_id: int
    base: WrittenFile | None = None
    delta: WrittenFile | None = None
    changelog: WrittenFile | None = None
    index_manifest: str | None = None
    snapshot: Snapshot | None = None

    @property
    def snapshot_id(self) -> int:
        """The id of the new snapshot."""
        return 1 if self.latest is None else self.latest.id + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSteps:
    """The steps of an attempt, with the settings of the committer.

    Attributes:
        store: the table and branch.
        schema: the schema known to the committer.
        options: the effective options.
        user: the commit user.
        clock: epoch milliseconds.
        writer: writes manifest files.
        merging: rules for merging manifests.
        checks: settings of conflict checks.
        row_tracking: whether row ids are assigned.
        key_rules: settings of key conflict checks of primary-key tables.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    user: str
    clock: Callable[[], int]
    writer: ManifestWriter
    merging: MergeRules
    checks: ConflictRules
    row_tracking: bool
    key_rules: KeyRules

    @property
    def numbers_by_snapshot(self) -> bool:
        """Whether new files have the snapshot id as sequence number."""
        return self.options.value(opt.SEQUENCE_SNAPSHOT_ORDERING)

    @property
    def discards_duplicates(self) -> bool:
        """Whether appends leave out files that exist already."""
        return self.options.value(opt.COMMIT_DISCARD_DUPLICATE_FILES)

    def plan_overwrite(self, state: CommitAttempt) -> Metrics | None:
        """Plan the live files that an overwrite removes.

        Postponed rows stay if real buckets are overwritten, unless they are of an earlier schema.
        """
        what = state.request.overwrite
        if what is None:
            return None
        matcher = self.matcher(what, state.request.changes)
        live = self._live(state, None)
        if self.options.value(opt.BUCKET) > 0 and state.request.schema is None:
            live = _in_real_buckets(live)
        index = self.store.manifests.index(state.latest.index_manifest if state.latest else None)
        new = state.request.changes
        if self.checks.keys is not None and self.options.value(opt.OVERWRITE_UPGRADE):
            entries = upgrade_level_0(new.entries, self.checks.keys, level_count(self.options) - 1)
            new = replace(new, entries=entries)
        state.changes = overwrite_changes(live, index, new, matcher)
        state.delta_entries = state.changes.entries
        return {"removed files": state.changes.entries.count_of(FileKind.DELETE)}

    def check(self, state: CommitAttempt) -> Metrics | None:
        """Check for conflicts with the latest snapshot, and that chains stay whole."""
        latest, kind = state.latest, state.request.kind
        if kind is CommitKind.OVERWRITE and self.options.value(opt.CHAIN_TABLE_ENABLED):
            from paimon_explore.commit.chain_partitions import check_dropped_partitions  # noqa: PLC0415 - of few tables

            check_dropped_partitions(self.store, self.schema, self.options, state.changes)
        if state.request.seen is not None:
            check_keys(self.store, latest, state.changes, state.request.seen, self.key_rules)
        if state.request.overwritten is not None:
            partition_type = self.schema.partition_type
            check_overwritten(self.store, latest, partition_type, state.request.overwritten)
        since, changed = state.request.bucketed_since, state.changes
        if since is not None:
            removed = changed.entries.of_kind(FileKind.DELETE)
            check_rescaled(
                self.store,
                latest,
                since,
                changed.entries,
                lambda: live_entries(
                    ManifestEntries.concat([self._live(state, changed.partitions), removed])
                ),
            )
        if latest is None:
            return None
        check_strict_mode(
            self.store,
            self.options,
            user=self.user,
            kind=kind,
            changes=state.changes,
            latest=latest,
        )
        discards = self.discards_duplicates and kind is CommitKind.APPEND
        if not state.request.check and not discards:
            return None
        live = self._live(state, state.changes.partitions)
        if discards:
            state.changes = without_duplicates(live, state.changes)
            state.delta_entries = state.changes.entries
        if state.request.check:
            check_conflicts(
                live,
                state.changes,
                self.store.manifests.index(latest.index_manifest),
                kind=kind,
                rules=self._rules(state.request.planned_on),
            )
        return {"live files": len(live)}

    def _rules(self, planned_on: SeenSnapshot | None) -> ConflictRules:
        """Return the settings of conflict checks with the snapshot whose rows were read, if any.

        Raises:
            CommitConflictError: it has expired or was rolled back, so that other commits are
                unknown.
        """
        if planned_on is None or not self.checks.data_evolution:
            return self.checks
        snapshot = self.store.snapshots.find(planned_on.id)
        if snapshot is None or not is_same_snapshot(snapshot, planned_on):
            raise CommitConflictError(
                f"Snapshot {planned_on.id}, whose rows this commit changes, has expired or was "
                "rolled back, so that conflicts with later commits cannot be found."
            )
        index = self.store.manifests.index_of(snapshot)
        return replace(self.checks, planned_on=planned_on.id, planned_index=index)

    def write_base(self, state: CommitAttempt) -> Metrics:
        """Merge manifests if needed and write the base manifest list."""
        before = ManifestFiles.empty()
        if state.latest is not None:
            before = self.store.manifests.all(state.latest)
        if state.request.row_ids is not None:
            return self._reassign_row_ids(state, before, state.request.row_ids)
        rules = state.request.merging or self.merging
        candidates = merge_candidates(before, rules)
        after = merge_manifests(before, candidates, self.writer, rules)
        names_before = before.names
        names_after = names_before if after is before else after.names
        if state.latest is not None and names_after == names_before:
            lists = [state.latest.base_manifest_list, state.latest.delta_manifest_list]
            state.base = self.writer.concat_lists(lists, after)
        else:
            state.base = self.writer.list(after)
        return {
            "manifests before": len(before),
            "manifests after": len(after),
            "bytes": state.base.size,
            "manifests kept": len(set(names_before) & set(names_after)),
            "bytes of small manifests and manifests with deletions": candidates.rewrite_bytes,
            "bytes that trigger a full merge": rules.full_bytes,
            "target bytes of a merged manifest": rules.target_bytes,
            "minimum number of manifests to merge": rules.min_count,
        }

    def _reassign_row_ids(
        self, state: CommitAttempt, before: ManifestFiles, row_ids: RowIdMapping
    ) -> Metrics:
        """Write the base manifest list with new row ids of existing rows.

        Raises:
            CommitConflictError: there is a newer snapshot than the planned one.
        """
        planned = state.request.planned_on
        if planned is None or not is_same_snapshot(state.latest, planned):
            number = None if planned is None else planned.id
            raise CommitConflictError(
                f"Another commit followed snapshot {number}, whose row ids this commit reassigns."
            )
        after: list[ManifestFiles] = []
        for position, name in enumerate(before.names):
            moved = row_ids.moved(self.store.manifests.read(name))
            after.append(before.slice(position, 1) if moved is None else self.writer.entries(moved))
        state.base = self.writer.list(ManifestFiles.concat(after))
        state.next_row_id = row_ids.next_row_id
        return {"manifests before": len(before), "bytes": state.base.size}

    def assign_row_ids(self, state: CommitAttempt) -> Metrics | None:
        """Assign row ids to new rows, and the snapshot id as sequence number if it orders rows."""
        if self.numbers_by_snapshot and state.request.kind is not CommitKind.COMPACT:
            state.delta_entries = numbered_by_snapshot(state.delta_entries, state.snapshot_id)
        if not self.row_tracking:
            return None
        first = state.next_row_id
        entries = state.delta_entries
        if self.options.value(opt.ROW_TRACKING_PARTITION_GROUP_ON_COMMIT):
            entries = grouped_by_partition(entries)
        state.delta_entries, state.next_row_id = assign_row_ids(
            entries, snapshot_id=state.snapshot_id, next_row_id=first
        )
        return {"first row id": first, "next row id": state.next_row_id}

    def write_delta(self, state: CommitAttempt) -> Metrics | None:
        """Write the delta manifests and their list, unless an earlier attempt did."""
        if state.delta is not None:
            return None
        entries = state.delta_entries
        if self.options.value(opt.MANIFEST_DELETE_FILE_DROP_STATS):
            entries = without_statistics_of_deletes(entries)
        manifests = self.writer.entries(entries)
        state.delta = self.writer.list(manifests)
        return {
            "entries": len(state.delta_entries),
            "manifests": len(manifests),
            "bytes": state.delta.size,
        }

    def write_changelog(self, state: CommitAttempt) -> Metrics | None:
        """Write the changelog manifests and their list, if there is a changelog."""
        entries = state.changes.changelog
        if state.changelog is not None or not len(entries):
            return None
        manifests = self.writer.entries(entries)
        state.changelog = self.writer.list(manifests)
        return {"entries": len(entries), "manifests": len(manifests)}

    def write_index(self, state: CommitAttempt) -> Metrics | None:
        """Write the index manifest, if index files change."""
        before = state.latest.index_manifest if state.latest is not None else None
        state.index_manifest = before
        row_ids = state.request.row_ids
        if row_ids is not None and before is not None:
            moved = row_ids.moved_index(self.store.manifests.index(before))
            state.index_manifest = self.writer.index(moved) if len(moved) else None
            return {"index files": len(moved)}
        if not len(state.changes.added_index) and not len(state.changes.deleted_index):
            return None
        existing = self.store.manifests.index(before)
        bucketed = self.checks.is_bucketed
        entries = combine_index(existing, state.changes, is_bucketed=bucketed)
        state.index_manifest = self.writer.index(entries) if len(entries) else None
        return {"index files": len(entries)}

    def describe(self, state: CommitAttempt) -> Metrics | None:
        """Build the snapshot."""
        request, latest = state.request, state.latest
        rows = state.changes.row_delta()
        base, delta = _needed(state.base), _needed(state.delta)
        state.snapshot = Snapshot(
            uuid=str(uuid4()),
            id=state.snapshot_id,
            schema_id=state.schema.id,
            base_manifest_list=base.name,
            base_manifest_list_size=base.size,
            delta_manifest_list=delta.name,
            delta_manifest_list_size=delta.size,
            changelog_manifest_list=state.changelog.name if state.changelog else None,
            changelog_manifest_list_size=state.changelog.size if state.changelog else None,
            index_manifest=state.index_manifest,
            commit_user=self.user,
            commit_identifier=request.identifier,
            commit_kind=request.kind,
            time_millis=max(self.clock(), latest.time_millis if latest else 0),
            total_record_count=self._total(latest) + rows,
            delta_record_count=rows,
            changelog_record_count=state.changes.changelog.total_rows if state.changelog else None,
            watermark=_watermark(request.note.watermark, latest),
            statistics=request.statistics or _statistics(latest, state.schema),
            properties=dict(request.note.properties) or None,
            next_row_id=state.next_row_id,
            operation=request.note.operation,
        )
        return None

    def matcher(self, what: Overwrite, changes: Changes) -> PartitionMatcher:
        """Return the matcher for the partitions that an overwrite replaces."""
        return PartitionMatcher(self.schema.partition_type, what, changes.partitions)

    def _live(self, state: CommitAttempt, partitions: frozenset[bytes] | None) -> ManifestEntries:
        """Return the live files of the latest snapshot, of all or some partitions."""
        if state.latest is None:
            return ManifestEntries.empty()
        manifests = self.store.manifests
        names = manifests.all(state.latest).names
        if partitions is None:
            return live_entries(manifests.read_many(names))
        return live_entries(manifests.read_partitions(names, PartitionSet(partitions).mask))

    def _total(self, latest: Snapshot | None) -> int:
        if latest is None:
            return 0
        if latest.total_record_count is not None:
            return latest.total_record_count
        manifests = self.store.manifests
        return live_entries(manifests.read_many(manifests.all(latest).names)).total_rows


def _in_real_buckets(entries: ManifestEntries) -> ManifestEntries:
    buckets = [bucket.as_py() for bucket in entries.column("bucket")]
    return entries.filter(np.array([bucket >= 0 for bucket in buckets], np.bool_))


def _needed(file: WrittenFile | None) -> WrittenFile:
    """Return a list that an earlier step has written."""
    assert file is not None  # noqa: S101  # the steps run in order
    return file


def _watermark(own: int | None, latest: Snapshot | None) -> int | None:
    """Return the larger of the commit's watermark and the previous one."""
    before = latest.watermark if latest is not None else None
    known = [mark for mark in (own, before) if mark is not None and mark != NO_WATERMARK]
    return max(known, default=None)


def _statistics(latest: Snapshot | None, schema: TableSchema) -> str | None:
    """Return the previous statistics file, which is valid until the schema changes."""
    is_same = latest is not None and latest.schema_id == schema.id
    return latest.statistics if latest is not None and is_same else None


Run = Callable[[AttemptSteps, CommitAttempt], Metrics | None]

STEPS: tuple[tuple[CommitStep, Run], ...] = (
    (CommitStep.PLAN_OVERWRITE, AttemptSteps.plan_overwrite),
    (CommitStep.CHECK_CONFLICTS, AttemptSteps.check),
    (CommitStep.WRITE_BASE, AttemptSteps.write_base),
    (CommitStep.ASSIGN_ROW_IDS, AttemptSteps.assign_row_ids),
    (CommitStep.WRITE_DELTA, AttemptSteps.write_delta),
    (CommitStep.WRITE_CHANGELOG, AttemptSteps.write_changelog),
    (CommitStep.WRITE_INDEX, AttemptSteps.write_index),
    (CommitStep.DESCRIBE, AttemptSteps.describe),
)
"""The steps of an attempt before the snapshot file is created; a step returns None if skipped."""
