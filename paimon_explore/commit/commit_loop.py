"""Trying until a snapshot is there: the loop around the decisive act.

`committer` tells the whole story; here is what happens between two tries, after a lost race, and
when the storage gives no answer.
"""

from collections.abc import Iterator, Mapping, Sequence

from paimon_explore.commit.backoff import RetryPolicy, Timing
from paimon_explore.commit.commit_attempt import STEPS, Figures, Request, Try, TrySteps
from paimon_explore.commit.commit_trace import CommitEvent, CommitStep, tell
from paimon_explore.commit.file_changes import Changes
from paimon_explore.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    StorageError,
)
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot

_MOST_NAMES = 40

_MOST_NAMES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Doubt:
    """A creation that the storage did not answer.

    Attributes:
        files: names of the new files of the commit, by which it is known again.
        uuids: of the snapshots that were tried.
        first_id: the lowest number that was tried.
    """

    files: frozenset[str]
    uuids: frozenset[str]
    first_id: int


class Publisher:
    """Makes snapshots out of requests, one user's, one after the other.

    Args:
        steps: what a try does before the decisive act.
        timing: clock, sleep and chance.
        retry_policy: how long to try.
        is_new_user: whether nobody can have committed as this user before.

    Attributes:
        trace: what was done for the last requests, step by step.
    """

    def __init__(
        self, steps: TrySteps, timing: Timing, retry_policy: RetryPolicy, *, is_new_user: bool
    ) -> None:
        self.trace: list[CommitEvent] = []
        self._steps = steps
        self._store = steps.store
        self._writer = steps.writer
        self._timing = timing
        self._retry_policy = retry_policy
        self._last_identifier = -1 if is_new_user else None
        self._doubt: _Doubt | None = None

    def make(self, requests: Sequence[Request]) -> list[Snapshot]:
        """The snapshots of one transaction, in order; those found to be there are not made again.

        Args:
            requests: with the same identifier, of different kinds.

        Raises:
            CommitConflictError, CommitOutcomeUnknownError, CommitError, StorageError: see
                `Committer.commit`.
        """
        self.trace = []
        if not requests:
            self._note(CommitStep.SKIP_EMPTY, None)
            return []
        try:
            found, is_past = self._earlier(requests)
        except StorageError as error:
            raise _unknown(error) from error
        if is_past:
            return list(found.values())
        made: list[Snapshot] = []
        for request in requests:
            try:
                made.append(found.get(request.kind) or self._make_snapshot(request))
            except CommitOutcomeUnknownError:
                raise
            except PaimonError as error:
                if made:
                    raise _half_done(made[-1], error) from error
                raise
        return made

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
        if doubtful and not found:
            self._check_kept()
        self._note(CommitStep.LOOK_FOR_EARLIER, None, {"found": len(found)})
        return found, is_past

    def _check_kept(self) -> None:
        """Refuse to go on if the commit in doubt may have been there, but expired meanwhile.

        Raises:
            CommitOutcomeUnknownError: nobody can tell any more.
        """
        earliest = self._store.snapshots.earliest_id()
        if self._doubt is not None and earliest is not None and earliest > self._doubt.first_id:
            raise CommitOutcomeUnknownError(
                f"It is unknown whether snapshot {self._doubt.first_id} was created: the storage "
                "gave no answer, "
                f"and the snapshots before {earliest} have expired since.",
                hint="Look for the rows in the table before writing them again.",
            )

    def _doubtful_uuids(self, requests: Sequence[Request]) -> frozenset[str]:
        if self._doubt is None:
            return frozenset()
        is_same = any(_new_files(request.changes) == self._doubt.files for request in requests)
        return self._doubt.uuids if is_same else frozenset()

    def _own_snapshots(self) -> Iterator[Snapshot]:
        """This user's snapshots, newest first."""
        for snapshot_id in reversed(self._store.snapshots.history()):
            snapshot = self._store.snapshots.find(snapshot_id)
            if snapshot is not None and snapshot.commit_user == self._steps.user:
                yield snapshot

    def _make_snapshot(self, request: Request) -> Snapshot:
        """Try until the snapshot is there."""
        started = self._timing.clock()
        last: Try | None = None
        while True:
            state = self._begin(request, last)
            made = self._made_by(request, last, state)
            if made is None and self._prepare(state):
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
            self._check_kept()
        except StorageError as error:
            self._end(error)
            raise
        if state.snapshot_id > last.snapshot_id:
            self._doubt = None  # the number is somebody else's: what was in doubt has failed
        return None

    def _is_ours(self, snapshot: Snapshot, request: Request) -> bool:
        if self._doubt is not None and snapshot.uuid in self._doubt.uuids:
            return True
        return (
            request.identifier != BATCH_COMMIT_IDENTIFIER
            and snapshot.commit_user == self._steps.user
            and snapshot.commit_identifier == request.identifier
            and snapshot.commit_kind is request.kind
        )

    def _prepare(self, state: Try) -> bool:
        """All steps before the decisive one; leaves nothing behind if one fails.

        Returns:
            Whether the try may go on: not if an expiry has removed what it reads, which happens
            only behind a newer snapshot.
        """
        failing = CommitStep.DESCRIBE
        try:
            for step, run in STEPS:
                failing = step
                figures = run(self._steps, state)
                if figures is not None:
                    self._note(step, state, figures)
        except MissingFileError as error:
            if self._is_overtaken(state):
                return False
            self._fail(state, failing, error)
            raise
        except BaseException as error:
            self._fail(state, failing, error)
            raise
        return True

    def _fail(self, state: Try, step: CommitStep, error: BaseException) -> None:
        what = f"{type(error).__name__}: {error}"
        self._note(CommitStep.FAIL, state, {"step": step.value, "error": what})
        self._end(error)

    def _is_overtaken(self, state: Try) -> bool:
        """Whether there is a newer snapshot than the one that a try builds on."""
        try:
            newest = self._store.snapshots.latest_id() or 0
        except StorageError as error:
            self._end(error)
            raise
        if newest < state.snapshot_id:
            return False
        self._note(CommitStep.LOSE, state, {"newest": newest})
        if self._doubt is None:
            self._remove_unshared(state)
        return True

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
        if created and self._is_undermined(state):
            self._undo(state, snapshot)
            return None
        if created:
            self._note(CommitStep.PUBLISH, state, {"rows": snapshot.delta_record_count or 0})
            return snapshot
        return self._look(state, snapshot)

    def _is_undermined(self, state: Try) -> bool:
        """Whether a rollback has removed or replaced the snapshot that the new one builds on.

        A rollback first makes the hint LATEST name the snapshot that it goes back to. An expiry
        leaves the hint alone, and none of the snapshots before the one that it removes.
        """
        latest, snapshots = state.latest, self._store.snapshots
        if latest is None:
            return False
        try:
            there = snapshots.find(latest.id)
            if there is not None:
                return there.delta_manifest_list != latest.delta_manifest_list
            hint = snapshots.latest_hint()
            return hint is not None and hint < latest.id and snapshots.find(hint) is not None
        except StorageError:
            return False  # what was created counts

    def _undo(self, state: Try, snapshot: Snapshot) -> None:
        """Take back a snapshot that brings back what a rollback has removed."""
        try:
            self._store.snapshots.delete(snapshot.id)
        except StorageError as error:
            self._remember(state, snapshot)
            self._end(error)
            raise
        self._note(CommitStep.LOSE, state, {"to": "a rollback"})
        self._doubt = None
        self._remove_unshared(state)

    def _remember(self, state: Try, snapshot: Snapshot) -> None:
        """From now on the snapshot may be there; nothing it needs may be removed."""
        before = self._doubt
        self._doubt = _Doubt(
            files=_new_files(state.request.changes),
            uuids=(before.uuids if before is not None else frozenset()) | {str(snapshot.uuid)},
            first_id=before.first_id if before is not None else snapshot.id,
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
        self._remove_unshared(state)
        return None

    def _remove_unshared(self, state: Try) -> None:
        """Remove what a try has written, but what the next one uses again."""
        lists = [state.changelog, state.delta if self._keeps_delta(state.request) else None]
        self._remove_but([found.name for found in lists if found is not None], state)

    def _wait(self, state: Try, started: int) -> None:
        """Wait for the next try, or give up."""
        elapsed = self._timing.clock() - started
        retry = state.number - 1
        if self._retry_policy.is_over(retry, elapsed):
            self._end(None)
            raise CommitError(
                f"The commit gave up after {state.number} attempts and {elapsed} ms: "
                "other commits were faster each time.",
                hint="Commit again, or increase 'commit.max-retries' or 'commit.timeout'.",
            )
        wait = self._retry_policy.wait_ms(retry, self._timing.chance())
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
            raise _unknown(error) from error

    def _succeed(self, state: Try, snapshot: Snapshot) -> Snapshot:
        if self._doubt is not None:
            index = snapshot.index_manifest
            self._remove_but(_lists(snapshot), state, [] if index is None else [index])
            self._doubt = None
        self._writer.forget()
        if snapshot.commit_identifier != BATCH_COMMIT_IDENTIFIER:
            self._last_identifier = snapshot.commit_identifier
        try:
            self._store.snapshots.write_latest_hint(snapshot.id)
            if snapshot.id == 1:
                self._store.snapshots.write_earliest_hint(1)
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
            names = ", ".join(name_of(path) for path in gone[:_MOST_NAMES])
            self._note(CommitStep.CLEAN_UP, state, {"files": len(gone), "names": names})

    def _note(self, step: CommitStep, state: Try | None, figures: Figures | None = None) -> None:
        event = CommitEvent(
            step=step,
            attempt=state.number if state is not None else 0,
            snapshot_id=state.snapshot_id if state is not None else None,
            time_millis=self._timing.clock(),
            figures=figures or {},
        )
        self.trace.append(event)
        tell(self._store.paths.root, event)


def _unknown(error: BaseException | None) -> CommitOutcomeUnknownError:
    problem = f", and then: {error}" if error is not None else "."
    return CommitOutcomeUnknownError(
        f"It is unknown whether the snapshot was created: the storage gave no answer{problem}",
        hint="Commit the same messages again with the same user and identifier: "
        "a commit that did succeed is found.",
    )


def _half_done(made: Snapshot, error: PaimonError) -> CommitOutcomeUnknownError:
    return CommitOutcomeUnknownError(
        f"What was written is visible in snapshot {made.id}, but the compaction of the same "
        f"transaction failed: {error}",
        hint="Keep the files; the next compaction does its work.",
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
