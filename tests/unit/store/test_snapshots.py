"""Finding snapshots when hints lie and files are in the making."""

from dataclasses import replace
from functools import partial

import pytest

from paimon_explore.errors import CorruptFileError, NotFoundError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.snapshot import CommitKind, Snapshot, encode_snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.json_file_loader import ReadRetry
from paimon_explore.store.table_store import TableStore


@pytest.fixture
def store(request: pytest.FixtureRequest) -> TableStore:
    return TableStore(MemoryFileIO(request.node.name), TablePaths("memory://m/t"))


def snapshot(snapshot_id: int) -> Snapshot:
    return Snapshot(
        id=snapshot_id,
        schema_id=0,
        base_manifest_list="b",
        delta_manifest_list="d",
        commit_user="u",
        commit_identifier=1,
        commit_kind=CommitKind.APPEND,
        time_millis=1,
        total_record_count=0,
        delta_record_count=0,
    )


def fill(store: TableStore, *ids: int) -> None:
    for snapshot_id in ids:
        assert store.snapshots.create(snapshot(snapshot_id))


def test_a_table_without_snapshots_has_no_latest(store: TableStore) -> None:
    assert store.snapshots.latest() is None
    assert store.snapshots.latest_id() is None
    assert store.snapshots.earliest_id() is None
    assert store.snapshots.earliest() is None
    assert store.snapshots.list() == []


def test_creating_a_snapshot_twice_keeps_the_first(store: TableStore) -> None:
    fill(store, 1)
    assert not store.snapshots.create(replace(snapshot(1), commit_user="other"))
    assert store.snapshots.load(1).commit_user == "u"


def test_a_right_hint_is_used(store: TableStore) -> None:
    fill(store, 1, 2, 3)
    store.snapshots.write_latest_hint(3)
    assert store.snapshots.latest_id() == 3
    assert store.snapshots.latest() == snapshot(3)


@pytest.mark.parametrize("hint", [b"1", b"2", b"9", b"-8", b"0", b"", b"x", b"3 4", b"9" * 99])
def test_lying_latest_hints_are_overruled_by_the_folder(store: TableStore, hint: bytes) -> None:
    fill(store, 1, 2, 3)
    store.file_io.replace(store.paths.latest_hint, hint)
    assert store.snapshots.latest_id() == 3


@pytest.mark.parametrize("hint", [b"-8", b"0", b"1", b"4", b"5", b"nonsense"])
def test_lying_earliest_hints_are_overruled_by_the_folder(store: TableStore, hint: bytes) -> None:
    fill(store, 3, 4)
    store.file_io.replace(store.paths.earliest_hint, hint)
    assert store.snapshots.earliest_id() == 3
    assert store.snapshots.earliest() == snapshot(3)


def test_ids_are_sorted_as_numbers_and_other_names_are_passed_over(store: TableStore) -> None:
    fill(store, 10, 9)
    for name in ("snapshot-x", ".snapshot-3.uuid.tmp", "snapshot--4", "EARLIEST", "snapshot-"):
        store.file_io.create(f"{store.paths.snapshot_dir}/{name}", b"9")
    assert store.snapshots.ids() == [9, 10]
    assert [found.id for found in store.snapshots.list()] == [9, 10]


def test_a_missing_snapshot_tells_which_ones_there_are(store: TableStore) -> None:
    fill(store, 3, 4)
    with pytest.raises(NotFoundError, match=r"Snapshot 9 does not.*Available snapshots: 3 to 4\."):
        store.snapshots.load(9)
    store.snapshots.delete(3)
    assert store.snapshots.find(3) is None


def test_a_file_that_says_another_number_is_corrupt(store: TableStore) -> None:
    store.file_io.create(store.paths.snapshot(5), encode_snapshot(snapshot(4)))
    with pytest.raises(CorruptFileError, match="id must be 5, as in the file name"):
        store.snapshots.load(5)


def test_a_young_incomplete_file_is_read_again_until_it_is_whole(store: TableStore) -> None:
    whole = encode_snapshot(snapshot(1))
    path = store.paths.snapshot(1)
    store.file_io.replace(path, whole[:20])
    pauses: list[float] = []

    def write_on(seconds: float) -> None:
        pauses.append(seconds)
        store.file_io.replace(path, whole[:40] if len(pauses) == 1 else whole)

    patient = replace(store, read_retry=ReadRetry(sleep=write_on))
    assert patient.snapshots.load(1) == snapshot(1)
    assert pauses == [0.2, 0.2]


def test_patience_ends_after_ten_readings(store: TableStore) -> None:
    store.file_io.replace(store.paths.snapshot(1), b"{")
    pauses: list[float] = []
    with pytest.raises(CorruptFileError):
        replace(store, read_retry=ReadRetry(sleep=pauses.append)).snapshots.load(1)
    assert len(pauses) == 9


def test_an_old_damaged_file_and_a_whole_one_are_reported_at_once(store: TableStore) -> None:
    def no_sleep(_seconds: float) -> None:
        pytest.fail("must not wait")

    for data, age_ms in ((b"{", 2**52), (b"{}", 0)):
        store.file_io.replace(store.paths.snapshot(1), data)
        retry = ReadRetry(sleep=no_sleep, now_ms=partial(int, age_ms))
        with pytest.raises(CorruptFileError):
            replace(store, read_retry=retry).snapshots.load(1)


def test_changelogs_are_found_like_snapshots(store: TableStore) -> None:
    assert store.changelogs.latest_id() is None
    assert store.changelogs.create(snapshot(2))
    assert store.changelogs.create(snapshot(1))
    store.changelogs.write_latest_hint(2)
    store.changelogs.write_earliest_hint(1)
    assert store.changelogs.ids() == [1, 2]
    assert (store.changelogs.earliest_id(), store.changelogs.latest_id()) == (1, 2)
    assert store.changelogs.list() == [snapshot(1), snapshot(2)]
    store.changelogs.delete(1)
    with pytest.raises(NotFoundError, match=r"Available .*changelogs: 2 to 2"):
        store.changelogs.load(1)
    assert store.snapshots.ids() == []
    store.snapshots.write_earliest_hint(7)
    assert store.file_io.read(store.paths.earliest_hint) == b"7"
