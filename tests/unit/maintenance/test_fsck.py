"""Tables in order have no findings; each kind of damage has its own."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.errors import NotFoundError
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot
from support.lifecycle import files_of, keyed_table, plain_table, replaced_rows
from support.written import KINDS, make


def sound(folder: Path) -> Table:
    """Snapshots, a tag of an expired one, a branch, a changelog and an index."""
    table = keyed_table(folder, {"changelog-producer": "input"})
    for number in range(4):
        table.upsert([{"k": number, "v": "x"}, {"k": 9, "v": str(number)}])
    table.create_tag("two", 2)
    table.maintenance.expire_snapshots(retain_max=2)
    table.create_branch("side", "two")
    return table


def rules(table: Table, *, read_rows: bool = False) -> set[str]:
    """The rules that the table breaks, looked at without memory of its manifests."""
    return {found.rule for found in table.maintenance.fsck(read_rows=read_rows)}


def rewrite(table: Table, **values: object) -> None:
    """Change the newest snapshot's file."""
    snapshot = table.snapshot
    assert isinstance(snapshot, Snapshot)
    path = Path(table._store.paths.snapshot(snapshot.id))
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, **values}), encoding="utf-8")


def test_a_table_in_order_has_no_findings(tmp_path: Path) -> None:
    assert sound(tmp_path).maintenance.fsck(read_rows=True) == []


def test_damage_is_found_in_manifests_that_this_process_has_read(tmp_path: Path) -> None:
    table = sound(tmp_path)
    assert table.to_arrow().num_rows == 5
    snapshot = table.snapshot
    assert isinstance(snapshot, Snapshot)
    for name in (snapshot.base_manifest_list, table._store.manifests.delta(snapshot).names[0]):
        path = Path(table._store.paths.manifest(name))
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        assert any(found.path == str(path) for found in table.maintenance.fsck())
        path.write_bytes(content)
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_of_table_that_is_written_here_is_in_order(tmp_path: Path, name: str) -> None:
    catalog_folder = tmp_path / "warehouse"
    catalog_folder.mkdir()
    table = make(Catalog(catalog_folder), name, KINDS[name])
    assert list(map(str, table.maintenance.fsck(read_rows=True))) == []


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"totalRecordCount": 99}, "totalRecordCount is the row count of the live files"),
        ({"deltaRecordCount": 99}, "totalRecordCount grows by deltaRecordCount"),
        (
            {"changelogRecordCount": 9},
            "changelogRecordCount is the row count of the changelog files",
        ),
        ({"schemaId": 7}, "every referenced schema exists"),
        ({"baseManifestList": "manifest-list-gone"}, "every referenced file exists"),
        ({"baseManifestListSize": 3}, "a file has the recorded size"),
        ({"statistics": "stat-gone"}, "every referenced file exists"),
        ({"indexManifest": "index-manifest-gone"}, "every referenced file exists"),
        ({"commitKind": "NONE"}, "every file of the table can be read"),
    ],
)
def test_a_wrong_snapshot_breaks_its_rule(
    tmp_path: Path, values: dict[str, object], rule: str
) -> None:
    table = sound(tmp_path)
    rewrite(table, **values)
    assert rule in rules(table)


def test_a_state_that_is_not_the_one_before_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    first = table.snapshots[1]
    rewrite(table, baseManifestList=first.base_manifest_list, baseManifestListSize=None)
    assert rules(table) == {
        "the base manifest list has the files of the previous snapshot",
        "a file is added once, and deleted only if it exists",
    }


def test_a_file_added_twice_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    snapshot = table.snapshot
    assert snapshot is not None
    rewrite(
        table,
        baseManifestList=snapshot.delta_manifest_list,
        baseManifestListSize=snapshot.delta_manifest_list_size,
        totalRecordCount=2,
    )
    assert rules(table) == {"a file is added once, and deleted only if it exists"}


def test_a_hole_in_the_ids_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table._store.snapshots.delete(2)
    assert rules(table) == {"snapshot ids have no gaps"}


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (Path.unlink, "every referenced file exists"),
        (_cut, "a file has the recorded size"),
    ],
)
@pytest.mark.parametrize("kind", ["manifest/manifest-", "bucket-0/data-", "bucket-0/changelog-"])
def test_every_file_that_is_gone_or_cut_is_found(
    tmp_path: Path, damage: Callable[[Path], None], rule: str, kind: str
) -> None:
    table = sound(tmp_path)
    known = [path for path in files_of(table) if path.startswith(kind) and "list" not in path]
    assert known
    for path in known:
        file = Path(table.path) / path
        content = file.read_bytes()
        damage(file)
        assert rule in rules(table), path
        file.write_bytes(content)
    assert rules(table) == set()


def test_a_file_that_is_gone_is_found_in_each_state_that_has_it(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"manifest.merge-min-count": "3"}), 2)
    before = files_of(table)
    table.append([{"k": 3, "v": "x"}])
    (gone,) = (Path(table.path) / path for path in files_of(table) - before if "bucket-" in path)
    for number in range(4, 9):
        table.append([{"k": number, "v": "x"}])
    replaced_rows(table, 2)
    gone.unlink()
    paths = table._store.paths
    assert [(found.path, found.what) for found in table.maintenance.fsck()] == [
        (paths.snapshot(number), f"{gone} is missing") for number in range(3, 9)
    ]


def test_overlapping_files_are_found_in_each_state_that_has_both(tmp_path: Path) -> None:
    table = keyed_table(tmp_path, {"num-levels": "3"})
    table.upsert([{"k": 1, "v": "x"}, {"k": 5, "v": "x"}])
    table.compact()
    snapshot = table.snapshot
    assert isinstance(snapshot, Snapshot)
    manifests = table._store.manifests
    (name,) = manifests.delta(snapshot).names
    rows = manifests.read(name).rows()
    rows.append({**rows[-1], "file_name": "data-other-0.parquet"})
    path = Path(table._store.paths.manifest(name))
    path.write_bytes(encode_records(ManifestEntries.from_rows(rows)))
    table.upsert([{"k": 9, "v": "x"}])
    overlaps = [
        found.path for found in table.maintenance.fsck() if "disjoint key ranges" in found.rule
    ]
    assert overlaps == [table._store.paths.snapshot(number) for number in (2, 3)]


def test_rows_that_are_not_there_are_found_by_reading(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    files = sorted((Path(table.path) / "bucket-0").iterdir())
    content = bytearray(files[0].read_bytes())
    content[-1] ^= 1
    files[0].write_bytes(content)
    assert rules(table) == set()
    assert rules(table, read_rows=True) == {"a data file can be read"}


def test_a_schema_that_forgets_its_ids_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    schema = table._store.schemas.load(0)
    path = Path(table._store.paths.schema(0))
    path.unlink()
    table._store.schemas.create(replace(schema, highest_field_id=0))
    assert rules(table) == {"highestFieldId is the maximum field id or greater"}


def test_a_tag_of_an_expired_snapshot_is_checked(tmp_path: Path) -> None:
    table = sound(tmp_path)
    tag = table.tags["two"].snapshot
    Path(table._store.paths.manifest(tag.delta_manifest_list)).unlink()
    found = table.maintenance.fsck()
    assert {one.path.rpartition("/")[2] for one in found} == {"tag-two", "snapshot-2"}
    assert "missing" in str(found[0])


def test_what_is_no_table_cannot_be_checked(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    Path(table._store.paths.schema(0)).unlink()
    with pytest.raises(NotFoundError):
        table.maintenance.fsck()


def test_a_branch_without_a_schema_is_found(tmp_path: Path) -> None:
    table = sound(tmp_path)
    Path(table._store.for_branch("side").paths.schema(0)).unlink()
    (found,) = table.maintenance.fsck()
    assert (found.rule, "branch 'side'" in found.what) == ("every branch has a schema", True)


def test_statistics_that_snapshots_share_are_parsed_once(tmp_path: Path) -> None:
    table = sound(tmp_path)
    table.maintenance.analyze()
    table.upsert([{"k": 1, "v": "x"}])
    (file,) = Path(table.path, "statistics").iterdir()
    file.write_bytes(file.read_bytes()[:9])
    (found,) = table.maintenance.fsck()
    assert (found.path, found.rule) == (str(file), "every file of the table can be read")


@pytest.mark.parametrize("content", [b"", b"\0junk" * 9, None], ids=["empty", "junk", "cut"])
def test_a_damaged_file_index_is_found_with_the_rows(tmp_path: Path, content: bytes | None) -> None:
    options = {"file-index.bloom-filter.columns": "v", "file-index.in-manifest-threshold": "1 B"}
    table = plain_table(tmp_path, options)
    table.append([{"k": 1, "v": "x"}])
    (file,) = Path(table.path).rglob("*.index")
    assert table.maintenance.fsck(read_rows=True) == []
    file.write_bytes(file.read_bytes()[:60] if content is None else content)
    (found,) = table.maintenance.fsck(read_rows=True)
    assert (found.path, found.rule) == (str(file), "the file index of a data file can be read")


def test_a_branch_is_checked_from_anywhere(tmp_path: Path) -> None:
    table = sound(tmp_path)
    side = open_table(table.path, branch="side")
    side.upsert([{"k": 5, "v": "side"}])
    assert rules(side) == set()
    rewrite(side, totalRecordCount=77)
    assert "totalRecordCount is the row count of the live files" in rules(table)
