"""A file is missing: whether the snapshot is gone, the file was lost, or it lies out of reach."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import MissingFileError, SnapshotExpiredError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.expired import explain_missing_files
from support.small_tables import columns, new_catalog

COLUMNS = columns(k=pa.int32(), v=pa.string())


def rows(*keys: int) -> list[dict[str, object]]:
    return [{"k": key, "v": "a"} for key in keys]


def appended(tmp_path: Path, **options: str) -> Table:
    table = new_catalog(tmp_path / "wh").create_table("db.t", COLUMNS, options=options)
    table.append(rows(1, 2))
    table.append(rows(3))
    return table


def outside(tmp_path: Path) -> Table:
    folder = tmp_path / "external"
    folder.mkdir()
    strategy = {"data-file.external-paths.strategy": "round-robin"}
    return appended(tmp_path, **{"data-file.external-paths": f"file://{folder}", **strategy})


def with_vectors(tmp_path: Path) -> Table:
    table = appended(tmp_path, **{"deletion-vectors.enabled": "true"})
    table.delete("k = 1")
    return table


def with_changelog(tmp_path: Path) -> Table:
    options = {"bucket": "1", "changelog-producer": "input", "write-only": "true"}
    table = new_catalog(tmp_path / "wh").create_table(
        "db.t", COLUMNS, primary_key=["k"], options=options
    )
    table.upsert(rows(1))
    table.upsert(rows(2))
    return table


def read(table: Table) -> object:
    return table.to_arrow()


def changes(table: Table) -> object:
    return [change.rows for change in table.changes()]


LOST: dict[str, tuple[Callable[[Path], Table], str, Callable[[Table], object]]] = {
    "data file": (appended, "t/bucket-0/data-*", read),
    "data file outside the table": (outside, "external/**/data-*", read),
    "deletion vectors": (with_vectors, "t/index/index-*", read),
    "index manifest": (with_vectors, "t/manifest/index-manifest-*", read),
    "manifest": (appended, "t/manifest/manifest-[!l]*", read),
    "manifest list": (appended, "t/manifest/manifest-list-*-1", read),
    "changelog file": (with_changelog, "t/bucket-0/changelog-*", changes),
    "changelog manifest list": (with_changelog, "t/manifest/manifest-list-*-2", changes),
}
"""How a table is made, which of its files are lost, and who needs them."""


def lost(tmp_path: Path, kind: str) -> tuple[Table, list[str]]:
    """A copy of the table, of which nothing is cached, without the files."""
    make, pattern, _ = LOST[kind]
    table = make(tmp_path)
    copy = tmp_path / "copy" / "t"
    shutil.copytree(table.path, copy)
    top = tmp_path if pattern.startswith("external") else tmp_path / "copy"
    paths = [path for path in top.glob(pattern) if path.is_file()]
    for path in paths:
        path.unlink()
    return pe.open_table(copy), [str(path) for path in paths]


@pytest.mark.parametrize("newer", [0, 2])
@pytest.mark.parametrize("kind", LOST)
def test_a_file_of_a_snapshot_that_is_there_is_named_as_missing(
    kind: str, newer: int, tmp_path: Path
) -> None:
    table, paths = lost(tmp_path, kind)
    assert paths
    reads_changes = LOST[kind][2] is changes
    number = max(snapshot.id for snapshot in table.snapshots)
    quiet = pe.open_table(table.path, options={"write-only": "true"})
    for key in range(newer):
        copy_of_newest(quiet, number + key)
    with pytest.raises(MissingFileError) as caught:
        LOST[kind][2](table if reads_changes else table.at(snapshot=number))
    assert not isinstance(caught.value, SnapshotExpiredError)
    assert caught.value.path.removeprefix("file:") in paths
    text = str(caught.value)
    assert "no such file. Snapshot " in text
    assert "expired" not in text
    assert ("outside the table's folder" in text) == ("outside" in kind)


def copy_of_newest(table: Table, number: int) -> None:
    """A snapshot more, as another engine's commit that leaves the files as they are."""
    folder = Path(table.path) / "snapshot"
    text = (folder / f"snapshot-{number}").read_text()
    (folder / f"snapshot-{number + 1}").write_text(
        text.replace(f'"id" : {number}', f'"id" : {number + 1}')
    )
    (folder / "LATEST").write_text(str(number + 1))


# ------------------------------------------------------------ what became of the snapshot


def told(table: Table, snapshot: Snapshot, path: str, *, of_changes: bool = False) -> str:
    """What is raised when a file of a snapshot is missing: the class and the text."""
    with pytest.raises((MissingFileError, SnapshotExpiredError)) as caught:  # noqa: SIM117
        with explain_missing_files(table._store, snapshot, changes=of_changes):
            raise MissingFileError("read", path)
    return f"{type(caught.value).__name__}: {caught.value}"


def test_errors_that_are_explained_or_of_no_snapshot_stay_as_they_are(tmp_path: Path) -> None:
    table = appended(tmp_path)
    cases: list[tuple[list[Snapshot | None], str]] = [([None], ""), ([table.snapshot], "Look.")]
    for snapshots, hint in cases:
        error = MissingFileError("read", "elsewhere", hint=hint)
        with pytest.raises(MissingFileError) as caught:  # noqa: SIM117
            with explain_missing_files(table._store, *snapshots):
                raise error
        assert caught.value is error


IN_TABLE = (
    " exists and needs this file. Read again. If the file is still missing and no other engine is "
    "expiring snapshots, the file is lost; t.maintenance.fsck() lists all lost files."
)
OUTSIDE = (
    " refers to this file outside the table's folder: check that this location is accessible, or "
    "restore the file."
)


@pytest.mark.parametrize("place", ["{}", "file:{}", "file://{}", "s3://bucket{}", "{}.other"])
def test_expiry_is_named_only_if_the_snapshot_is_gone(tmp_path: Path, place: str) -> None:
    table = appended(tmp_path)
    first, second = (table._store.snapshots.load(number) for number in (1, 2))
    path = place.format(table.path) + "/bucket-0/data-1"
    hint = OUTSIDE if "s3" in place or "other" in place else IN_TABLE
    missing = (
        f"MissingFileError: Cannot read {path}: no such file. Snapshot 1 of {table.path}{hint}"
    )
    assert told(table, first, path) == missing
    table.create_tag("keeps", snapshot=1)
    table._store.file_io.delete(table._store.paths.snapshot(1))
    assert told(table, first, path) == missing
    table.delete_tag("keeps")
    assert told(table, first, path) == (
        f"SnapshotExpiredError: Snapshot 1 of {table.path} expired while it was read: {path} does "
        "not exist any more. Available snapshots: 2 to 2. Read an available snapshot. Create a tag "
        "to keep a snapshot for long reads."
    )
    table._store.file_io.delete(table._store.paths.snapshot(2))
    assert f"of {table.path} was rolled back while it was read: " in told(table, second, path)


def test_a_tag_keeps_rows_but_no_changelog(tmp_path: Path) -> None:
    table = with_changelog(tmp_path)
    first = table._store.snapshots.load(1)
    table.create_tag("keeps", snapshot=1)
    table._store.file_io.delete(table._store.paths.snapshot(1))
    path = f"{table.path}/bucket-0/changelog-1"
    assert told(table, first, path, of_changes=True).startswith("SnapshotExpiredError")
    assert told(table, first, path).startswith("MissingFileError")


def test_a_long_lived_changelog_keeps_changes_not_rows(tmp_path: Path) -> None:
    table = with_changelog(tmp_path)
    first = table._store.snapshots.load(1)
    text = table._store.file_io.read(table._store.paths.snapshot(1))
    assert table._store.file_io.create(table._store.paths.changelog(1), text)
    table._store.file_io.delete(table._store.paths.snapshot(1))
    path = f"{table.path}/bucket-0/changelog-1"
    assert told(table, first, path, of_changes=True).startswith("MissingFileError")
    assert told(table, first, path).startswith("SnapshotExpiredError")


@pytest.mark.parametrize("option", ["file-index.read.enabled", "global-index.enabled"])
def test_the_option_without_which_filters_need_no_lost_index_is_named(
    tmp_path: Path, option: str
) -> None:
    indexed = {"file-index.bloom-filter.columns": "k", "file-index.in-manifest-threshold": "1 B"}
    evolving = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    options = indexed if option.startswith("file") else evolving
    table = appended(tmp_path, **options)
    if option.startswith("global"):
        table.maintenance.create_global_index("k", "btree")
    lost = [*Path(table.path).rglob("*.index")]
    assert lost
    for path in lost:
        path.unlink()
    with pytest.raises(MissingFileError, match=f"Filters do without .*'{option}' is 'false'"):
        table.scan(where="k = 2").to_arrow()
    without = pe.open_table(table.path, options={option: "false"})
    assert without.scan(where="k = 2").to_arrow()["v"].to_pylist() == ["a"]
