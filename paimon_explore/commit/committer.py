"""Atomic commits with optimistic concurrency control: `Committer`.

A commit first writes all its files with unique names; nothing refers to them yet. Then it creates
the snapshot file `snapshot-N` atomically, only if it does not exist, which makes the commit
visible. If another commit has created snapshot N, the commit reads the new latest snapshot, checks
for conflicts and tries N+1.

An attempt has these steps (`STEPS` in `commit_attempt`):

| step | writes | after a crash |
| --- | --- | --- |
| read the latest snapshot | | data files of the writers remain as orphan files |
| plan the files that an overwrite removes | | the same |
| check for conflicts | | the same |
| merge manifests, base list | `manifest-*`, `manifest-list-*` | these remain as orphan files, too |
| row ids, delta manifests, their list | `manifest-*`, `manifest-list-*` | the same |
| changelog manifests, their list | `manifest-*`, `manifest-list-*` | the same |
| index manifest, if it changes | `index-manifest-*` | the same |
| create the snapshot | `snapshot-N` | the commit is complete and visible |
| write hints | `LATEST`, for the first snapshot `EARLIEST` | hints are outdated, which is allowed |

In a remote storage the files of an attempt are stored at the same time after the last of its steps,
and data files may still be uploaded until then; the snapshot is created after all of them.

Failures:

- A step before the creation of the snapshot fails: the files of the attempt are deleted and the
  error is raised. Data files remain: the caller may retry or abort the messages.
- The snapshot id is taken: the base list of the attempt is deleted, the delta and changelog lists,
  which do not depend on the latest snapshot, are reused, and the next attempt starts after a
  backoff.
- The outcome of the creation is unknown: no file is deleted. If the snapshot file has our uuid, the
  commit succeeded; if it has another uuid, it lost; if it does not exist, the next attempt first
  searches all newer snapshots for our user and identifier. If the storage cannot be read, a
  `CommitOutcomeUnknownError` is raised and the caller may commit the same messages again with the
  same identifier.

Spec: concepts/concurrency-control; concepts/spec/snapshot.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from paimon_explore.commit.commit_attempt import NO_NOTE, AttemptSteps, CommitNote, Request
from paimon_explore.commit.commit_retry import CommitLoop
from paimon_explore.commit.commit_timing import Timing, commit_retry_policy
from paimon_explore.commit.commit_trace import CommitEvent
from paimon_explore.commit.conflicts import ConflictRules
from paimon_explore.commit.file_changes import compacted_changes, written_changes
from paimon_explore.commit.iceberg.settings import has_iceberg_metadata
from paimon_explore.commit.key_conflicts import KeyRules
from paimon_explore.commit.manifest_merge import merge_rules_of
from paimon_explore.commit.manifest_writer import AVRO_CODECS, ManifestWriter, manifest_codec
from paimon_explore.commit.overwrite import Overwrite, check_new_files
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.row_tracking import RowIdMapping
from paimon_explore.errors import (
    CommitOutcomeUnknownError,
    PaimonError,
)
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema, cached_by_schema_and_options
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot
from paimon_explore.metadata.statistics_file import Statistics
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.commit.iceberg.metadata_writer import IcebergWriter


def _do_nothing() -> None:
    """All data files of the messages are stored."""


class Committer:
    """Commits to one table and branch as one user; not thread-safe.

    Args:
        store: the table and branch.
        schema: its latest schema.
        options: the effective options; by default those of the schema.
        commit_user: the commit user. A job that is restarted after a failure must keep its user, so
            that its earlier commits are found; by default a new user.
        timing: clock, sleep and random numbers.
        before_publish: called before a snapshot file is created; waits for uploads of data files.

    Attributes:
        commit_user: the commit user.
    """

    def __init__(
        self,
        store: TableStore,
        schema: TableSchema,
        *,
        options: TableOptions | None = None,
        commit_user: str | None = None,
        timing: Timing | None = None,
        before_publish: Callable[[], None] = _do_nothing,
    ) -> None:
        chosen = options if options is not None else TableOptions(schema.options)
        when = timing or Timing()
        compression = chosen.value(opt.MANIFEST_COMPRESSION) or "zstd"
        self._store = store
        self._options = chosen
        self.commit_user = commit_user or new_commit_user(chosen)
        self._steps = AttemptSteps(
            store=store,
            schema=schema,
            options=chosen,
            user=self.commit_user,
            clock=when.clock,
            writer=ManifestWriter(
                store=store,
                partition_type=schema.partition_type,
                codec=manifest_codec(opt.MANIFEST_COMPRESSION.key, compression, AVRO_CODECS),
                target_bytes=chosen.value(opt.MANIFEST_TARGET_FILE_SIZE),
                file_format=chosen.value(opt.MANIFEST_FORMAT),
            ),
            merging=merge_rules_of(chosen),
            checks=_conflict_rules(schema, chosen),
            row_tracking=chosen.value(opt.ROW_TRACKING_ENABLED),
            key_rules=_key_rules(schema, chosen),
        )
        self._commit_loop = CommitLoop(
            self._steps,
            when,
            commit_retry_policy(chosen),
            is_new_user=commit_user is None,
            before_publish=before_publish,
        )

    @property
    def trace(self) -> list[CommitEvent]:
        """The events of the last commit."""
        return self._commit_loop.trace

    def commit(  # noqa: PLR0913  # settings of one commit
        self,
        messages: Sequence[CommitMessage],
        identifier: int = BATCH_COMMIT_IDENTIFIER,
        *,
        note: CommitNote = NO_NOTE,
        ignore_empty: bool = True,
        check_appends: bool = False,
        planned_on: SeenSnapshot | None = None,
        ordered: bool = False,
        overwritten: OverwrittenPartitions | None = None,
        schema: TableSchema | None = None,
    ) -> list[Snapshot]:
        """Commit the messages of writers and compactions.

        Args:
            messages: the messages of all writers.
            identifier: the commit identifier, ascending per user. If this user has committed it
                before, nothing is committed again. Batch jobs use the default.
            note: watermark, properties and operation.
            ignore_empty: create no snapshot if there are no changes.
            check_appends: check for conflicts even if only files are added.
            planned_on: the snapshot whose rows were read to compute new values of some columns; new
                values of other commits for the same columns and rows are a conflict.
            ordered: refuse records of a primary-key table whose sequence numbers are not greater
                than those of other commits for the same keys, which they would not replace.
            overwritten: partitions whose files the messages remove; other commits to them are a
                conflict.
            schema: the schema that the commit introduces, which `before_publish` stores.

        Returns:
            The snapshots of this transaction, including existing ones: none, one, or two (APPEND or
            OVERWRITE, then COMPACT).

        Raises:
            CommitConflictError: the changes conflict with other commits.
            CommitOutcomeUnknownError: the outcome is unknown; commit again to find out.
            CommitError: the retries are exhausted because of concurrent commits.
            StorageError: a file could not be read or written; nothing was committed.
        """
        written = written_changes(messages)
        compacted = compacted_changes(messages)
        requests = []
        if not written.is_empty or not ignore_empty:
            kind = CommitKind.OVERWRITE if written.deletes_rows else CommitKind.APPEND
            requests.append(
                Request(
                    kind=kind,
                    identifier=identifier,
                    changes=written,
                    note=note,
                    check=check_appends or kind is CommitKind.OVERWRITE,
                    planned_on=planned_on,
                    seen=self._seen(messages, ordered=ordered),
                    overwritten=overwritten,
                    bucketed_since=self._bucketed_since(messages),
                    schema=schema,
                )
            )
        if not compacted.is_empty:
            requests.append(
                Request(
                    kind=CommitKind.COMPACT,
                    identifier=identifier,
                    changes=compacted,
                    note=note,
                    check=True,
                )
            )
        return self._make(requests)

    def _seen(self, messages: Sequence[CommitMessage], *, ordered: bool) -> SeenSnapshot | None:
        """Return the oldest snapshot that records depend on, if later commits may conflict."""
        found = [message.seen for message in messages if message.seen is not None]
        if not found:
            return None
        oldest = min(found, key=lambda seen: seen.id)
        reads = any(seen.reads for seen in found)
        is_dynamic = self._steps.options.value(opt.BUCKET) == DYNAMIC_BUCKET
        return replace(oldest, reads=reads) if reads or ordered or is_dynamic else None

    def _bucketed_since(self, messages: Sequence[CommitMessage]) -> SeenSnapshot | None:
        """Return the oldest snapshot on which writers of fixed buckets have begun."""
        if self._steps.options.value(opt.BUCKET) <= 0:
            return None
        found = [message.seen for message in messages if message.seen is not None]
        return min(found, key=lambda seen: seen.id, default=None)

    def overwrite(
        self,
        messages: Sequence[CommitMessage],
        what: Overwrite,
        identifier: int = BATCH_COMMIT_IDENTIFIER,
        *,
        note: CommitNote = NO_NOTE,
        overwritten: OverwrittenPartitions | None = None,
        schema: TableSchema | None = None,
    ) -> list[Snapshot]:
        """Replace the live files of partitions by the files of the messages.

        Without messages, the partitions are dropped. No changelog is written.

        Args:
            messages: the messages of all writers.
            what: the partitions; a dynamic overwrite without messages changes nothing.
            identifier: as for `commit`.
            note: watermark, properties and operation.
            overwritten: partitions whose rows the messages contain; other commits to them are a
                conflict.
            schema: as for `commit`.

        Returns:
            The snapshots of this transaction.

        Raises:
            InvalidInputError: a partition is invalid, or new files are outside of the partitions.
            CommitConflictError, CommitOutcomeUnknownError, CommitError, StorageError: as for
                `commit`.
        """
        written = replace(written_changes(messages), changelog=ManifestEntries.empty())
        if what.dynamic and written.is_empty:
            return self._make([])
        if not what.dynamic:
            check_new_files(self._steps.matcher(what, written))
        request = Request(
            kind=CommitKind.OVERWRITE,
            identifier=identifier,
            changes=written,
            note=note,
            overwrite=what,  # needs no check: it is planned on the base snapshot
            overwritten=overwritten,
            schema=schema,
        )
        return self._make([request])

    def analyze(self, statistics: Statistics) -> Snapshot:
        """Commit new table statistics; data files do not change.

        Args:
            statistics: the statistics.

        Returns:
            The snapshot.

        Raises:
            CommitOutcomeUnknownError, CommitError, StorageError: as for `commit`.
        """
        name = f"stat-{uuid4()}-0"
        self._store.statistics.create(name, statistics)
        request = Request(kind=CommitKind.ANALYZE, statistics=name)
        try:
            return self._make([request])[0]
        except CommitOutcomeUnknownError:
            raise
        except PaimonError:
            self._store.file_io.delete(self._store.paths.statistics(name))
            raise

    def reassign_row_ids(self, row_ids: RowIdMapping, *, planned_on: SeenSnapshot) -> Snapshot:
        """Commit new row ids of existing rows; data files do not change.

        Args:
            row_ids: the new row ids.
            planned_on: the snapshot on which they were planned.

        Raises:
            CommitConflictError: there is a newer snapshot.
            CommitOutcomeUnknownError, CommitError, StorageError: as for `commit`.
        """
        request = Request(kind=CommitKind.OVERWRITE, planned_on=planned_on, row_ids=row_ids)
        return self._make([request])[0]

    def compact_manifests(self) -> Snapshot | None:
        """Merge small manifests and those with deletions; data files do not change.

        Returns:
            The snapshot; None if there is nothing to merge.

        Raises:
            CommitOutcomeUnknownError, CommitError, StorageError: as for `commit`.
        """
        latest = self._store.snapshots.latest()
        if latest is None or not self._is_worth_merging(self._store.manifests.all(latest)):
            return None
        request = Request(
            kind=CommitKind.COMPACT, merging=replace(self._steps.merging, full_bytes=1, min_count=1)
        )
        return self._make([request])[0]

    def _make(self, requests: Sequence[Request]) -> list[Snapshot]:
        iceberg = self._iceberg_writer() if requests else None  # before the commit, which may fail
        snapshots = self._commit_loop.make(requests)
        if iceberg is not None:
            iceberg.write_all(snapshots)
        if self._store.environment is not None:
            from paimon_explore.commit.catalog_partitions import (  # noqa: PLC0415 - for catalogs
                add_new_partitions,
            )

            add_new_partitions(self._store, self._steps.schema, self._options, snapshots)
        if self._options.value(opt.CHAIN_TABLE_ENABLED):
            self._drop_overwritten(snapshots)
        return snapshots

    def _drop_overwritten(self, snapshots: Sequence[Snapshot]) -> None:
        """Drop partitions in the snapshot branch of a chain table that its changes replace."""
        from paimon_explore.commit.chain_partitions import overwritten_partitions  # noqa: PLC0415 - of few tables

        try:
            whole, dropped = overwritten_partitions(self._store, self._options, snapshots)
            schema = whole.schemas.latest() if dropped else None
            if schema is not None:
                Committer(whole, schema).overwrite([], Overwrite(partitions=dropped))
        except PaimonError as error:
            warnings.warn(
                f"Snapshot {snapshots[-1].id} of branch {self._store.paths.branch!r} is committed, "
                "but reads of the chain table do not return its changes: the partitions that it "
                f"overwrote could not be dropped in the snapshot branch: {error}",
                RuntimeWarning,
                stacklevel=2,
            )

    def _iceberg_writer(self) -> "IcebergWriter | None":
        """Return the writer of Iceberg metadata, if the table has some."""
        if not has_iceberg_metadata(self._options) or self._store.paths.branch != MAIN_BRANCH:
            return None
        from paimon_explore.commit.iceberg.metadata_writer import iceberg_writer  # noqa: PLC0415 - for tables with Iceberg metadata

        return iceberg_writer(self._store, self._steps.schema, self._options, self._steps.clock)

    def _is_worth_merging(self, manifests: ManifestFiles) -> bool:
        target = self._steps.merging.target_bytes
        table = manifests.table.select(["file_size", "num_deleted_files"])
        rows = table.to_pylist()
        small = sum(row["file_size"] < target for row in rows)
        return small > 1 or any(row["num_deleted_files"] for row in rows)


def new_commit_user(options: TableOptions) -> str:
    """Return a unique commit user."""
    prefix = options.value(opt.COMMIT_USER_PREFIX)
    return f"{prefix}_{uuid4()}" if prefix else str(uuid4())


@cached_by_schema_and_options
def _conflict_rules(schema: TableSchema, options: TableOptions) -> ConflictRules:
    keys = schema.project(schema.trimmed_primary_keys)
    is_bucketed = len(keys) > 0 or options.value(opt.BUCKET) != DYNAMIC_BUCKET
    action = options.value(opt.GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    ids = {field.name: field.id for field in schema.fields}
    return ConflictRules(
        keys=keys if len(keys) else None,
        is_bucketed=is_bucketed,
        data_evolution=options.value(opt.DATA_EVOLUTION_ENABLED),
        levels_overlap=options.value(opt.PK_CLUSTERING_OVERRIDE),
        indexable={} if action is GlobalIndexColumnUpdateAction.IGNORE else ids,
    )


@cached_by_schema_and_options
def _key_rules(schema: TableSchema, options: TableOptions) -> KeyRules:
    return KeyRules(
        keys=schema.project(schema.trimmed_primary_keys),
        has_fixed_buckets=options.value(opt.BUCKET) > 0,
        crosses_partitions=schema.is_cross_partition,
        by_sequence_field=bool(options.value(opt.SEQUENCE_FIELD))
        or options.value(opt.SEQUENCE_SNAPSHOT_ORDERING),
    )
