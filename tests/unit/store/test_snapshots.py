"""Finding snapshots when hints lie and files are in the making."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paimon_explore.errors import CorruptFileError, NotFoundError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.snapshot import encode_snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.hinted_snapshot import expect_hinted
from paimon_explore.store.json_file_loader import ReadRetry
from paimon_explore.store.snapshots import Snapshots
from paimon_explore.store.table_store import TableStore
from support.memory_files import ObjectStoreInMemory
from support.paused_file_io import PausedFileIO
from support.plain_snapshot import plain_snapshot

PATHS = TablePaths("memory://m/t")


@pytest.fixture(params=["memory", "disk", "object store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> TableStore:
    if request.param == "disk":
        return TableStore(LocalFileIO(), TablePaths(str(tmp_path)))
    files: FileIO = MemoryFileIO(request.node.name)
    return TableStore(files if request.param == "memory" else ObjectStoreInMemory(files), PATHS)


def fill(store: TableStore, *ids: int) -> None:
    for snapshot_id in ids:
        assert store.snapshots.create(plain_snapshot(snapshot_id))


def test_a_table_without_snapshots_has_no_latest(store: TableStore) -> None:
    assert store.snapshots.latest() is None
    assert store.snapshots.latest_id() is None
    assert store.snapshots.earliest_id() is None
    assert store.snapshots.earliest() is None
    assert store.snapshots.list() == []


def test_creating_a_snapshot_twice_keeps_the_first(store: TableStore) -> None:
    fill(store, 1)
    assert not store.snapshots.create(replace(plain_snapshot(1), commit_user="other"))
    assert store.snapshots.load(1).commit_user == "u"
    large = replace(plain_snapshot(2), commit_user="u" * 200_000)
    assert store.snapshots.create(large)
    assert store.snapshots.load(2) == large


def test_a_right_hint_is_used(store: TableStore) -> None:
    fill(store, 1, 2, 3)
    store.snapshots.write_latest_hint(3)
    assert store.snapshots.latest_id() == 3
    assert store.snapshots.latest() == plain_snapshot(3)


@pytest.mark.parametrize("hint", [b"1", b"2", b"9", b"-8", b"0", b"", b"x", b"3 4", b"9" * 99])
def test_lying_latest_hints_are_overruled_by_the_folder(store: TableStore, hint: bytes) -> None:
    fill(store, 1, 2, 3)
    store.file_io.replace(store.paths.latest_hint, hint)
    assert store.snapshots.latest_id() == 3
    assert store.snapshots.latest() == plain_snapshot(3)


@pytest.mark.parametrize(
    ("hint", "last", "local", "remote"),
    [
        (3, 3, "LATEST 3 4", "LATEST 3 4"),
        (4, 4, "LATEST 4 5", "LATEST 3 4 4 5"),
        (3, 4, "LATEST 3 4 list 4", "LATEST 3 4 5"),
        (3, 5, "LATEST 3 4 list 5", "LATEST 3 4 5 6"),
        (3, 6, "LATEST 3 4 list 6", "LATEST 3 4 5 6 7 list 6"),
    ],
)
def test_the_latest_snapshot_is_found_with_few_requests(
    request: pytest.FixtureRequest, hint: int, last: int, local: str, remote: str
) -> None:
    learnt: list[Callable[[Snapshots], object]]
    learnt = [
        Snapshots.latest,
        expect_hinted,
        lambda found: found.create(plain_snapshot(3)),
    ]
    for kind, expected, learn in (
        (PausedFileIO, local, Snapshots.latest),
        *((ObjectStoreInMemory, remote, learn) for learn in learnt),
    ):
        other = TableStore(MemoryFileIO(f"{request.node.name} {kind} {learn}"), PATHS)
        fill(other, 1, 2, *([] if learn is learnt[-1] else [3]))
        other.snapshots.write_latest_hint(3)
        asked: list[str] = []
        known = TableStore(kind(other.file_io, asked.append), PATHS).snapshots
        learn(known)
        fill(other, *range(4, last + 1))
        other.snapshots.write_latest_hint(hint)
        asked.clear()
        assert known.latest() == plain_snapshot(last)
        words = [line.replace("list snapshot", "list").rpartition("-")[2] for line in asked]
        assert sorted(word.removeprefix("read ") for word in words) == sorted(expected.split())
        assert all(line.startswith(("read ", "list ")) for line in asked)
        asked.clear()
        assert known.latest_id() == last
        assert ("list snapshot" in asked) == (hint < last)


def test_a_damaged_snapshot_is_an_error_only_if_it_may_be_the_latest(store: TableStore) -> None:
    fill(store, 1, 2, 3)
    store.snapshots.write_latest_hint(3)
    assert store.snapshots.latest() == plain_snapshot(3)
    store.file_io.create(store.paths.snapshot(4), b"{}")
    with pytest.raises(CorruptFileError, match="snapshot-4"):
        store.snapshots.latest()
    found = dict(store.snapshots.list_readable())
    assert isinstance(found.pop(4), CorruptFileError)
    assert found == {1: plain_snapshot(1), 2: plain_snapshot(2), 3: plain_snapshot(3)}
    fill(TableStore(store.file_io, store.paths), 5)
    store.snapshots.write_latest_hint(5)
    assert store.snapshots.latest() == plain_snapshot(5)


@pytest.mark.parametrize(("count", "remaining"), [(4, 0), (4, 2), (11, 1)])
def test_snapshots_that_are_deleted_while_they_are_sought_are_not_found(
    count: int, remaining: int
) -> None:
    files = MemoryFileIO(f"deleted {count} {remaining}")

    def delete(told: str) -> None:
        number = told.removeprefix("read snapshot-")
        if number.isdigit() and int(number) > remaining:
            files.delete(PATHS.snapshot(int(number)))

    store = TableStore(PausedFileIO(files, delete), PATHS)
    fill(store, *range(1, count + 1))
    assert store.snapshots.latest() == (plain_snapshot(remaining) if remaining else None)
    assert [found.id for found in store.snapshots.list()] == [*range(1, remaining + 1)]


def test_polling_sees_that_the_latest_snapshot_is_replaced_or_followed(store: TableStore) -> None:
    fill(store, 1, 2)
    assert store.snapshots.is_latest(plain_snapshot(2))
    assert not store.snapshots.is_latest(plain_snapshot(1))
    assert not store.snapshots.is_latest(replace(plain_snapshot(2), commit_user="other"))
    fill(store, 3)
    assert not store.snapshots.is_latest(plain_snapshot(2))


@pytest.mark.parametrize("hint", [b"-8", b"0", b"1", b"4", b"5", b"nonsense"])
def test_lying_earliest_hints_are_overruled_by_the_folder(store: TableStore, hint: bytes) -> None:
    fill(store, 3, 4)
    store.file_io.replace(store.paths.earliest_hint, hint)
    assert store.snapshots.earliest_id() == 3
    assert store.snapshots.earliest() == plain_snapshot(3)


def test_ids_are_sorted_as_numbers_and_other_names_are_passed_over(store: TableStore) -> None:
    fill(store, 10, 9)
    for name in (
        "snapshot-9223372036854775808",
        "snapshot-x",
        ".snapshot-3.uuid.tmp",
        "snapshot--4",
        "EARLIEST",
        "snapshot-",
    ):
        store.file_io.create(f"{store.paths.snapshot_dir}/{name}", b"9")
    store.file_io.create(store.paths.snapshot(2**63 - 1), b"stray")
    assert store.snapshots.all_ids() == [9, 10, 2**63 - 1]
    store.snapshots.write_latest_hint(9)
    assert store.snapshots.ids() == [9, 10]
    assert [found.id for found in store.snapshots.list()] == [9, 10]


def test_a_gap_of_ids_ends_the_history(store: TableStore) -> None:
    fill(store, 7, 9, 10)
    for hint in (b"9", b"10", b"8"):
        store.file_io.replace(store.paths.latest_hint, hint)
        assert store.snapshots.latest_id() == 10
        assert (store.snapshots.ids(), store.snapshots.history()) == ([7, 9, 10], [9, 10])
    store.file_io.delete(store.paths.latest_hint)
    assert store.snapshots.latest_id() == 10


def test_a_missing_snapshot_tells_which_ones_there_are(store: TableStore) -> None:
    with pytest.raises(NotFoundError, match=r"Snapshot 9 does not.* The table has no snapshots\.$"):
        store.snapshots.load(9)
    fill(store, 3, 4)
    with pytest.raises(NotFoundError, match=r"Snapshot 9 does not.* snapshots: 3 to 4\.$"):
        store.snapshots.load(9)
    store.snapshots.delete(3)
    assert store.snapshots.find(3) is None


def test_a_file_that_says_another_number_is_corrupt(store: TableStore) -> None:
    store.file_io.create(store.paths.snapshot(5), encode_snapshot(plain_snapshot(4)))
    with pytest.raises(CorruptFileError, match="id must be 5, as in the file name"):
        store.snapshots.load(5)


@pytest.mark.parametrize("pauses_until_whole", [2, 9])
def test_a_young_incomplete_file_is_read_again_until_it_is_whole(
    store: TableStore, pauses_until_whole: int
) -> None:
    whole = encode_snapshot(plain_snapshot(1))
    path = store.paths.snapshot(1)
    store.file_io.replace(path, whole[:20])
    pauses: list[float] = []

    def write_on(seconds: float) -> None:
        pauses.append(seconds)
        store.file_io.replace(path, whole[:40] if len(pauses) < pauses_until_whole else whole)

    patient = replace(store, read_retry=ReadRetry(sleep=write_on))
    assert patient.snapshots.load(1) == plain_snapshot(1)
    assert pauses == [0.2] * pauses_until_whole


def test_patience_ends_after_ten_readings(store: TableStore) -> None:
    store.file_io.replace(store.paths.snapshot(1), b"{")
    pauses: list[float] = []
    with pytest.raises(CorruptFileError):
        replace(store, read_retry=ReadRetry(sleep=pauses.append)).snapshots.load(1)
    assert len(pauses) == 9


def test_an_old_damaged_file_and_a_whole_one_are_reported_at_once(store: TableStore) -> None:
    def no_sleep(_seconds: float) -> None:
        pytest.fail("must not wait")

    for data, young_ms in ((b"{", -10_000), (b"{}", 10_000)):
        store.file_io.replace(store.paths.snapshot(1), data)
        retry = ReadRetry(sleep=no_sleep, young_ms=young_ms)
        with pytest.raises(CorruptFileError):
            replace(store, read_retry=retry).snapshots.load(1)


def test_changelogs_are_found_like_snapshots(store: TableStore) -> None:
    assert store.changelogs.latest_id() is None
    assert store.changelogs.create(plain_snapshot(2))
    assert store.changelogs.create(plain_snapshot(1))
    store.changelogs.write_latest_hint(2)
    store.changelogs.write_earliest_hint(1)
    assert store.changelogs.ids() == [1, 2]
    assert (store.changelogs.earliest_id(), store.changelogs.latest_id()) == (1, 2)
    assert store.changelogs.list() == [plain_snapshot(1), plain_snapshot(2)]
    store.changelogs.delete(1)
    with pytest.raises(NotFoundError, match=r"Available .*changelogs: 2 to 2"):
        store.changelogs.load(1)
    assert store.snapshots.ids() == []
    store.snapshots.write_earliest_hint(7)
    assert store.file_io.read(store.paths.earliest_hint) == b"7"
