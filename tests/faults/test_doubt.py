"""Commits whose decisive step got no answer, and what is found out afterwards."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.commit_trace import CommitStep
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitOutcomeUnknownError, StorageError
from paimon_explore.maintenance.expiry.snapshot_expiry import Retention, expire_snapshots
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.faulty_file_io import FaultyFileIO
from support.new_tables import ROOT, all_files, live_values, new_table, referenced_files
from support.paused_file_io import PausedFileIO

QUIET = Timing(clock=lambda: 1_700_000_000_000, sleep=lambda _: None, chance=lambda: 0.0)
NOT_CONFIRMED = r"^The storage did not confirm whether the snapshot was created\. "


class MuteFileIO(FaultyFileIO):
    """Does not answer the creation of snapshots, and can go blind for snapshots after it.

    Attributes:
        takes_effect: whether an unanswered creation happens all the same.
        late: creations that happen only when the next one is asked for.
        unanswered: how many creations get no answer.
        blind: whether snapshots cannot be read once a creation got no answer.
    """

    takes_effect = True
    is_late = False
    unanswered = 1
    blind = False
    late: tuple[str, bytes] | None = None
    before_creation: Callable[[], None] | None = None

    def create(self, path: str, data: bytes) -> bool:
        if "/snapshot-" not in path:
            return self.inner.create(path, data)
        if self.late is not None:
            self.inner.create(*self.late)
            self.late = None
        if self.before_creation is not None:
            self.before_creation()
            self.before_creation = None
        if self.unanswered == 0:
            return self.inner.create(path, data)
        self.unanswered -= 1
        if self.is_late:
            self.late = (path, data)
        elif self.takes_effect:
            self.inner.create(path, data)
        self.crashed = self.blind
        raise StorageError("create", path, "no answer")

    def read(self, path: str) -> bytes:
        if self.crashed and "/snapshot" in path:
            raise StorageError("read", path, "blind")
        return self.inner.read(path)

    def list(self, folder: str) -> list:  # type: ignore[type-arg]  # of statuses
        if self.crashed and folder.endswith("/snapshot"):
            raise StorageError("list", folder, "blind")
        return self.inner.list(folder)


class Scene:
    """A table with one commit and a second one prepared."""

    def __init__(self, user: str | None = None) -> None:
        self.sound: TableStore
        self.schema: TableSchema
        self.sound, self.schema = new_table({"a": "INT"})
        self.append(1)
        self.io = MuteFileIO(self.sound.file_io)
        self.store = TableStore(self.io, TablePaths(ROOT))
        self.committer = Committer(self.store, self.schema, commit_user=user, timing=QUIET)
        self.messages = write_append(self.sound, self.schema, [{"a": 2}])

    def append(self, value: int) -> None:
        messages: list[CommitMessage] = write_append(self.sound, self.schema, [{"a": value}])
        Committer(self.sound, self.schema, timing=QUIET).commit(messages)

    def check(self, *values: int) -> None:
        assert live_values(self.sound, "a") == list(values)
        assert len(self.sound.snapshots.ids()) == len(values)
        assert all_files(self.sound) == referenced_files(self.sound)


def test_a_creation_that_took_effect_is_found_at_once() -> None:
    scene = Scene()
    (made,) = scene.committer.commit(scene.messages)
    assert made.id == 2
    assert CommitStep.DOUBT in [event.step for event in scene.committer.trace]
    scene.check(1, 2)


@pytest.mark.parametrize("is_late", [False, True])
def test_a_creation_without_effect_is_made_again_or_found_if_it_is_late(*, is_late: bool) -> None:
    scene = Scene()
    scene.io.takes_effect, scene.io.is_late = is_late, is_late
    (made,) = scene.committer.commit(scene.messages)
    assert made.id == 2
    scene.check(1, 2)


def test_a_creation_that_loses_to_another_commit_is_made_with_the_next_number() -> None:
    scene = Scene()
    scene.io.takes_effect = False
    scene.io.before_creation = lambda: scene.append(3)
    (made,) = scene.committer.commit(scene.messages)
    assert made.id == 3
    scene.check(1, 2, 3)


@pytest.mark.parametrize("user", [None, "job"])
@pytest.mark.parametrize("takes_effect", [True, False])
def test_a_storage_that_goes_blind_leaves_the_outcome_open_until_asked_again(
    user: str | None, *, takes_effect: bool
) -> None:
    scene = Scene(user)
    scene.io.takes_effect = takes_effect
    scene.io.blind = True
    identifier = BATCH_COMMIT_IDENTIFIER if user is None else 7
    with pytest.raises(CommitOutcomeUnknownError, match=NOT_CONFIRMED):
        scene.committer.commit(scene.messages, identifier)
    with pytest.raises(CommitOutcomeUnknownError, match=r"ended with the error: \w.*blind"):
        scene.committer.commit(scene.messages, identifier)
    scene.io.crashed = False
    (made,) = scene.committer.commit(scene.messages, identifier)
    assert made.id == 2
    assert live_values(scene.sound, "a") == [1, 2]


def test_other_messages_after_a_doubt_are_a_commit_of_their_own() -> None:
    scene = Scene()
    scene.io.blind = True
    with pytest.raises(CommitOutcomeUnknownError):
        scene.committer.commit(scene.messages)
    scene.io.crashed = False
    others = write_append(scene.sound, scene.schema, [{"a": 3}])
    (made,) = scene.committer.commit(others)
    assert made.id == 3
    scene.check(1, 2, 3)


def test_a_storage_that_never_answers_leaves_the_outcome_open() -> None:
    scene = Scene()
    scene.io.takes_effect = False
    scene.io.unanswered = 1000
    with pytest.raises(CommitOutcomeUnknownError, match=NOT_CONFIRMED):
        scene.committer.commit(scene.messages)
    assert live_values(scene.sound, "a") == [1]


def test_an_interrupted_creation_leaves_the_outcome_open() -> None:
    scene = Scene()

    def interrupt() -> None:
        raise KeyboardInterrupt

    scene.io.before_creation = interrupt
    with pytest.raises(KeyboardInterrupt):
        scene.committer.commit(scene.messages)
    scene.io.before_creation = None
    scene.io.unanswered = 0
    (made,) = scene.committer.commit(scene.messages)
    assert made.id == 2
    assert live_values(scene.sound, "a") == [1, 2]


def expire_all_but_the_newest(store: TableStore) -> None:
    retention = Retention(retain_min=1, retain_max=1, keep_after_ms=2**62, limit=50)
    expire_snapshots(store, TableOptions({}), retention)


def test_a_commit_whose_beginnings_an_expiry_removes_begins_again() -> None:
    scene = Scene()
    paused = PausedFileIO(scene.sound.file_io)

    def overtake(operation: str) -> None:
        if operation.startswith("read manifest-list"):
            paused.before = lambda _: None
            scene.append(3)
            scene.append(4)
            expire_all_but_the_newest(scene.sound)

    paused.before = overtake
    committer = Committer(TableStore(paused, TablePaths(ROOT)), scene.schema, timing=QUIET)
    (made,) = committer.commit(scene.messages)
    assert made.id == 4
    assert CommitStep.LOSE in [event.step for event in committer.trace]
    assert live_values(scene.sound, "a") == [1, 2, 3, 4]
    assert scene.sound.snapshots.ids() == [3, 4]
    assert all_files(scene.sound) == referenced_files(scene.sound)


def test_a_commit_in_doubt_whose_number_expired_stays_in_doubt() -> None:
    scene = Scene()
    scene.io.blind = True
    with pytest.raises(CommitOutcomeUnknownError):
        scene.committer.commit(scene.messages)
    scene.io.crashed = False
    scene.append(3)
    expire_all_but_the_newest(scene.sound)
    for _ in range(2):
        with pytest.raises(CommitOutcomeUnknownError, match="have since expired"):
            scene.committer.commit(scene.messages)
    assert live_values(scene.sound, "a") == [1, 2, 3]


def test_a_compaction_that_fails_behind_its_own_rows_takes_nothing_back() -> None:
    scene = Scene()
    (message,) = scene.messages
    (other,) = write_append(scene.sound, scene.schema, [{"a": 9}])
    gone = replace(message, compact_before=other.new_files, compact_after=other.new_files)
    with pytest.raises(CommitOutcomeUnknownError, match="The written rows are visible in snapshot"):
        scene.committer.commit([gone])
    assert live_values(scene.sound, "a") == [1, 2]
