import json
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import NotFoundError
from paimon_explore.inspection.explain.file_explanation import FileExplanation, explain_file
from paimon_explore.inspection.views.inspector import Inspector
from support.explored import golden_view
from support.golden import GoldenTables
from support.small_tables import columns, new_catalog

HOUR = 3_600_000
COLUMNS = columns(k=pa.int32(), v=pa.string())


def of(golden: GoldenTables, table: str, name: str = "", now_ms: int = 2**42) -> FileExplanation:
    inspector = Inspector(golden_view(golden.table("java200", table).folder))
    if not name:
        name = str(inspector.at(1).files().table.column("file_name")[0].as_py())
    return explain_file(inspector, name, now_ms)


def test_a_file_is_held_by_the_snapshots_between_its_adding_and_removal(
    golden: GoldenTables,
) -> None:
    found = of(golden, "pk_levels")
    assert (found.type, found.added_by, found.removed_by) == ("data file", 1, 4)
    assert [one.text for one in found.holders] == ["snapshots 1 to 3"]
    assert found.exists
    assert found.deletion.text == "when snapshot 3 expires, which may happen now"


def test_the_earliest_moment_follows_the_options(golden: GoldenTables) -> None:
    inspector = Inspector(golden_view(golden.table("java200", "pk_levels").folder))
    removal = inspector.timeline().snapshot(4).time_millis
    due = of(golden, "pk_levels", now_ms=removal + HOUR // 2).deletion
    assert due.from_ms == removal + HOUR
    assert due.commits == 0
    few = of(golden, "cl_input").deletion
    assert few.commits == 9
    assert few.text.startswith(
        "when snapshot 5 expires, after 9 more commits (snapshot.num-retained.min = 10)"
    )


def test_tags_and_consumers_hold_files(golden: GoldenTables) -> None:
    tagged = of(golden, "tags", now_ms=2**42)
    assert {one.kind for one in tagged.holders} == {"tag"}
    assert tagged.deletion.text.startswith("when no longer referenced by tag ")
    assert tagged.deletion.from_ms is None
    read = of(golden, "commit_users")
    assert "consumer reader-1 (next snapshot 3)" in [one.text for one in read.holders]


def test_metadata_files_are_explained_too(golden: GoldenTables) -> None:
    inspector = Inspector(golden_view(golden.table("java200", "dv_pk").folder))
    snapshot = inspector.timeline().snapshot(6)
    types = {
        name: of(golden, "dv_pk", name).type
        for name in (
            snapshot.base_manifest_list,
            inspector.view.store.manifests.all(snapshot).names[0],
            snapshot.index_manifest or "",
        )
    }
    assert list(types.values()) == ["base manifest list", "manifest", "index manifest"]
    listed = of(golden, "dv_pk", snapshot.base_manifest_list)
    assert (listed.added_by, listed.removed_by) == (6, 7)


def test_a_changelog_file_is_no_data_file(golden: GoldenTables) -> None:
    inspector = Inspector(golden_view(golden.table("java200", "cl_input").folder))
    manifests = inspector.view.store.manifests
    first = manifests.changelog(inspector.timeline().snapshot(1))
    name = str(manifests.read_many(first.names).rows()[0]["file_name"])
    found = of(golden, "cl_input", name)
    assert (found.type, found.added_by) == ("changelog file", 1)
    assert [one.text for one in found.holders] == ["snapshot 1"]


def test_an_upgraded_file_has_a_life_per_level_and_is_told_at_its_present_one(
    golden: GoldenTables,
) -> None:
    table = pe.open_table(golden.table("java200", "dv_pk").folder)
    name = str(table.at(snapshot=1).files().table.column("file_name")[0].as_py())
    found = table.inspect.why(name)
    assert found.figures()["levels"] == ["level 0", "level 5"]
    assert [one.text for one in found.holders] == ["snapshots 1 to 12"]
    assert "not yet" in found.deletion.text
    for snapshot, level in ((1, "0"), (12, "5")):
        facts = table.at(snapshot=snapshot).inspect.file(name).sections[0].state()["rows"]
        assert ["level", level] in list(facts)  # type: ignore[call-overload]  # JSON
    assert ["level", "5"] in table.inspect.file(name).sections[0].state()["rows"]  # type: ignore[operator]


def test_a_file_that_nothing_names_is_an_orphan(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t", COLUMNS, primary_key=["k"], options={"bucket": "1"}
    )
    table.upsert([{"k": 1, "v": "a"}])
    stray = Path(table.path) / "bucket-0" / "data-left.parquet"
    stray.write_bytes(b"left over")
    found = table.inspect.why(str(stray))
    assert found.type == "orphan"
    assert "no metadata references the file" in found.deletion.text
    assert found.deletion.from_ms == int(stray.stat().st_mtime * 1000) + 24 * HOUR
    assert table.inspect.why("schema-0").type == "schema file"
    with pytest.raises(NotFoundError, match="File 'nothing'"):
        table.inspect.why("nothing")


def test_managed_files_of_blobs_are_no_orphans(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t", {"k": "INT", "b": "BLOB"}, primary_key="k", options={"bucket": "1"}
    )
    table.upsert([{"k": 1, "b": b"a"}])
    (managed,) = Path(table.path).rglob("*.managed.blob")
    found = table.inspect.why(managed.name)
    assert (found.type, found.deletion.from_ms) == ("managed file", None)
    assert found.deletion.text.startswith("with the table only")
    (references,) = Path(table.path).rglob("*.blobref")
    held = table.inspect.why(references.name)
    assert (held.type, held.path, held.exists) == ("extra file", str(references), True)
    assert [one.text for one in held.holders] == ["snapshot 1"]


def test_branches_hold_files(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t", COLUMNS, primary_key=["k"], options={"bucket": "1"}
    )
    table.upsert([{"k": 1, "v": "a"}])
    table.create_tag("v1")
    table.create_branch("b", "v1")
    name = str(table.files().table.column("file_name")[0].as_py())
    assert "snapshot 1 of branch b" in [one.text for one in table.inspect.why(name).holders]
    table.overwrite([{"k": 2, "v": "b"}])
    table.delete_tag("v1")
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1)
    pe.open_table(table.path, branch="b").delete_tag("v1")
    text = "when no longer referenced by snapshot 1 of branch b"
    assert table.inspect.why(name).deletion.text == text


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", COLUMNS)
    table.append([{"k": 1, "v": "a"}])
    name = str(table.files().table.column("file_name")[0].as_py())
    found = table.inspect.why(name)
    Path(found.path.removeprefix("file://")).unlink()
    gone = table.inspect.why(name)
    assert not gone.exists
    assert "The file is missing" in repr(gone)
    assert json.dumps(gone.state())
    assert len(gone.plot().to_json()) < 60_000
