from datetime import UTC, datetime
from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError, NotFoundError
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.lifecycle import keyed_table, keys, plain_table, replaced_rows, states
from support.through import through


def test_everything_newer_than_the_snapshot_is_gone(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("one", 1)
    table.create_tag("four", 4)
    table.rollback_to(snapshot=2)
    assert states(table) == {1: [1], 2: [2]}
    assert table._store.tags.names() == ["one"]
    assert table._store.snapshots.latest_id() == 2
    table.append([{"k": 5, "v": "x"}])
    assert states(table) == {1: [1], 2: [2], 3: [2, 5]}


def test_an_expired_snapshot_comes_back_from_its_tag(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.maintenance.expire_snapshots(retain_max=1)
    assert table.rollback_to(tag="two").id == 2
    assert states(table) == {2: [2]}
    for hint in ("EARLIEST", "LATEST"):
        assert (Path(table.path) / "snapshot" / hint).read_text() == "2"
    assert keys(table.at(tag="two")) == [2]


def test_a_point_is_given_in_the_forms_of_at(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 5)
    millis = [snapshot.time_millis for snapshot in table.snapshots]
    between = datetime.fromtimestamp(millis[3] / 1000, UTC)
    expected = max(n for n, one in enumerate(millis, 1) if one <= millis[3])
    assert table.rollback_to(timestamp=millis[3]).id == expected
    table.create_tag("three", 3)
    assert table.rollback_to(between.isoformat()).id == expected
    assert table.rollback_to("three").id == 3
    assert table.rollback_to(table.snapshots.latest()).id == 3
    assert table.rollback_to("2").id == 2
    assert table.rollback_to(datetime.now(UTC)).id == 2
    with pytest.raises(NotFoundError, match="There is no snapshot at or before 1999"):
        table.rollback_to(timestamp="1999-01-01")
    with pytest.raises(NotFoundError, match="A version is the name of a tag"):
        table.rollback_to("four")
    with pytest.raises(InvalidInputError, match=r"rollback_to\(\) needs a point in time"):
        table.rollback_to()
    with pytest.raises(InvalidInputError, match="2 and tag were given"):
        table.rollback_to(2, tag="three")
    assert states(table) == {1: [1], 2: [2]}


@pytest.mark.parametrize("step", range(1, 6))
def test_a_rollback_that_was_cut_off_is_completed_by_another_one(tmp_path: Path, step: int) -> None:
    """Other implementations believe EARLIEST as soon as the snapshot that it names exists again."""
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.maintenance.expire_snapshots(retain_max=2)
    cut_off = through(table, FaultyFileIO(table._store.file_io, step, Fault.CRASH))
    with pytest.raises(CrashError):
        cut_off.rollback_to(tag="two")
    table.rollback_to(tag="two")
    table.append([{"k": 5, "v": "x"}])
    assert states(table) == {2: [2], 3: [2, 5]}
    assert (Path(table.path) / "snapshot" / "EARLIEST").read_text() == "2"


def test_a_table_without_snapshots_comes_back_from_a_tag(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_tag("one", 1)
    for number in (1, 2):
        table._store.snapshots.delete(number)
    table.rollback_to(tag="one")
    assert states(table) == {1: [1]}


@pytest.mark.parametrize("retained", ["0", "99"])
def test_long_lived_changelogs_stay_up_to_the_snapshot_that_comes_back(
    tmp_path: Path, retained: str
) -> None:
    options = {"changelog-producer": "input"}
    if retained != "0":
        options |= {"changelog.num-retained.max": retained, "changelog.time-retained": "9 d"}
    table = keyed_table(tmp_path, options)
    for number in range(1, 5):
        table.upsert([{"k": number, "v": "x"}])
    table.create_tag("two", 2)
    table.maintenance.expire_snapshots(retain_max=1)
    table.rollback_to(tag="two")
    changelogs = table._store.changelogs
    assert changelogs.ids() == ([1, 2] if retained == "99" else [])
    assert (table.snapshots[2].changelog_manifest_list is not None) is (retained == "99")
    assert keys(table) == [1, 2]
    if retained == "99":
        assert (Path(table.path) / "changelog" / "LATEST").read_text() == "2"


def test_no_hint_names_a_changelog_that_a_rollback_has_removed(tmp_path: Path) -> None:
    options = {"changelog.num-retained.max": "99", "changelog.time-retained": "9 d"}
    table = keyed_table(tmp_path, {"changelog-producer": "input", **options})
    for number in range(1, 7):
        table.upsert([{"k": number, "v": "x"}])
    table.create_tag("two", 2)
    table.maintenance.expire_snapshots(retain_max=1)
    table.maintenance.expire_changelogs(retain_min=1, retain_max=3)
    hint = Path(table.path) / "changelog" / "EARLIEST"
    assert int(hint.read_text()) > 2
    table.rollback_to(tag="two")
    assert table._store.changelogs.ids() == []
    assert not hint.exists()


def test_a_tagged_snapshot_may_be_named_by_its_id(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.maintenance.expire_snapshots(retain_max=1)
    table.rollback_to(snapshot=2)
    assert states(table) == {2: [2]}


def test_a_tag_whose_snapshot_id_another_commit_has_is_no_target(tmp_path: Path) -> None:
    """A rollback that was cut off has left the tag, and later commits have taken the id."""
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("three", 3)
    tag = table.tags["three"]
    table.rollback_to(snapshot=1)
    for number in (12, 13, 14):
        table.overwrite([{"k": number, "v": "x"}])
    table._store.tags.create(tag)
    with pytest.raises(InvalidInputError, match="another commit has its id"):
        table.rollback_to(tag="three")
    assert states(table) == {1: [1], 2: [12], 3: [13], 4: [14]}
    table.create_branch("back", "three")
    table.fast_forward("back")
    assert keys(table) == [3]
    assert table.maintenance.fsck() == []


def test_a_target_that_does_not_exist_changes_nothing(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    with pytest.raises(NotFoundError):
        table.rollback_to(snapshot=9)
    with pytest.raises(NotFoundError):
        table.rollback_to(tag="none")
    with pytest.raises(InvalidInputError):
        table.rollback_to(snapshot=1, tag="none")
    assert states(table) == {1: [1], 2: [2]}


def test_a_schema_that_nothing_uses_is_taken_back(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.add_column("a", "INT")
    table.append([{"k": 2, "v": "x", "a": 1}])
    table.add_column("b", "INT")
    table.drop_column("v")
    assert table.maintenance.rollback_schema(1).row_type.names == ("k", "v", "a")
    assert table._store.schemas.ids() == [0, 1]
    with pytest.raises(
        InvalidInputError, match="Schema 1 cannot be removed, because snapshot 2 uses the schema"
    ):
        table.maintenance.rollback_schema(0)
    with pytest.raises(NotFoundError):
        table.maintenance.rollback_schema(7)
    two = table.create_tag("two", 2)
    table.rollback_to(snapshot=1)
    table._store.tags.create(two)  # as other implementations may leave it
    with pytest.raises(InvalidInputError, match="because tag 'two' uses the schema"):
        table.maintenance.rollback_schema(0)
    table._store.tags.delete("two")
    table.maintenance.rollback_schema(0)
    assert table._store.schemas.ids() == [0]
    table.append([{"k": 3, "v": "y"}])
    assert keys(table) == [1, 3]
    assert table.maintenance.fsck() == []


def test_the_rows_of_then_may_also_become_the_newest_snapshot(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.overwrite(table.at(snapshot=1), partition={})
    assert states(table) == {1: [1], 2: [2], 3: [3], 4: [1]}
    assert table.maintenance.fsck() == []
