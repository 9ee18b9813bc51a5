import json

import pytest

from paimon_explore.errors import NotFoundError
from paimon_explore.inspection.rendering.report import Facts
from paimon_explore.inspection.views.inspector import Inspector
from support.explored import History, golden_view
from support.golden import GoldenTables


def test_files_are_those_of_the_snapshot_with_who_added_and_removed_them() -> None:
    history = History()
    history.commit(("+", "a"))
    history.commit(("+", "b"))
    history.commit(("-", "a"))
    inspector = Inspector(history.view)
    rows = inspector.at(2).files().table.select(["file_name", "added_by", "removed_by"])
    assert rows.to_pylist() == [
        {"file_name": "a", "added_by": 1, "removed_by": 3},
        {"file_name": "b", "added_by": 2, "removed_by": None},
    ]
    assert inspector.files().title == "db.t at snapshot 3: 1 file, 100 B, 10 rows"


def test_java_lists_the_same_files(golden: GoldenTables) -> None:
    table = golden.table("java200", "pk_part_multi")
    files = Inspector(golden_view(table.folder)).files()
    listed = table.system["files"]
    assert isinstance(listed, list)
    assert len(files) == len(listed)


def test_partitions_sum_their_files(golden: GoldenTables) -> None:
    inspector = Inspector(golden_view(golden.table("java200", "manifest_merge").folder))
    sums = {row["partition"]: row for row in inspector.partitions().to_pylist()}
    assert sums["dt=d"] == {
        "partition": "dt=d",
        "files": 3,
        "level_0": 2,
        "buckets": 1,
        "rows": 46,
        "bytes": 5444,
    }
    assert sorted(sums) == ["dt=a", "dt=b", "dt=c", "dt=d"]


def test_a_file_is_described_wherever_it_lived(golden: GoldenTables) -> None:
    inspector = Inspector(golden_view(golden.table("java200", "manifest_merge").folder))
    name = str(inspector.at(1).files().table.column("file_name")[0].as_py())
    document = inspector.file(name)
    first = document.sections[0]
    assert isinstance(first, Facts)
    facts = {label: cell.text for label, cell in first.rows}
    assert facts["added by"] == "snapshot 1"
    assert facts["removed by"].startswith("snapshot ")
    assert [b.column for b in document.bounds("Key bounds")] == ["k"]
    assert document.bounds("Value bounds")[0].column == "dt"
    with pytest.raises(NotFoundError, match="Data file 'nothing'"):
        inspector.file("nothing")


@pytest.mark.parametrize("name", ["analyze", "pk_dynamic", "append_dv", "tags", "all_types_pk_orc"])
def test_every_node_of_every_snapshot_has_a_document(golden: GoldenTables, name: str) -> None:
    inspector = Inspector(golden_view(golden.table("java200", name).folder))
    for mark in inspector.timeline().marks:
        there = inspector.at(mark.snapshot_id)
        keys = [""]
        while keys:
            key = keys.pop()
            assert json.dumps(there.node(key).page())
            keys += [node.key for node in there.tree(key).nodes]


def test_an_empty_table_has_nothing_to_show() -> None:
    inspector = Inspector(History().view)
    assert inspector.snapshot_id == 0
    assert len(inspector.files()) == 0
    assert "no snapshot" in repr(inspector.timeline())
