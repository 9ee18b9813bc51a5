"""The retry loop of a commit: repeats attempts until the snapshot file is created.

Handles lost races, backoff, and storage failures with an unknown outcome; `committer` describes the
protocol.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from paimon_explore.commit.commit_attempt import (
    STEPS,
    AttemptSteps,
    CommitAttempt,
    Metrics,
    Request,
)
from paimon_explore.commit.commit_timing import CommitRetryPolicy, Timing
from paimon_explore.commit.commit_trace import CommitEvent, CommitStep, emit
from paimon_explore.commit.file_changes import Changes
from paimon_explore.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    StorageError,
)
from paimon_explore.fileio.concurrent_requests import at_once, delete_each
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.version_management import version_management

_MAX_NAMES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnknownOutcome:
    """A snapshot creation whose response was lost.

    Attributes:
        files: names of the new files of the commit, which identify it.
        marks: what identifies the snapshots of all attempts; see `_marks_of`.
        first_id: the lowest snapshot id of the attempts.
    """

    files: frozenset[str]
    marks: frozenset[object]
    first_id: int


class CommitLoop:
    """Creates snapshots from requests of one commit user.

    Args:
        steps: the steps of an attempt before the snapshot file is created.
        timing: clock, sleep and random numbers.
        retry_policy: when to give up.
        is_new_user: whether the user is new, so that it has no earlier commits.
        before_publish: called before a snapshot file is created, to wait for uploads of data files.

    Attributes:
        trace: the events of the last requests.
    """

    def __init__(
        self,
        steps: AttemptSteps,
        timing: Timing,
        retry_policy: CommitRetryPolicy,
        *,
        is_new_user: bool,
        before_publish: Callable[[], None],
    ) -> None:
        self.trace: list[CommitEvent] = []
        self._steps = steps
        self._store = steps.store
        self._server = version_management(steps.store.environment)
        self._writer = steps.writer
        self._timing = timing
        self._retry_policy = retry_policy
        self._before_publish = before_publish
        self._last_identifier = -1 if is_new_user else None
        self._unknown_outcome: _UnknownOutcome | None = None

    def make(self, requests: Sequence[Request]) -> list[Snapshot]:
        """Create the snapshots of one transaction in order; existing ones are not created again.

        Args:
            requests: requests with the same identifier and different kinds.

        Raises:
            CommitConflictError, CommitOutcomeUnknownError, CommitError, StorageError: see
                `Committer.commit`.
        """
        self.trace = []
        if not requests:
            self._note(CommitStep.SKIP_EMPTY, None)
            return []
        try:
            found, is_past = self._find_earlier_commits(requests)
        except CommitOutcomeUnknownError:
            raise
        except PaimonError as error:
            raise _unknown(error, self._steps.user) from error
        if is_past:
            return list(found.values())
        created: list[Snapshot] = []
        for request in requests:
            try:
                created.append(found.get(request.kind) or self._make_snapshot(request))
            except CommitOutcomeUnknownError:
                raise
            except PaimonError as error:
                if created:
                    raise _partly_committed(created[-1], error) from error
                raise
        return created

    def _find_earlier_commits(
        self, requests: Sequence[Request]
    ) -> tuple[Mapping[CommitKind, Snapshot], bool]:
        """Find snapshots of this transaction, and whether a later transaction exists.

        Batch jobs use one identifier for all commits, so for them only a commit with an unknown
        outcome is searched, by the marks of its attempts.
        """
        identifier = requests[0].identifier
        unconfirmed = self._unconfirmed_marks(requests)
        is_known = self._last_identifier is not None and identifier > self._last_identifier
        if not unconfirmed and (identifier == BATCH_COMMIT_IDENTIFIER or is_known):
            return {}, False
        found: dict[CommitKind, Snapshot] = {}
        is_past = False
        for snapshot in self._own_snapshots():
            if _mark_of(snapshot) in unconfirmed:
                found[snapshot.commit_kind] = snapshot
            if identifier == BATCH_COMMIT_IDENTIFIER:
                continue
            if snapshot.commit_identifier == identifier:
                found[snapshot.commit_kind] = snapshot
            is_past |= snapshot.commit_identifier > identifier
            if snapshot.commit_identifier < identifier:
                break
        if unconfirmed and not found:
            self._check_not_expired()
        self._note(CommitStep.LOOK_FOR_EARLIER, None, {"found": len(found)})
        return found, is_past

    def _check_not_expired(self) -> None:
        """Raise if the snapshot of the unknown outcome may have been created and then expired.

        Raises:
            CommitOutcomeUnknownError: the outcome can no longer be determined.
        """
        earliest = self._store.snapshots.earliest_id()
        if (
            self._unknown_outcome is not None
            and earliest is not None
            and earliest > self._unknown_outcome.first_id
        ):
            raise CommitOutcomeUnknownError(
                "The storage did not confirm whether snapshot "
                f"{self._unknown_outcome.first_id} was created, "
                f"and the snapshots before {earliest} have since expired.",
                hint="Check whether the table contains the rows before writing them again.",
            )

    def _unconfirmed_marks(self, requests: Sequence[Request]) -> frozenset[object]:
        if self._unknown_outcome is None:
            return frozenset()
        is_same = any(
            _new_files(request.changes) == self._unknown_outcome.files for request in requests
        )
        return self._unknown_outcome.marks if is_same else frozenset()

    def _own_snapshots(self) -> Iterator[Snapshot]:
        """Yield the snapshots of this user, newest first."""
        for snapshot_id in reversed(self._store.snapshots.history()):
            snapshot = self._store.snapshots.find(snapshot_id)
            if snapshot is not None and snapshot.commit_user == self._steps.user:
                yield snapshot

    def _make_snapshot(self, request: Request) -> Snapshot:
        """Repeat attempts until the snapshot is created."""
        started = self._timing.clock()
        last: CommitAttempt | None = None
        while True:
            state = self._start_attempt(request, last)
            created = self._find_earlier_attempt(request, last, state)
            if created is None and self._prepare(state):
                created = self._create_snapshot(state)
            if created is not None:
                return self._succeed(state, created)
            self._wait(state, started)
            last = state

    def _start_attempt(self, request: Request, last: CommitAttempt | None) -> CommitAttempt:
        """Read the latest snapshot and schema; reuse files of the previous attempt."""
        try:
            latest, schema = self._latest()
        except PaimonError as error:
            self._clean_up_failed(error)
            raise
        schema = request.schema or schema
        state = CommitAttempt(
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
            state.delta = last.delta if self._can_reuse_delta(request) else None
        self._note(CommitStep.READ_LATEST, state, {"latest": state.snapshot_id - 1})
        return state

    def _latest(self) -> tuple[Snapshot | None, TableSchema]:
        """Read the latest snapshot and schema, at the same time if the storage is remote.

        Raises:
            NotFoundError: the branch or the table was deleted meanwhile.
        """
        reads: list[Callable[[], Snapshot | TableSchema | None]]
        reads = [self._store.snapshots.latest, self._store.schemas.latest]
        latest, schema = at_once(self._store.file_io, reads)
        if not isinstance(schema, TableSchema):
            paths = self._store.paths
            kind, name = ("branch", paths.branch) if self._is_in_branch else ("table", paths.root)
            hint = f"Another process deleted or renamed the {kind} during the commit."
            raise NotFoundError(kind, name, paths.root if self._is_in_branch else "", hint=hint)
        return latest if isinstance(latest, Snapshot) else None, schema

    @property
    def _is_in_branch(self) -> bool:
        return self._store.paths.branch != MAIN_BRANCH

    def _can_reuse_delta(self, request: Request) -> bool:
        """Return whether the delta manifests do not depend on the latest snapshot."""
        steps = self._steps
        depends = steps.row_tracking or steps.numbers_by_snapshot or steps.discards_duplicates
        return request.overwrite is None and not depends

    def _find_earlier_attempt(
        self, request: Request, last: CommitAttempt | None, state: CommitAttempt
    ) -> Snapshot | None:
        """Return the snapshot of an earlier attempt whose response was lost, if it exists."""
        if self._unknown_outcome is None or last is None:
            return None
        try:
            for snapshot_id in range(last.snapshot_id, state.snapshot_id):
                found = self._store.snapshots.find(snapshot_id)
                if found is not None and self._is_ours(found, request):
                    return found
            self._check_not_expired()
        except PaimonError as error:
            self._clean_up_failed(error)
            raise
        if state.snapshot_id > last.snapshot_id:
            self._unknown_outcome = None  # another commit has the id, so the attempt failed
        return None

    def _is_ours(self, snapshot: Snapshot, request: Request) -> bool:
        unknown = self._unknown_outcome
        if unknown is not None and _mark_of(snapshot) in unknown.marks:
            return True
        return (
            request.identifier != BATCH_COMMIT_IDENTIFIER
            and snapshot.commit_user == self._steps.user
            and snapshot.commit_identifier == request.identifier
            and snapshot.commit_kind is request.kind
        )

    def _prepare(self, state: CommitAttempt) -> bool:
        """Run all steps before the snapshot file is created; clean up if one fails.

        Returns:
            Whether the attempt may continue; False if others have deleted files that it reads: its
            base has expired, or was rolled back or deleted with its branch.
        """
        failing = CommitStep.DESCRIBE
        try:
            for step, run in STEPS:
                failing = step
                figures = run(self._steps, state)
                if figures is not None:
                    self._note(step, state, figures)
            self._writer.finish()
            self._before_publish()
        except MissingFileError as error:
            if self._has_other_base(state):
                return False
            self._fail(state, failing, error)
            raise
        except BaseException as error:
            self._fail(state, failing, error)
            raise
        return True

    def _fail(self, state: CommitAttempt, step: CommitStep, error: BaseException) -> None:
        what = f"{type(error).__name__}: {error}"
        self._note(CommitStep.FAIL, state, {"step": step.value, "error": what})
        self._clean_up_failed(error)

    def _has_other_base(self, state: CommitAttempt) -> bool:
        """Return whether the base of the attempt is no longer the latest snapshot."""
        try:
            latest = self._store.snapshots.latest()
        except PaimonError as error:
            self._clean_up_failed(error)
            raise
        if latest == state.latest:
            return False
        self._note(CommitStep.LOSE, state, {"newest": 0 if latest is None else latest.id})
        if self._unknown_outcome is None:
            self._remove_attempt_files(state)
        return True

    def _create_snapshot(self, state: CommitAttempt) -> Snapshot | None:
        """Create the snapshot file; None if the id is taken or the outcome is unknown."""
        snapshot = state.snapshot
        assert snapshot is not None  # noqa: S101  # the last step created it
        try:
            created = self._commit(state, snapshot)
        except StorageError:
            self._record_unknown_outcome(state, snapshot)
            return self._find_winner(state, snapshot)
        except PaimonError as error:  # the catalog refused it, or its lock was not acquired
            self._clean_up_failed(error)
            raise
        except BaseException:
            self._record_unknown_outcome(state, snapshot)
            self._writer.forget()
            raise
        if created and self._server is None and self._was_rolled_back(state):
            self._delete_snapshot(state, snapshot)
            return None
        if created:
            self._note(CommitStep.PUBLISH, state, {"rows": snapshot.delta_record_count or 0})
            return snapshot
        return self._find_winner(state, snapshot)

    def _commit(self, state: CommitAttempt, snapshot: Snapshot) -> bool:
        """Create the snapshot file, or let the server of the catalog create it."""
        server = self._server
        if server is None:
            return self._store.snapshots.create(snapshot)
        from paimon_explore.commit.catalog_partitions import (  # noqa: PLC0415 - for catalog servers
            partition_changes,
        )

        changes = partition_changes(state.delta_entries, state.schema, self._steps.options)
        base = None if state.latest is None else state.latest.uuid
        return server.commit_snapshot(self._store.paths.branch, snapshot, changes, base)

    def _committed(self, snapshot_id: int) -> Snapshot | None:
        """Return the snapshot with an id, if it was committed: a server knows better than files."""
        if self._server is not None:
            latest = self._server.latest_snapshot(self._store.paths.branch)
            if latest is None or latest.id < snapshot_id:
                return None
            if latest.id == snapshot_id:
                return latest
        return self._store.snapshots.find(snapshot_id)

    def _was_rolled_back(self, state: CommitAttempt) -> bool:
        """Return whether a rollback has removed or replaced the base of the new snapshot.

        A rollback first sets the hint LATEST to its target. An expiry does not change the hint, and
        removes all snapshots before those that it keeps.
        """
        latest, snapshots = state.latest, self._store.snapshots
        if latest is None:
            return False
        try:
            found = snapshots.find(latest.id)
            if found is not None:
                return found.delta_manifest_list != latest.delta_manifest_list
            hint = snapshots.latest_hint()
            return hint is not None and hint < latest.id and snapshots.find(hint) is not None
        except StorageError:
            return False  # the snapshot was created

    def _delete_snapshot(self, state: CommitAttempt, snapshot: Snapshot) -> None:
        """Delete the new snapshot, which would undo a concurrent rollback."""
        try:
            self._store.snapshots.delete(snapshot.id)
        except StorageError as error:
            self._record_unknown_outcome(state, snapshot)
            self._clean_up_failed(error)
            raise
        self._note(CommitStep.LOSE, state, {"to": "a rollback"})
        self._unknown_outcome = None
        self._remove_attempt_files(state)

    def _record_unknown_outcome(self, state: CommitAttempt, snapshot: Snapshot) -> None:
        """Record that the snapshot may exist; its files must not be removed."""
        before = self._unknown_outcome
        self._unknown_outcome = _UnknownOutcome(
            files=_new_files(state.request.changes),
            marks=(before.marks if before is not None else frozenset()) | _marks_of(snapshot),
            first_id=before.first_id if before is not None else snapshot.id,
        )
        self._note(CommitStep.DOUBT, state)

    def _find_winner(self, state: CommitAttempt, snapshot: Snapshot) -> Snapshot | None:
        """Return the existing snapshot if it is ours (its response was lost), else None."""
        try:
            found = self._committed(snapshot.id)
        except PaimonError as error:
            self._record_unknown_outcome(state, snapshot)
            self._clean_up_failed(error)
            raise
        if found is None:
            return None
        if _mark_of(found) in _marks_of(snapshot) or self._is_ours(found, state.request):
            return found
        self._note(CommitStep.LOSE, state, {"to": found.commit_user})
        self._unknown_outcome = None  # another commit has the id, so the attempt failed
        self._remove_attempt_files(state)
        return None

    def _remove_attempt_files(self, state: CommitAttempt) -> None:
        """Delete the files of an attempt except those that the next attempt reuses."""
        lists = [state.changelog, state.delta if self._can_reuse_delta(state.request) else None]
        self._remove_except([found.name for found in lists if found is not None], state)

    def _wait(self, state: CommitAttempt, started: int) -> None:
        """Wait before the next attempt, or give up."""
        elapsed = self._timing.clock() - started
        retry = state.number - 1
        if self._retry_policy.is_over(retry, elapsed):
            self._clean_up_failed(None)
            raise CommitError(
                f"The commit failed after {state.number} attempts and {elapsed} ms because of "
                "concurrent commits.",
                hint="Commit again, or increase 'commit.max-retries' or 'commit.timeout'.",
            )
        wait = self._retry_policy.wait_ms(retry, self._timing.chance())
        self._timing.sleep(wait / 1000)
        self._note(CommitStep.WAIT, state, {"ms": round(wait)})

    def _clean_up_failed(self, error: BaseException | None) -> None:
        """Delete the files of a failed commit; nothing is deleted if its outcome is unknown.

        Whatever error ends a commit then, such as refused credentials, an earlier attempt may have
        created the snapshot.

        Raises:
            CommitOutcomeUnknownError: the outcome is unknown.
        """
        self._writer.drop_pending()
        if self._unknown_outcome is None:
            self._remove(list(self._writer.written), None)
            return
        self._writer.forget()
        if isinstance(error, CommitOutcomeUnknownError):
            return  # the caller raises it
        if error is None or isinstance(error, PaimonError):
            raise _unknown(error, self._steps.user) from error

    def _succeed(self, state: CommitAttempt, snapshot: Snapshot) -> Snapshot:
        if self._unknown_outcome is not None:
            index = snapshot.index_manifest
            self._remove_except(_lists(snapshot), state, [] if index is None else [index])
            self._unknown_outcome = None
        self._writer.forget()
        if snapshot.commit_identifier != BATCH_COMMIT_IDENTIFIER:
            self._last_identifier = snapshot.commit_identifier
        if self._server is None:  # a server writes the hints
            self._write_hints(state, snapshot)
            if self._is_in_branch:
                self._check_branch_exists(state, snapshot)
        self._note(CommitStep.DONE, state)
        return snapshot

    def _write_hints(self, state: CommitAttempt, snapshot: Snapshot) -> None:
        try:
            self._store.snapshots.write_latest_hint(snapshot.id)
            if snapshot.id == 1:
                self._store.snapshots.write_earliest_hint(1)
        except StorageError:
            self._note(
                CommitStep.WRITE_HINTS,
                state,
                {"failed": "readers list the snapshot folder instead"},
            )
        else:
            self._note(CommitStep.WRITE_HINTS, state)

    def _check_branch_exists(self, state: CommitAttempt, snapshot: Snapshot) -> None:
        """Check that the snapshot was not created in the folder of a branch that is gone.

        If it was, delete what makes the folder look like a branch. In an object store, which
        renames file by file, the renamed branch may have the snapshot.

        Raises:
            CommitOutcomeUnknownError: the branch was deleted or renamed.
        """
        paths, file_io = self._store.paths, self._store.file_io
        if file_io.exists(paths.schema(state.schema.id)):
            return
        own = (paths.snapshot(snapshot.id), paths.latest_hint, paths.earliest_hint)
        delete_each(file_io, own)
        if not any(True for _ in file_io.walk(paths.branch_root)):
            self._store.branches.delete(paths.branch)
        raise CommitOutcomeUnknownError(
            f"Branch {paths.branch!r} of {paths.root} was deleted or renamed by another process "
            f"during the commit of snapshot {snapshot.id}.",
            hint="If it was renamed, look whether the branch has a snapshot of the commit user "
            f"{snapshot.commit_user!r}; else the rows were not written.",
        )

    def _remove_except(
        self, lists: Sequence[str], state: CommitAttempt, others: Sequence[str] = ()
    ) -> None:
        """Delete written files except some manifest lists, their manifests, and other files."""
        manifests = self._store.manifests
        try:
            names = [name for found in lists for name in (found, *manifests.list(found).names)]
        except StorageError:
            self._writer.forget()  # the files remain as orphan files
            return
        kept = {self._store.paths.manifest(name) for name in [*names, *others]}
        self._remove([path for path in self._writer.written if path not in kept], state)

    def _remove(self, paths: Sequence[str], state: CommitAttempt | None) -> None:
        removed = list(paths)
        for path in removed:
            self._writer.written.remove(path)
            try:
                self._store.file_io.delete(path)
            except StorageError:
                continue  # remains as an orphan file
        if removed:
            names = ", ".join(name_of(path) for path in removed[:_MAX_NAMES])
            self._note(CommitStep.CLEAN_UP, state, {"files": len(removed), "names": names})

    def _note(
        self, step: CommitStep, state: CommitAttempt | None, figures: Metrics | None = None
    ) -> None:
        event = CommitEvent(
            step=step,
            attempt=state.number if state is not None else 0,
            snapshot_id=state.snapshot_id if state is not None else None,
            time_millis=self._timing.clock(),
            figures=figures or {},
        )
        self.trace.append(event)
        emit(self._store.paths.root, event)


def _mark_of(found: Snapshot) -> object:
    """Return what identifies a stored snapshot: its uuid; its lists if a server dropped that."""
    return found.uuid or (found.base_manifest_list, found.delta_manifest_list)


def _marks_of(snapshot: Snapshot) -> frozenset[object]:
    """Return everything that `_mark_of` may return for a snapshot once it is stored."""
    return frozenset((snapshot.uuid, (snapshot.base_manifest_list, snapshot.delta_manifest_list)))


def _unknown(error: BaseException | None, user: str) -> CommitOutcomeUnknownError:
    problem = "" if error is None else f" The attempt ended with the error: {error}"
    return CommitOutcomeUnknownError(
        f"The storage did not confirm whether the snapshot was created.{problem}",
        hint="Look into the snapshots of the table before you write again: if there is a new one "
        f"of the commit user {user!r}, the commit has succeeded.",
    )


def _partly_committed(created: Snapshot, error: PaimonError) -> CommitOutcomeUnknownError:
    return CommitOutcomeUnknownError(
        f"The written rows are visible in snapshot {created.id}, but the compaction of the same "
        f"transaction failed: {error}",
        hint="Keep the data files; the next compaction includes them.",
    )


def _lists(snapshot: Snapshot) -> list[str]:
    names = (
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        snapshot.changelog_manifest_list,
    )
    return [name for name in names if name is not None]


def _new_files(changes: Changes) -> frozenset[str]:
    return frozenset(str(name.as_py()) for name in changes.entries.column("file_name"))
