"""What an expiry removes, and that nothing else is lost at any step."""

import os
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from paimon_explore import Table, open_table
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import WHOLE_TABLE
from paimon_explore.errors import (
    FormatError,
    InvalidInputError,
    MissingFileError,
    SnapshotExpiredError,
)
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.maintenance.expiry import snapshot_expiry
from paimon_explore.maintenance.expiry.file_removal import Removal, remove, unreachable
from paimon_explore.maintenance.expiry.orphan_files import remove_orphan_files
from paimon_explore.maintenance.expiry.reachable_files import FileSet, Roots, TableFiles, roots_of
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    ExpiryReport,
    Retention,
    expire_snapshots,
    expiring_ids,
)
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.lifecycle import (
    data_files,
    files_of,
    keyed_table,
    keys,
    options_of,
    plain_table,
    replaced_rows,
    states,
)
from support.memory_files import copied_files, forget_manifests
from support.new_tables import ROOT, all_files, live_values, new_table, referenced_files
from support.paused_file_io import PausedFileIO

FAR_FUTURE_MS = 10**14


def ids_that_go(
    ids: list[int], *, keep_after: int = 10**9, held: int | None = None, **given: int
) -> tuple[int, ...]:
    """The snapshot i was committed at i * 100."""
    full = {"retain_min": 1, "retain_max": 10**6, "limit": 50, **given}
    retention = Retention(keep_after_ms=keep_after, **full)
    return expiring_ids(ids, lambda number: number * 100, retention, held)


@pytest.mark.parametrize(
    ("given", "gone"),
    [
        ({}, (1, 2, 3, 4, 5, 6, 7, 8, 9)),
        ({"retain_min": 4}, (1, 2, 3, 4, 5, 6)),
        ({"retain_min": 10}, ()),
        ({"retain_min": 99}, ()),
        ({"keep_after": 500}, (1, 2, 3)),
        ({"keep_after": 501}, (1, 2, 3, 4)),
        ({"keep_after": 0}, ()),
        ({"keep_after": 0, "retain_max": 7}, (1, 2, 3)),
        ({"keep_after": 600, "retain_max": 7}, (1, 2, 3, 4)),
        ({"limit": 2}, (1, 2)),
        ({"limit": 2, "retain_max": 3}, (1, 2)),
        ({"held": 4}, (1, 2, 3)),
        ({"held": 1}, ()),
        ({"held": 3, "retain_max": 2}, (1, 2)),
    ],
)
def test_the_oldest_go_as_numbers_time_limit_and_readers_allow(
    given: dict[str, int], gone: tuple[int, ...]
) -> None:
    assert ids_that_go(list(range(1, 11)), **given) == gone


def test_ids_need_not_begin_at_one() -> None:
    assert ids_that_go([7, 8, 9], retain_min=2) == (7,)
    assert ids_that_go([7]) == ()
    assert ids_that_go([]) == ()


def test_the_rest_reads_and_the_files_of_what_expired_are_gone(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 5)
    before = files_of(table)
    report = table.maintenance.expire_snapshots(retain_max=2)
    assert report.expired == (1, 2, 3)
    assert repr(report.files) == "3 data files, 6 metadata files"
    assert states(table) == {4: [4], 5: [5]}
    assert len(data_files(table)) == 2
    root = f"{table.path}/"
    told = {p.removeprefix(root) for p in (*report.files.data_files, *report.files.metadata_files)}
    assert before - files_of(table) == told | {f"snapshot/snapshot-{i}" for i in (1, 2, 3)}
    assert (Path(table.path) / "snapshot" / "EARLIEST").read_text() == "4"


def test_a_dry_run_tells_the_same_and_removes_nothing(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    before = files_of(table)
    told = table.maintenance.expire_snapshots(retain_max=1, dry_run=True)
    assert files_of(table) == before
    done = table.maintenance.expire_snapshots(retain_max=1)
    assert (told.expired, told.files) == (done.expired, done.files)
    assert (told.dry_run, done.dry_run) == (True, False)


def test_a_report_counts_what_expired() -> None:
    files = Removal(data_files=("a",), metadata_files=("b", "c") * 600)
    texts = [
        repr(ExpiryReport(expired=expired, files=files, dry_run=dry_run))
        for expired, dry_run in (((), True), ((7,), False), (tuple(range(3, 1203)), False))
    ]
    assert texts == [
        "would remove 0 snapshots and 1 data file, 1,200 metadata files",
        "removed 1 snapshot (7 to 7) and 1 data file, 1,200 metadata files",
        "removed 1,200 snapshots (3 to 1202) and 1 data file, 1,200 metadata files",
    ]


def test_the_options_of_the_table_say_what_stays(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"write-only": "true"}), 5)
    table.set_options({"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "3"})
    assert table.maintenance.expire_snapshots().expired == (1, 2)
    assert table.maintenance.expire_snapshots(older_than=timedelta(0)).expired == (3,)
    assert table.maintenance.expire_snapshots(older_than=timedelta(0)).expired == ()


@pytest.mark.parametrize(
    "given", [{"retain_min": 0}, {"retain_min": 3, "retain_max": 2}, {"limit": 0}]
)
def test_contradictions_are_refused(tmp_path: Path, given: dict[str, int]) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    for expire in (table.maintenance.expire_snapshots, table.maintenance.expire_changelogs):
        with pytest.raises(InvalidInputError):
            expire(**given)  # type: ignore[arg-type]  # all are numbers
    assert states(table) == {1: [1], 2: [2]}


def test_tags_hold_their_files(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 6)
    for name, snapshot in (("b", 2), ("d", 4)):
        table.create_tag(name, snapshot)
    table.maintenance.expire_snapshots(retain_max=1)
    assert [keys(table.at(tag=name)) for name in ("b", "d")] == [[2], [4]]
    assert len(data_files(table)) == 3


def test_a_consumer_holds_what_it_has_yet_to_read(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    for number in range(5):
        table.append([{"k": number, "v": "x"}])
    table._store.consumers.save("job", Consumer(next_snapshot=3))
    assert table.maintenance.expire_snapshots(retain_max=1).expired == (1, 2)
    assert table._store.snapshots.ids() == [3, 4, 5]


@pytest.mark.parametrize("kind", ["overwritten", "updated", "keyed", "keyed, filtered"])
def test_a_consumer_holds_the_state_that_its_next_changes_need(tmp_path: Path, kind: str) -> None:
    table = (keyed_table if kind.startswith("keyed") else plain_table)(tmp_path)
    table.append([{"k": 0, "v": "x"}])
    where = "v <> 'y'" if kind == "keyed, filtered" else None
    for number in range(1, 6):
        list(table.follow("full", consumer="job", until="now", timeout=0, where=where))
        if kind == "overwritten":
            table.overwrite([{"k": number, "v": "x"}])
        elif kind == "updated":
            table.update({"k": number})
        else:
            table.upsert([{"k": 0, "v": f"x{number}"}])
        table.append([{"k": 10 + number, "v": "x"}])
        table.maintenance.expire_snapshots(retain_max=1)
        [*batches] = table.follow("full", consumer="job", until="now", timeout=0, where=where)
        rows = [row for batch in batches for row in batch.rows.to_pylist()]
        assert [row["k"] for row in rows if row["rowkind"] == "+I"][-1] == 10 + number
        assert any(row["rowkind"] in ("-D", "-U") for row in rows) or kind == "keyed"


def test_a_consumer_of_changelogs_only_holds_no_snapshot(tmp_path: Path) -> None:
    options = {"consumer.changelog-only": "true"}
    table = replaced_rows(plain_table(tmp_path, options), 4)
    table._store.consumers.save("job", Consumer(next_snapshot=2))
    assert table.maintenance.expire_snapshots(retain_max=1).expired == (1, 2, 3)
    assert table.maintenance.fsck() == []


def test_branches_hold_their_files(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.create_branch("side", "two")
    table._store.tags.delete("two")
    table.maintenance.expire_snapshots(retain_max=1)
    assert states(open_table(table.path, branch="side")) == {2: [2]}


def test_a_branch_expires_without_harm_to_main(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_tag("two", 2)
    table.create_branch("side", "two")
    side = open_table(table.path, branch="side")
    side.overwrite([{"k": 30, "v": "x"}])
    side.delete_tag("two")
    side.maintenance.expire_snapshots(retain_max=1)
    assert states(side) == {3: [30]}
    assert states(table) == {1: [1], 2: [2]}


def test_changelog_files_go_with_their_snapshots(tmp_path: Path) -> None:
    table = keyed_table(tmp_path, {"changelog-producer": "input"})
    for number in range(3):
        table.upsert([{"k": number, "v": "x"}])
    table.maintenance.expire_snapshots(retain_max=1)
    assert [name.partition("-")[0] for name in data_files(table)] == ["changelog", *["data"] * 3]
    assert keys(table) == [0, 1, 2]


@pytest.mark.parametrize("producer", ["none", "input"])
def test_changelogs_may_outlive_their_snapshots(tmp_path: Path, producer: str) -> None:
    table = keyed_table(
        tmp_path, {"changelog-producer": producer, "changelog.num-retained.max": "2147483647"}
    )
    table.set_options({"changelog.time-retained": "7 d"})
    for number in range(4):
        table.overwrite([{"k": number, "v": "x"}])
        table.upsert([{"k": number, "v": "y"}])
    table.maintenance.expire_snapshots(retain_max=1)
    names = [name.partition("-")[0] for name in data_files(table)]
    assert names.count("data") == (2 if producer == "input" else 8)
    assert table._store.changelogs.ids() == [1, 2, 3, 4, 5, 6, 7]
    assert states(table) == {8: [3]}
    for changelog in table._store.changelogs.list():
        found = table._store.manifests.changelog(changelog)
        assert len(found) == (1 if producer == "input" and changelog.id % 2 == 0 else 0)
    hints = [Path(table.path) / "changelog" / name for name in ("EARLIEST", "LATEST")]
    report = table.maintenance.expire_changelogs(retain_min=1, retain_max=3)
    assert report.expired == (1, 2, 3, 4, 5)
    assert table._store.changelogs.ids() == [6, 7]
    assert [hint.read_text() for hint in hints] == ["6", "7"]
    table.set_options({"changelog.num-retained.min": "2", "changelog.num-retained.max": "2"})
    assert table.maintenance.expire_changelogs(dry_run=True).expired == (6,)
    assert states(table) == {8: [3]}
    snapshot = table.snapshots[8]
    table._store.snapshots.delete(8)
    report = table.maintenance.expire_changelogs(retain_min=1, retain_max=1, dry_run=True)
    assert report.expired == (6,)
    table._store.snapshots.create(snapshot)
    report = table.maintenance.expire_changelogs(retain_min=1, retain_max=1)
    assert report.expired == (6, 7)
    assert table._store.changelogs.latest_id() is None
    assert not any(hint.exists() for hint in hints)


@pytest.mark.parametrize(
    ("producer", "vectors"),
    [*product(["none", "input", "lookup"], [True, False]), ("full-compaction", False)],
)
def test_changes_read_the_same_after_their_snapshots(
    tmp_path: Path, producer: str, *, vectors: bool
) -> None:
    """Index manifests go with the snapshots; changes need none."""
    options = {"changelog-producer": producer, "changelog.num-retained.max": "2147483647"}
    table = keyed_table(
        tmp_path,
        {**options, "changelog.time-retained": "7 d", "deletion-vectors.enabled": str(vectors)},
    )
    for number in range(5):
        table.upsert([{"k": k, "v": str(number)} for k in range(number, number + 4)])
        table.compact(full=number % 2 == 0)
    table.delete("k = 3")
    table.compact(full=True)
    mode = "delta" if producer == "none" else "changelog"
    latest = table._store.snapshots.latest_id() or 0
    before = changes(table, mode, latest)
    table.maintenance.expire_snapshots(retain_max=1)
    assert table._store.snapshots.ids() == [latest]
    forget_manifests()
    assert changes(table, mode, latest) == before
    assert sum(map(len, before)) >= 20


def changes(table: Table, mode: str, latest: int) -> list[list[str]]:
    """The rows that each commit tells streams, in an order of their own."""
    numbers = range(1, latest + 1)
    found = (table.between(n - 1, n, mode=mode, row_kinds=True).to_arrow() for n in numbers)
    return [sorted(map(str, rows.to_pylist())) for rows in found]


# Every operation of an expiry, cut


class Scene:
    """Five snapshots in memory, each of one row; a tag at the second; about to expire three."""

    def __init__(self, fail_at: int, fault: Fault, *, reads_too: bool = False) -> None:
        self.sound, schema = new_table({"a": "INT"})
        for value in range(1, 6):
            messages = write_append(self.sound, schema, [{"a": value}])
            Committer(self.sound, schema).overwrite(messages, WHOLE_TABLE)
        io = self.sound.file_io
        self.io = FaultyFileIO(io, fail_at=fail_at, fault=fault, reads_too=reads_too)
        self.store = TableStore(self.io, TablePaths(ROOT))

    def expire(self, store: TableStore) -> None:
        retention = Retention(retain_min=2, retain_max=2, keep_after_ms=0, limit=50)
        expire_snapshots(store, options_of(self.sound), retention)

    def check(self) -> None:
        """What is there reads; going on, and removing orphans, leaves exactly what is needed."""
        there = self.sound.snapshots.ids()
        assert there[-2:] == [4, 5]
        for snapshot_id in there:
            found = self.sound.snapshots.load(snapshot_id)
            assert live_values(self.sound, "a", found) == [snapshot_id]
        self.expire(self.sound)
        assert self.sound.snapshots.ids() == [4, 5]
        remove_orphan_files(self.sound, options_of(self.sound), FAR_FUTURE_MS)
        assert all_files(self.sound) - referenced_files(self.sound) == set()


def steps(*, reads_too: bool) -> range:
    scene = Scene(0, Fault.BEFORE, reads_too=reads_too)
    scene.expire(scene.store)
    return range(1, len(scene.io.log) + 1)


def test_manifests_go_before_the_lists_that_name_them() -> None:
    scene = Scene(0, Fault.BEFORE)
    paths = map(scene.store.paths.manifest, ("manifest-list-1", "manifest-x"))
    files = TableFiles(store=scene.store, options=options_of(scene.sound))
    remove(files, Removal(metadata_files=tuple(paths)))
    assert scene.io.log == ["delete manifest-x", "delete manifest-list-1"]


@pytest.mark.parametrize("step", steps(reads_too=False))
def test_readers_of_a_snapshot_that_expires_see_it_whole_or_are_told_so(step: int) -> None:
    scene = Scene(step, Fault.CRASH)
    sound = scene.sound
    known = {snapshot.id: snapshot for snapshot in sound.snapshots.list()}
    with pytest.raises(CrashError):
        scene.expire(scene.store)
    there = sound.snapshots.ids()
    for number, snapshot in known.items():
        try:
            with explain_missing_files(sound, snapshot):
                assert live_values(sound, "a", snapshot) == [number]
        except SnapshotExpiredError as error:
            assert number not in there
            assert f"Snapshot {number} of" in str(error)  # noqa: PT017 - as above


def kept(number: int) -> Retention:
    return Retention(retain_min=number, retain_max=number, keep_after_ms=0, limit=50)


@pytest.mark.parametrize(
    ("other", "expired", "left"), [(4, (2, 3), [4, 5]), (2, (), [4, 5]), (1, (), [5])]
)
def test_an_expiry_plans_anew_when_another_one_takes_what_it_reads(
    other: int, expired: tuple[int, ...], left: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = Scene(0, Fault.BEFORE).sound
    others = [kept(other)]

    def overtaken(*given: Any, **more: Any) -> Roots:  # noqa: ANN401 - whatever it is called with
        if others:
            expire_snapshots(sound, options_of(sound), others.pop())
            raise MissingFileError("read", "manifest-list-1")
        return roots_of(*given, **more)

    monkeypatch.setattr(snapshot_expiry, "roots_of", overtaken)
    report = expire_snapshots(sound, options_of(sound), kept(2))
    assert report.expired == expired
    assert sound.snapshots.ids() == left
    assert live_values(sound, "a", sound.snapshots.load(5)) == [5]


def test_a_file_that_is_missing_without_another_expiry_ends_an_expiry() -> None:
    sound = Scene(0, Fault.BEFORE).sound
    io = sound.file_io
    assert isinstance(io, MemoryFileIO)
    fresh = TableStore(copied_files(io), sound.paths)  # nothing of it was read before
    fresh.file_io.delete(sound.paths.manifest(sound.snapshots.load(5).base_manifest_list))
    with pytest.raises(MissingFileError, match="manifest-list"):
        expire_snapshots(fresh, options_of(sound), kept(2))
    assert fresh.snapshots.ids() == [1, 2, 3, 4, 5]


def test_an_expiry_that_has_removed_lists_before_snapshots_is_completed() -> None:
    sound = Scene(0, Fault.BEFORE).sound
    io = sound.file_io
    assert isinstance(io, MemoryFileIO)
    fresh = TableStore(copied_files(io), sound.paths)  # nothing of it was read before
    first = sound.snapshots.load(1)
    for name in (first.base_manifest_list, first.delta_manifest_list):
        fresh.file_io.delete(sound.paths.manifest(name))
    assert expire_snapshots(fresh, options_of(sound), kept(2)).expired == (1, 2, 3)
    assert live_values(fresh, "a", fresh.snapshots.load(5)) == [5]


def test_nothing_is_removed_while_a_tag_cannot_be_read(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    tag = Path(table.path) / "tag" / "tag-two"
    tag.parent.mkdir()
    tag.write_text("{", encoding="utf-8")
    os.utime(tag, (0, 0))
    before = files_of(table)
    with pytest.raises(FormatError):
        table.maintenance.expire_snapshots(retain_max=1)
    assert files_of(table) == before


def test_a_tag_that_is_created_while_snapshots_are_removed_keeps_its_files(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    state = table.at(2).to_arrow()

    def before(told: str) -> None:
        if told == "delete snapshot-1":
            table.create_tag("two", 2)

    store = TableStore(PausedFileIO(table._store.file_io, before), table._store.paths)
    assert expire_snapshots(store, options_of(table._store), kept(1)).expired == (1, 2, 3)
    assert table.at("two").to_arrow() == state
    assert table.maintenance.fsck(read_rows=True) == []


def test_files_outside_of_the_table_are_left_alone(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    inside = f"{table.path}/bucket-0/f"
    outside = {"/etc/passwd", f"{table.path}/../f", f"{table.path}2/f", "s3://b/f"}
    candidates = FileSet(data=frozenset({inside, *outside}))
    files = TableFiles(store=table._store, options=table.options)
    assert unreachable(files, candidates, Roots()).data_files == (inside,)
    remote = TableStore(table._store.file_io, TablePaths("s3://b/t"))
    files = TableFiles(store=remote, options=table.options)
    candidates = FileSet(data=frozenset({"s3://b/t/bucket-0/f", "s3://b/t/../f"}))
    assert unreachable(files, candidates, Roots()).data_files == ("s3://b/t/bucket-0/f",)
