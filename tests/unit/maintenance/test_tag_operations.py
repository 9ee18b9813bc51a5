import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from paimon_explore import open_table
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.maintenance.references.tag_operations import TagRequest, create_tag, expire_tags
from paimon_explore.metadata.tag import Tag
from support.interrupted import interrupted
from support.lifecycle import data_files, files_of, keys, options_of, plain_table, replaced_rows


def test_a_tag_reads_after_its_snapshot_has_expired(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.create_tag("three", 3)
    table.maintenance.expire_snapshots(retain_max=1)
    assert keys(table.at(tag="two")) == [2]
    assert keys(table) == [4]
    table.create_tag("again", 3)
    assert keys(table.at(tag="again")) == [3]
    with pytest.raises(NotFoundError, match="Snapshot 1 "):
        table.create_tag("gone", 1)


def test_without_a_snapshot_the_newest_is_tagged(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    assert table.create_tag("now").snapshot.id == 2


def test_a_name_is_given_once(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_tag("x", 1)
    with pytest.raises(AlreadyExistsError):
        table.create_tag("x", 2)
    assert table.tags["x"].snapshot.id == 1


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..\\x"])
def test_names_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    with pytest.raises(InvalidInputError, match="not a valid tag name"):
        table.create_tag(name)
    table.create_tag("old")
    with pytest.raises(InvalidInputError, match="not a valid tag name"):
        table.maintenance.rename_tag("old", name)


def test_a_deleted_tag_takes_the_files_that_only_it_held(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.create_tag("three", 3)
    table.maintenance.expire_snapshots(retain_max=1)
    before = files_of(table)
    assert len(data_files(table)) == 3
    gone = table.delete_tag("two")
    assert repr(gone) == "1 data file, 2 metadata files"
    root = f"{table.path}/"
    told = {p.removeprefix(root) for p in (*gone.data_files, *gone.metadata_files)}
    assert before - files_of(table) == told | {"tag/tag-two"}
    assert keys(table.at(tag="three")) == [3]
    assert keys(table) == [4]


def test_files_stay_while_the_snapshot_or_another_tag_is_there(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("a", 2)
    assert len(table.delete_tag("a")) == 0
    table.create_tag("b", 2)
    table.create_tag("c", 2)
    table.maintenance.expire_snapshots(retain_max=1)
    assert len(table.delete_tag("b")) == 0
    assert keys(table.at(tag="c")) == [2]


def test_files_of_a_branch_stay_when_the_tag_it_began_from_goes(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("a", 2)
    table.create_branch("side", "a")
    table.maintenance.expire_snapshots(retain_max=1)
    assert len(table.delete_tag("a")) == 0


def test_a_renamed_tag_keeps_its_snapshot(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_tag("old", 1)
    table.create_tag("other", 2)
    assert table.maintenance.rename_tag("old", "new").name == "new"
    assert {tag.name: tag.snapshot.id for tag in table.tags} == {"new": 1, "other": 2}
    with pytest.raises(AlreadyExistsError):
        table.maintenance.rename_tag("new", "other")


def test_a_replaced_tag_lets_go_of_what_it_held(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("a", 1)
    table.maintenance.expire_snapshots(retain_max=1)
    assert len(data_files(table)) == 2
    table.maintenance.replace_tag("a")
    assert keys(table.at(tag="a")) == [3]
    assert len(data_files(table)) == 1
    with pytest.raises(NotFoundError):
        table.maintenance.replace_tag("b")


def test_a_tag_whose_java_classes_would_not_be_called_is_refused(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    notifies = open_table(table.path, options={"tag.callbacks": "com.example.Tags"})
    with pytest.raises(UnsupportedFeatureError, match=r"tag\.callbacks"):
        notifies.create_tag("x")
    assert table._store.tags.names() == []


def test_tags_live_as_long_as_they_are_given(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    begin = datetime(2026, 1, 1, 12, 0, 0)  # noqa: DTZ001 - tags have local times
    options = options_of(table._store)
    for name, retained in (("hour", timedelta(hours=1)), ("day", timedelta(days=1)), ("all", None)):
        request = TagRequest(name=name, retained=retained)
        create_tag(table._store, options, request, now=lambda: begin)
    assert expire_tags(table._store, options, now=lambda: begin + timedelta(hours=1)) == []
    assert expire_tags(table._store, options, now=lambda: begin + timedelta(hours=2)) == ["hour"]
    assert expire_tags(table._store, options, now=lambda: begin + timedelta(days=9)) == ["day"]
    assert table._store.tags.names() == ["all"]


def test_the_tag_that_protects_a_replacement_expires_if_it_stays(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_tag("a", 1)
    seen: list[Tag] = []
    tags = table._store.tags
    other = interrupted(table, 1, lambda: seen.extend(tags.list()), operation="replace tag-a")
    other.maintenance.replace_tag("a", 2)
    assert [tag.time_retained for tag in seen] == [None, timedelta(days=1)]
    assert tags.names() == ["a"]


def test_the_table_may_say_how_long_tags_live(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"tag.default-time-retained": "1 d"}), 1)
    assert table.create_tag("x").time_retained == timedelta(days=1)
    assert table.tags["x"].create_time is not None


def test_a_file_tells_other_systems_of_a_tag(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"tag.create-success-file": "true"}), 2)
    table.create_tag("one", 1)
    told = Path(table.path) / "tag" / "tag-success-file" / "one_SUCCESS"
    times = json.loads(told.read_text())
    assert list(times) == ["creationTime", "modificationTime"]
    assert times["creationTime"] == times["modificationTime"]
    assert times["creationTime"] / 1000 == pytest.approx(told.stat().st_mtime, abs=99)
    table.maintenance.replace_tag("one", 2)
    assert json.loads(told.read_text())["creationTime"] == times["creationTime"]
    assert table._store.tags.names() == ["one"]
    assert table.maintenance.fsck() == []
    table.maintenance.rename_tag("one", "two")
    assert not told.exists()
    told = told.with_name("two_SUCCESS")
    assert json.loads(told.read_text())["creationTime"] == times["creationTime"]
    table.delete_tag("two")
    assert not told.exists()


def test_without_the_option_there_is_no_such_file(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.create_tag("one")
    assert not (Path(table.path) / "tag" / "tag-success-file").exists()


def test_tags_older_than_a_time_are_deleted_whatever_their_retention(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("forever", 1)
    tag = table.create_tag("week", 2, retained="7 d")
    assert tag.time_retained == timedelta(days=7)
    for name in ("forever", "week"):
        os.utime(table._store.paths.tag(name), (1_000_000_000, 1_000_000_000))
    table.create_tag("new", 3)
    upkeep = table.maintenance
    assert upkeep.expire_tags() == []
    options = options_of(table._store)
    assert expire_tags(table._store, options, before_ms=1_000_000_000_000) == []
    assert upkeep.expire_tags(older_than="1 d") == ["forever"]
    os.utime(table._store.paths.tag("new"), (system_clock() / 1000 - 1,) * 2)
    assert sorted(upkeep.expire_tags(older_than=timedelta(0))) == ["new", "week"]
    assert table._store.tags.names() == []
