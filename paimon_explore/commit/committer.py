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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from paimon_explore.commit.changes import Changes, compacted_changes, written_changes
from paimon_explore.commit.conflicts import ConflictRules
from paimon_explore.commit.manifest_merge import merge_rules_of
from paimon_explore.commit.manifest_writer import ManifestWriter
from paimon_explore.commit.overwrite import Overwrite, check_new_files
from paimon_explore.commit.steps import (
    NO_NOTE,
    STEPS,
    CommitNote,
    Figures,
    Request,
    Try,
    TrySteps,
)
from paimon_explore.commit.trace import CommitEvent, CommitStep
from paimon_explore.commit.waiting import Patience, Timing, patience_of
from paimon_explore.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    InvalidInputError,
    NotFoundError,
    StorageError,
    choices,
)
from paimon_explore.metadata import options as opt
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import DYNAMIC_BUCKET, TableOptions
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot
from paimon_explore.store.table_store import TableStore

_AVRO_CODECS: Mapping[str, str] = {
    "zstd": "zstandard",
    "zstandard": "zstandard",
    "snappy": "snappy",
    "deflate": "deflate",
    "none": "null",
    "null": "null",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doubt:
    """A creation that the storage did not answer.

    Attributes:
        files: names of the new files of the commit, by which it is known again.
        uuids: of the snapshots that were tried.
    """

    files: frozenset[str]
    uuids: frozenset[str]


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
        trace: what the last commit did, step by step.
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
        self.commit_user = commit_user or fresh_user(chosen)
        self.trace: list[CommitEvent] = []
        self._store = store
        self._timing = timing or Timing()
        self._patience: Patience = patience_of(chosen)
        self._last_identifier = -1 if commit_user is None else None
        self._doubt: _Doubt | None = None
        self._writer = ManifestWriter(
            store=store,
            partition_type=schema.partition_type,
            codec=_codec(chosen),
            target_bytes=chosen.value(opt.MANIFEST_TARGET_FILE_SIZE),
        )
        self._steps = TrySteps(
            store=store,
            schema=schema,
            options=chosen,
            user=self.commit_user,
            clock=self._timing.clock,
            writer=self._writer,
            merging=merge_rules_of(chosen),
            checks=_conflict_rules(schema, chosen),
            row_tracking=chosen.value(opt.ROW_TRACKING_ENABLED),
        )

    def commit(
        self,
        messages: Sequence[CommitMessage],
        identifier: int = BATCH_COMMIT_IDENTIFIER,
        *,
        note: CommitNote = NO_NOTE,
        ignore_empty: bool = True,
        check_appends: bool = False,
    ) -> list[Snapshot]:
        """Make what writers and compactions did visible.

        Args:
            messages: of all writers.
            identifier: number of the transaction; those of one user grow. If this user has
                committed it before, nothing happens. Batch jobs leave it alone.
            note: watermark, properties and operation.
            ignore_empty: make no snapshot if nothing changes.
            check_appends: check for conflicts even if only files are added.

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

    def _make(self, requests: Sequence[Request]) -> list[Snapshot]:
        self.trace = []
        if not requests:
            self._note(CommitStep.SKIP_EMPTY, None)
            return []
        found, is_past = self._earlier(requests)
        if is_past:
            return list(found.values())
        return [found.get(request.kind) or self._make_snapshot(request) for request in requests]

    def _earlier(self, requests: Sequence[Request]) -> tuple[Mapping[CommitKind, Snapshot], bool]:
        """What this transaction has made visible before, and whether it is past.

        A batch job has one identifier for all commits, so there only a commit in doubt is looked
        for, by the uuids that were tried.
        """
        identifier = requests[0].identifier
        doubtful = self._doubtful_uuids(requests)
        is_known = self._last_identifier is not None and identifier > self._last_identifier
        if not doubtful and (identifier == BATCH_COMMIT_IDENTIFIER or is_known):
            return {}, False
        found: dict[CommitKind, Snapshot] = {}
        is_past = False
        for snapshot in self._own_snapshots():
            if snapshot.uuid in doubtful:
                found[snapshot.commit_kind] = snapshot
            if identifier == BATCH_COMMIT_IDENTIFIER:
                continue
            if snapshot.commit_identifier == identifier:
                found[snapshot.commit_kind] = snapshot
            is_past |= snapshot.commit_identifier > identifier
            if snapshot.commit_identifier < identifier:
                break
        self._note(CommitStep.LOOK_FOR_EARLIER, None, {"found": len(found)})
        return found, is_past

    def _doubtful_uuids(self, requests: Sequence[Request]) -> frozenset[str]:
        if self._doubt is None:
            return frozenset()
        is_same = any(_new_files(request.changes) == self._doubt.files for request in requests)
        return self._doubt.uuids if is_same else frozenset()

    def _own_snapshots(self) -> Iterator[Snapshot]:
        """This user's snapshots, newest first."""
        for snapshot_id in reversed(self._store.snapshots.ids()):
            snapshot = self._store.snapshots.find(snapshot_id)
            if snapshot is not None and snapshot.commit_user == self.commit_user:
                yield snapshot

    def _make_snapshot(self, request: Request) -> Snapshot:
        """Try until the snapshot is there."""
        started = self._timing.clock()
        last: Try | None = None
        while True:
            state = self._begin(request, last)
            made = self._made_by(request, last, state)
            if made is None:
                self._prepare(state)
                made = self._publish(state)
            if made is not None:
                return self._succeed(state, made)
            self._wait(state, started)
            last = state

    def _begin(self, request: Request, last: Try | None) -> Try:
        """Read what a try depends on; take over what an earlier try has written."""
        try:
            latest = self._store.snapshots.latest()
            schema = self._store.schemas.latest() or self._steps.schema
        except (StorageError, NotFoundError) as error:
            self._end(error)
            raise
        state = Try(
            request=request,
            number=1 if last is None else last.number + 1,
            latest=latest,
            schema=schema,
            changes=request.changes,
            delta_entries=request.changes.entries,
            next_row_id=(latest.next_row_id or 0) if latest is not None else 0,
        )
        if last is not None:
            state.changelog = last.changelog
            state.delta = last.delta if self._keeps_delta(request) else None
        self._note(CommitStep.READ_LATEST, state, {"latest": state.snapshot_id - 1})
        return state

    def _keeps_delta(self, request: Request) -> bool:
        """Whether the delta does not depend on the latest snapshot."""
        return request.overwrite is None and not self._steps.row_tracking

    def _made_by(self, request: Request, last: Try | None, state: Try) -> Snapshot | None:
        """The snapshot that an earlier try made without getting an answer."""
        if self._doubt is None or last is None:
            return None
        try:
            for snapshot_id in range(last.snapshot_id, state.snapshot_id):
                there = self._store.snapshots.find(snapshot_id)
                if there is not None and self._is_ours(there, request):
                    return there
        except StorageError as error:
            self._end(error)
            raise
        return None

    def _is_ours(self, snapshot: Snapshot, request: Request) -> bool:
        if self._doubt is not None and snapshot.uuid in self._doubt.uuids:
            return True
        return (
            request.identifier != BATCH_COMMIT_IDENTIFIER
            and snapshot.commit_user == self.commit_user
            and snapshot.commit_identifier == request.identifier
            and snapshot.commit_kind is request.kind
        )

    def _prepare(self, state: Try) -> None:
        """All steps before the decisive one; leaves nothing behind if one fails."""
        try:
            for step, run in STEPS:
                figures = run(self._steps, state)
                if figures is not None:
                    self._note(step, state, figures)
        except BaseException as error:
            self._end(error)
            raise

    def _publish(self, state: Try) -> Snapshot | None:
        """Create the snapshot file; None if the number is taken or the outcome is open."""
        snapshot = state.snapshot
        assert snapshot is not None  # noqa: S101  # the last step made it
        try:
            created = self._store.snapshots.create(snapshot)
        except StorageError:
            self._remember(state, snapshot)
            return self._look(state, snapshot)
        except BaseException:
            self._remember(state, snapshot)
            self._writer.forget()
            raise
        if created:
            self._note(CommitStep.PUBLISH, state, {"rows": snapshot.delta_record_count or 0})
            return snapshot
        return self._look(state, snapshot)

    def _remember(self, state: Try, snapshot: Snapshot) -> None:
        """From now on the snapshot may be there; nothing it needs may be removed."""
        before = self._doubt.uuids if self._doubt is not None else frozenset()
        self._doubt = _Doubt(
            files=_new_files(state.request.changes), uuids=before | {str(snapshot.uuid)}
        )
        self._note(CommitStep.DOUBT, state)

    def _look(self, state: Try, snapshot: Snapshot) -> Snapshot | None:
        """Whose snapshot has the number: ours, if a reply was lost; somebody's; or nobody's yet."""
        try:
            there = self._store.snapshots.find(snapshot.id)
        except StorageError as error:
            self._remember(state, snapshot)
            self._end(error)
            raise
        if there is None:
            return None
        if there.uuid == snapshot.uuid or self._is_ours(there, state.request):
            return there
        self._note(CommitStep.LOSE, state, {"to": there.commit_user})
        self._doubt = None  # the number is somebody else's: what was in doubt has failed
        lists = [state.changelog, state.delta if self._keeps_delta(state.request) else None]
        self._remove_but([found.name for found in lists if found is not None], state)
        return None

    def _wait(self, state: Try, started: int) -> None:
        """Wait for the next try, or give up."""
        elapsed = self._timing.clock() - started
        retry = state.number - 1
        if self._patience.is_over(retry, elapsed):
            self._end(None)
            raise CommitError(
                f"Gave up after {state.number} tries and {elapsed} ms: "
                "others were faster each time.",
                hint="Raise commit.max-retries or commit.timeout, or commit again.",
            )
        wait = self._patience.wait_ms(retry, self._timing.chance())
        self._timing.sleep(wait / 1000)
        self._note(CommitStep.WAIT, state, {"ms": round(wait)})

    def _end(self, error: BaseException | None) -> None:
        """Clean up after a commit that failed; while it is in doubt, nothing is removed.

        Raises:
            CommitOutcomeUnknownError: it is in doubt.
        """
        if self._doubt is None:
            self._remove(list(self._writer.written), None)
            return
        self._writer.forget()
        if error is None or isinstance(error, StorageError | NotFoundError):
            raise CommitOutcomeUnknownError(
                "The storage did not say whether the snapshot was created"
                + (f", and then: {error}" if error is not None else "."),
                hint="Commit the same messages again with the same user and identifier: "
                "what is there already is found.",
            ) from error

    def _succeed(self, state: Try, snapshot: Snapshot) -> Snapshot:
        if self._doubt is not None:
            index = snapshot.index_manifest
            self._remove_but(_lists(snapshot), state, [] if index is None else [index])
            self._doubt = None
        self._writer.forget()
        if snapshot.commit_identifier != BATCH_COMMIT_IDENTIFIER:
            self._last_identifier = snapshot.commit_identifier
        try:
            self._store.snapshots.hint_latest(snapshot.id)
            if snapshot.id == 1:
                self._store.snapshots.hint_earliest(1)
        except StorageError:
            self._note(CommitStep.WRITE_HINTS, state, {"failed": "readers list the folder"})
        else:
            self._note(CommitStep.WRITE_HINTS, state)
        self._note(CommitStep.DONE, state)
        return snapshot

    def _remove_but(self, lists: Sequence[str], state: Try, others: Sequence[str] = ()) -> None:
        """Remove what was written, but some manifest lists, what they name, and other files."""
        manifests = self._store.manifests
        try:
            names = [name for found in lists for name in (found, *manifests.list(found).names)]
        except StorageError:
            self._writer.forget()  # orphans do no harm
            return
        kept = {self._store.paths.manifest(name) for name in [*names, *others]}
        self._remove([path for path in self._writer.written if path not in kept], state)

    def _remove(self, paths: Sequence[str], state: Try | None) -> None:
        gone = list(paths)
        for path in gone:
            self._writer.written.remove(path)
            try:
                self._store.file_io.delete(path)
            except StorageError:
                continue  # an orphan, which does no harm
        if gone:
            self._note(CommitStep.CLEAN_UP, state, {"files": len(gone)})

    def _note(self, step: CommitStep, state: Try | None, figures: Figures | None = None) -> None:
        self.trace.append(
            CommitEvent(
                step=step,
                attempt=state.number if state is not None else 0,
                snapshot_id=state.snapshot_id if state is not None else None,
                time_millis=self._timing.clock(),
                figures=figures or {},
            )
        )


def fresh_user(options: TableOptions) -> str:
    """A commit user that nobody else has."""
    prefix = options.value(opt.COMMIT_USER_PREFIX)
    return f"{prefix}_{uuid4()}" if prefix else str(uuid4())


def _lists(snapshot: Snapshot) -> list[str]:
    names = (
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        snapshot.changelog_manifest_list,
    )
    return [name for name in names if name is not None]


def _new_files(changes: Changes) -> frozenset[str]:
    return frozenset(str(name.as_py()) for name in changes.entries.column("file_name"))


def _codec(options: TableOptions) -> str:
    name = (options.value(opt.MANIFEST_COMPRESSION) or "zstd").lower()
    codec = _AVRO_CODECS.get(name)
    if codec is None:
        raise InvalidInputError(
            f"manifest.compression = {name!r} is no compression of manifests.",
            hint=f"Use {choices(_AVRO_CODECS)}.",
        )
    return codec


def _conflict_rules(schema: TableSchema, options: TableOptions) -> ConflictRules:
    keys = schema.project(schema.trimmed_primary_keys)
    is_bucketed = len(keys) > 0 or options.value(opt.BUCKET) != DYNAMIC_BUCKET
    return ConflictRules(
        keys=keys if len(keys) else None,
        is_bucketed=is_bucketed,
        data_evolution=options.value(opt.DATA_EVOLUTION_ENABLED),
    )
