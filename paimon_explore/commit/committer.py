"""The commit: how changes become a snapshot that everybody sees, or none at all.

Theory of operation. All files of a commit are written under names that nobody else can choose, and
nothing refers to them. One act makes them visible: the snapshot file `snapshot-N` is created, whole
or not at all, and only if there is none. Whoever creates N first has N; everybody else reads the
new latest snapshot, checks that the changes still fit, and tries N+1.

A try goes through these steps; the table `STEPS` in `steps` is what runs.

| step | writes | a crash right after it leaves |
| --- | --- | --- |
| read the latest snapshot | | data files of the writers: orphans |
| find what an overwrite removes | | the same |
| check that the changes still fit | | the same |
| merge manifests, base list | `manifest-*`, `manifest-list-*` | orphans besides |
| row ids, delta manifests, their list | `manifest-*`, `manifest-list-*` | orphans besides |
| changelog manifests, their list | `manifest-*`, `manifest-list-*` | orphans besides |
| index manifest, if it changes | `index-manifest-*` | orphans besides |
| create the snapshot | `snapshot-N` | the commit, visible and complete |
| hints | `LATEST`, once `EARLIEST` | hints that lag, which readers expect |

What goes wrong:

- A step before the creation fails: the files of this try are removed; the error goes to the caller.
  Data files stay: the caller may try again, or abort the messages.
- The number is taken: the base list of this try is removed, what does not depend on the latest
  snapshot (delta and changelog) is used again, and the next try begins after a wait.
- The creation fails without a clear answer: nothing is removed any more. The snapshot file tells:
  it holds our uuid (done), another (lost), or is not there (next try, which first looks for our
  user and identifier in all newer snapshots). If not even that can be read, the caller gets a
  `CommitOutcomeUnknownError` and may commit the same messages again with the same identifier.

Spec: concepts/concurrency-control; concepts/spec/snapshot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from paimon_explore.commit.backoff import Timing, retry_policy_of
from paimon_explore.commit.commit_attempt import NO_NOTE, CommitNote, Request, TrySteps
from paimon_explore.commit.commit_loop import Publisher
from paimon_explore.commit.commit_trace import CommitEvent
from paimon_explore.commit.conflicts import ConflictRules
from paimon_explore.commit.file_changes import Changes, compacted_changes, written_changes
from paimon_explore.commit.iceberg import warn_of_stale_iceberg_metadata
from paimon_explore.commit.key_conflicts import KeyRules
from paimon_explore.commit.manifest_merge import merge_rules_of
from paimon_explore.commit.manifest_writer import ManifestWriter
from paimon_explore.commit.overwrite import Overwrite, check_new_files
from paimon_explore.errors import (
    CommitOutcomeUnknownError,
    InvalidInputError,
    PaimonError,
    choices,
)
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET, TableOptions
from paimon_explore.metadata.schema.derived_cache import cached_by_schema_and_options
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot
from paimon_explore.metadata.statistics_file import Statistics
from paimon_explore.store.table_store import TableStore

_AVRO_CODECS: Mapping[str, str] = {
    "zstd": "zstandard",
    "zstandard": "zstandard",
    "snappy": "snappy",
    "deflate": "deflate",
    "none": "null",
    "null": "null",
}


class Committer:
    """Makes snapshots of one table, as one user. One thread at a time.

    Args:
        store: the table and branch.
        schema: its latest schema.
        options: the options in force; the schema's by default.
        commit_user: who commits. A job that goes on after a failure keeps its user, so that what it
            has committed is found again; by default a fresh user.
        timing: clock, sleep and chance.

    Attributes:
        commit_user: who commits.
    """

    def __init__(
        self,
        store: TableStore,
        schema: TableSchema,
        *,
        options: TableOptions | None = None,
        commit_user: str | None = None,
        timing: Timing | None = None,
    ) -> None:
        chosen = options if options is not None else TableOptions(schema.options)
        when = timing or Timing()
        self._store = store
        self._options = chosen
        self.commit_user = commit_user or fresh_user(chosen)
        self._steps = TrySteps(
            store=store,
            schema=schema,
            options=chosen,
            user=self.commit_user,
            clock=when.clock,
            writer=ManifestWriter(
                store=store,
                partition_type=schema.partition_type,
                codec=_codec(chosen),
                target_bytes=chosen.value(opt.MANIFEST_TARGET_FILE_SIZE),
                file_format=chosen.value(opt.MANIFEST_FORMAT),
            ),
            merging=merge_rules_of(chosen),
            checks=_conflict_rules(schema, chosen),
            row_tracking=chosen.value(opt.ROW_TRACKING_ENABLED),
            key_rules=_key_rules(schema, chosen),
        )
        self._publisher = Publisher(
            self._steps, when, retry_policy_of(chosen), is_new_user=commit_user is None
        )

    @property
    def trace(self) -> list[CommitEvent]:
        """What the last commit did, step by step."""
        return self._publisher.trace

    def commit(  # noqa: PLR0913  # the choices of one commit
        self,
        messages: Sequence[CommitMessage],
        identifier: int = BATCH_COMMIT_IDENTIFIER,
        *,
        note: CommitNote = NO_NOTE,
        ignore_empty: bool = True,
        check_appends: bool = False,
        planned_on: int | None = None,
        ordered: bool = False,
    ) -> list[Snapshot]:
        """Make what writers and compactions did visible.

        Args:
            messages: of all writers.
            identifier: number of the transaction; those of one user grow. If this user has
                committed it before, nothing happens. Batch jobs leave it alone.
            note: watermark, properties and operation.
            ignore_empty: make no snapshot if nothing changes.
            check_appends: check for conflicts even if only files are added.
            planned_on: the snapshot whose rows were read to make new values of some columns; with
                it, others' new values of the same columns and rows are a conflict.
            ordered: refuse records of a primary-key table that are numbered before those which
                another commit has written for the same keys, so that they would not replace them.

        Returns:
            The snapshots of this transaction, also those found to be there already: none, one, or
            two (what was written, then what was compacted).

        Raises:
            CommitConflictError: the changes do not fit what others have committed.
            CommitOutcomeUnknownError: it may or may not be visible; commit again to find out.
            CommitError: too many others were faster.
            StorageError: a file could not be read or written; nothing is visible.
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
        """The oldest snapshot that records depend on, if others' commits since then matter."""
        found = [message.seen for message in messages if message.seen is not None]
        if not found:
            return None
        oldest = min(found, key=lambda seen: seen.id)
        reads = any(seen.reads for seen in found)
        is_dynamic = self._steps.options.value(opt.BUCKET) == DYNAMIC_BUCKET
        return replace(oldest, reads=reads) if reads or ordered or is_dynamic else None

    def overwrite(
        self,
        messages: Sequence[CommitMessage],
        what: Overwrite,
        identifier: int = BATCH_COMMIT_IDENTIFIER,
        *,
        note: CommitNote = NO_NOTE,
    ) -> list[Snapshot]:
        """Replace the live files of partitions by the files of the messages.

        With no message, the partitions are dropped; a changelog is never written.

        Args:
            messages: of all writers.
            what: the partitions; dynamic ones without messages change nothing.
            identifier: as for `commit`.
            note: watermark, properties and operation.

        Returns:
            The snapshots of this transaction.

        Raises:
            InvalidInputError: a partition that is none, or new files outside of the partitions.
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
            check=False,  # what goes is found in the very snapshot that it builds on
            overwrite=what,
        )
        return self._make([request])

    def analyze(self, statistics: Statistics) -> Snapshot:
        """Make new statistics of the table known; no file changes.

        Args:
            statistics: the figures.

        Returns:
            The snapshot.

        Raises:
            CommitOutcomeUnknownError, CommitError, StorageError: as for `commit`.
        """
        name = f"stat-{uuid4()}-0"
        self._store.statistics.create(name, statistics)
        request = Request(
            kind=CommitKind.ANALYZE,
            identifier=BATCH_COMMIT_IDENTIFIER,
            changes=Changes(),
            note=NO_NOTE,
            check=False,
            statistics=name,
        )
        try:
            return self._make([request])[0]
        except CommitOutcomeUnknownError:
            raise
        except PaimonError:
            self._store.file_io.delete(self._store.paths.statistics(name))
            raise

    def compact_manifests(self) -> Snapshot | None:
        """Rewrite small manifests and those with deletions; no file changes.

        Returns:
            The snapshot; None if the manifests are as few as they can be.

        Raises:
            CommitOutcomeUnknownError, CommitError, StorageError: as for `commit`.
        """
        latest = self._store.snapshots.latest()
        if latest is None or not self._is_worth_merging(self._store.manifests.all(latest)):
            return None
        request = Request(
            kind=CommitKind.COMPACT,
            identifier=BATCH_COMMIT_IDENTIFIER,
            changes=Changes(),
            note=NO_NOTE,
            check=False,
            merging=replace(self._steps.merging, full_bytes=1, min_count=1),
        )
        return self._make([request])[0]

    def _make(self, requests: Sequence[Request]) -> list[Snapshot]:
        if requests:  # before the commit: who turns warnings into errors must not get half of it
            warn_of_stale_iceberg_metadata(self._store.paths.root, self._options)
        return self._publisher.make(requests)

    def _is_worth_merging(self, manifests: ManifestFiles) -> bool:
        target = self._steps.merging.target_bytes
        table = manifests.table.select(["file_size", "num_deleted_files"])
        rows = table.to_pylist()
        small = sum(row["file_size"] < target for row in rows)
        return small > 1 or any(row["num_deleted_files"] for row in rows)


def fresh_user(options: TableOptions) -> str:
    """A commit user that nobody else has."""
    prefix = options.value(opt.COMMIT_USER_PREFIX)
    return f"{prefix}_{uuid4()}" if prefix else str(uuid4())


def _codec(options: TableOptions) -> str:
    name = (options.value(opt.MANIFEST_COMPRESSION) or "zstd").lower()
    codec = _AVRO_CODECS.get(name)
    if codec is None:
        raise InvalidInputError(
            f"Option 'manifest.compression' = {name!r}: not a compression of manifests.",
            hint=f"Use {choices(_AVRO_CODECS)}.",
        )
    return codec


@cached_by_schema_and_options
def _conflict_rules(schema: TableSchema, options: TableOptions) -> ConflictRules:
    keys = schema.project(schema.trimmed_primary_keys)
    is_bucketed = len(keys) > 0 or options.value(opt.BUCKET) != DYNAMIC_BUCKET
    return ConflictRules(
        keys=keys if len(keys) else None,
        is_bucketed=is_bucketed,
        data_evolution=options.value(opt.DATA_EVOLUTION_ENABLED),
        levels_overlap=options.value(opt.PK_CLUSTERING_OVERRIDE),
    )


@cached_by_schema_and_options
def _key_rules(schema: TableSchema, options: TableOptions) -> KeyRules:
    return KeyRules(
        keys=schema.project(schema.trimmed_primary_keys),
        has_fixed_buckets=options.value(opt.BUCKET) > 0,
        crosses_partitions=schema.is_cross_partition,
        by_sequence_field=bool(options.value(opt.SEQUENCE_FIELD)),
    )
