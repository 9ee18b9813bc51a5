"""Stray snapshot files and hints that lie: no deleter takes them for a reason to delete.

The table has snapshots 3 to 7, each of which holds one row of its own, after snapshots 1 and 2
expired; a tag at 4 and a branch from it.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import count, product

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.maintenance.expiry.reachable_files import TableFiles
from paimon_explore.maintenance.expiry.snapshot_expiry import Retention, expire_snapshots
from paimon_explore.metadata.options.table_options import TableOptions
from support.depth import some
from support.figures import Figures
from support.memory_files import copied_files, forget_files
from support.small_tables import new_catalog

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
HISTORY = (3, 4, 5, 6, 7)
SCHEMA = pa.schema({"a": pa.int64()})
HUGE = 2**40
STRAYS = {"none": None, "above a gap": 9, "huge": HUGE, "a copy of another": 9, "below": 1}
HINTS = {"right": b"7", "too low": b"5", "too high": b"50", "garbage": b"x\xff", "absent": None}
NAMES_THE_STRAY = "names the stray"
EARLIEST_HINTS = {**HINTS, "right": b"3", "too low": b"1"}

Act = Callable[[Table], object]
DELETERS: dict[str, Act] = {
    "expire snapshots": lambda t: t.maintenance.expire_snapshots(retain_max=2, older_than=LATER),
    "expire changelogs": lambda t: t.maintenance.expire_changelogs(
        retain_min=1, retain_max=1, older_than=LATER
    ),
    "remove orphans": lambda t: t.maintenance.remove_orphan_files(older_than=LATER, dry_run=False),
    "roll back": lambda t: t.rollback_to(snapshot=5),
    "roll back to a tag": lambda t: t.rollback_to(tag="four"),
    "delete a tag": lambda t: t.delete_tag("four"),
    "expire tags": lambda t: t.maintenance.expire_tags(),
    "delete a branch": lambda t: t.delete_branch("side"),
    "fast-forward": lambda t: t.fast_forward("side"),
    "truncate": lambda t: t.truncate(),
    "expire partitions": lambda t: t.maintenance.expire_partitions(timedelta(days=1)),
}
KEPT: dict[str, tuple[int, ...]] = {  # snapshots of the history that must read behind it
    "expire snapshots": (6, 7),
    "roll back": (3, 4, 5),
    "roll back to a tag": (3, 4),
    "fast-forward": (3,),
}


@pytest.fixture(scope="module")
def scene() -> Iterator[Table]:
    """The table, which tests copy."""
    table = new_catalog("memory://stray-snapshots/w").create_table("db.t", SCHEMA)
    io = table._store.file_io
    table.overwrite([{"a": 1}])
    first = io.read(table._store.paths.snapshot(1))
    for value in range(2, 8):
        table.overwrite([{"a": value}])
    table.maintenance.expire_snapshots(retain_max=5, older_than=LATER)
    table.create_tag("four", snapshot=4)
    table.create_branch("side", "four")
    open_table(table.path, branch="side").append([{"a": 40}])
    io.replace(f"{table.path}/kept-snapshot-1", first)
    yield table
    forget_files("stray-snapshots")


def changed(table: Table, stray: str, latest: str, earliest: str) -> Table:
    """A copy of the table with a stray file and hints."""
    io = copied_files(MemoryFileIO("stray-snapshots"))
    path = table.path.replace("stray-snapshots", io.name)
    for status in list(io.walk(table.path)):
        content = io.read(status.path).replace(b"stray-snapshots", io.name.encode())
        io.replace(status.path.replace("stray-snapshots", io.name), content)
    paths = open_table(path)._store.paths
    number = STRAYS[stray]
    newest = io.read(paths.snapshot(7))
    if stray == "below":
        io.replace(paths.snapshot(1), io.read(f"{path}/kept-snapshot-1"))
    elif number is not None:
        own = newest if stray == "a copy of another" else _with_id(newest, number)
        io.replace(paths.snapshot(number), own)
    io.delete(f"{path}/kept-snapshot-1")
    hints = {**HINTS, NAMES_THE_STRAY: str(number or 7).encode()}
    for hint_path, hint in (
        (paths.latest_hint, hints[latest]),
        (paths.earliest_hint, EARLIEST_HINTS[earliest]),
    ):
        io.delete(hint_path) if hint is None else io.replace(hint_path, hint)
    return open_table(path)


def _with_id(snapshot: bytes, number: int) -> bytes:
    found = snapshot.replace(b'"id" : 7', b'"id" : %d' % number)
    assert found != snapshot
    return found


def readable(table: Table) -> set[int]:
    """The snapshots of the history all of whose files are there."""
    store = table._store
    files = TableFiles(store=store, options=TableOptions({}))
    there = {status.path for status in store.file_io.walk(table.path)}
    found = {number: store.snapshots.find(number) for number in HISTORY}
    return {
        number
        for number, snapshot in found.items()
        if snapshot is not None and files.of_state(snapshot).all <= there
    }


def latest_of(stray: str, latest: str) -> int:
    """The latest snapshot, by the rule: the run from a hint that is there, else the highest id."""
    if stray in ("none", "below"):
        return 1 if stray == "below" and latest == NAMES_THE_STRAY else 7
    if latest in ("right", "too low"):
        return 7
    return STRAYS[stray] or 7


SETTINGS = list(product(STRAYS, [*HINTS, NAMES_THE_STRAY], EARLIEST_HINTS))
CASES = list(product(DELETERS, SETTINGS))
_TURN = count()


@pytest.mark.parametrize("stray", STRAYS)
@pytest.mark.parametrize("latest", [*HINTS, NAMES_THE_STRAY])
def test_the_latest_snapshot_has_one_definition(scene: Table, stray: str, latest: str) -> None:
    table = changed(scene, stray, latest, "right")
    expected = latest_of(stray, latest)
    snapshots = table._store.snapshots
    assert snapshots.latest_id() == expected
    assert snapshots.ids()[-1] == expected
    assert snapshots.history() == (list(HISTORY) if expected == 7 else [expected])
    forget_files(_files_of(table))


@pytest.mark.parametrize("deleter", DELETERS)
def test_no_deleter_takes_more_than_without_strays_and_lies(
    scene: Table, deleter: str, figures: Figures
) -> None:
    chosen = list(some(SETTINGS, 29, next(_TURN)))
    for stray, latest, earliest in chosen:
        table = changed(scene, stray, latest, earliest)
        assert readable(table) == set(HISTORY)
        kept = KEPT.get(deleter, HISTORY)
        if deleter == "expire snapshots" and latest_of(stray, latest) != 7:
            kept = HISTORY  # below a gap
        try:
            DELETERS[deleter](table)
        except PaimonError:
            kept = HISTORY  # refused, so that nothing was deleted
        setting = f"{deleter}: stray {stray}, LATEST {latest}, EARLIEST {earliest}"
        assert readable(table) >= set(kept), setting
        forget_files(_files_of(table))
    figures.add("deleters with stray snapshots and lying hints", len(chosen))


def test_an_expiry_goes_on_below_a_stray_file(scene: Table) -> None:
    table = changed(scene, "above a gap", "right", "right")
    report = table.maintenance.expire_snapshots(retain_max=2, older_than=LATER)
    assert report.expired == (3, 4, 5)
    assert table._store.snapshots.all_ids() == [6, 7, 9]
    assert sorted(table.to_pandas()["a"]) == [7]


def test_fsck_names_a_stray_file(scene: Table) -> None:
    table = changed(scene, "above a gap", "right", "right")
    found = [finding.what for finding in table.maintenance.fsck()]
    assert (
        "snapshot 7 is followed by snapshot 9, which is not part of the history up to snapshot 7"
        in found
    )


def test_a_stray_file_is_read_only_when_its_id_is_asked_for(scene: Table) -> None:
    table = changed(scene, "huge", "right", "right")
    table.overwrite([{"a": 8}])
    assert [snapshot.id for snapshot in table.snapshots] == [*HISTORY, 8]
    assert list(table.to_pandas()["a"]) == [8]
    assert list(table.at(snapshot=HUGE).to_pandas()["a"]) == [7]


def test_a_rollback_to_a_stray_file_is_refused(scene: Table) -> None:
    table = changed(scene, "above a gap", "right", "right")
    with pytest.raises(
        InvalidInputError,
        match="Snapshot 9 is not part of the table's history, which ends at snapshot 7",
    ):
        table.rollback_to(snapshot=9)


def test_a_rollback_leads_out_of_a_stray_file_that_became_the_latest(scene: Table) -> None:
    table = changed(scene, "above a gap", "absent", "right")
    assert table._store.snapshots.latest_id() == 9
    table.rollback_to(snapshot=7)
    assert table._store.snapshots.all_ids() == list(HISTORY)
    assert table._store.snapshots.latest_id() == 7


def test_a_leftover_without_its_files_does_not_stop_an_expiry(scene: Table) -> None:
    table = changed(scene, "below", "right", "right")
    options = TableOptions(table.schema.options)
    retention = Retention(retain_min=1, retain_max=1, keep_after_ms=0, limit=50)
    report = expire_snapshots(table._store, options, retention)
    assert report.expired == (3, 4, 5, 6)
    assert table._store.snapshots.all_ids() == [1, 7]


def _files_of(table: Table) -> str:
    io = table._store.file_io
    assert isinstance(io, MemoryFileIO)
    return io.name
