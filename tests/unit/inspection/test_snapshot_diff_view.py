import json

import pyarrow as pa
import pytest

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.snapshot_diff_view import snapshot_diff
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from support.explored import History, golden_view
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.string())


def test_files_are_added_removed_or_moved_to_another_level() -> None:
    history = History({"a": "INT", "p": "STRING"}, ["p"])
    history.commit(("+", "f1@x"), ("+", "f2@y"), ("+", "f3@y"))
    history.commit(("-", "f1@x"), ("-", "f2@y"), ("+", "f2@y", 5), ("+", "f4@z"))
    inspector = Inspector(history.view)
    found = snapshot_diff(history.view, inspector.point(1), inspector.point(2))
    wanted = ["change", "partition", "level_before", "level", "file_name"]
    assert [tuple(row.values()) for row in found.to_arrow().select(wanted).to_pylist()] == [
        ("removed", "p=x", 0, None, "f1@x"),
        ("moved", "p=y", 0, 5, "f2@y"),
        ("added", "p=z", None, 0, "f4@z"),
    ]
    assert found.figures()["files"] == {
        "added": {"files": 1, "rows": 10, "bytes": 100},
        "removed": {"files": 1, "rows": 10, "bytes": 100},
        "moved": {"files": 1, "rows": 10, "bytes": 100},
        "changed": {"files": 0, "rows": 0, "bytes": 0},
    }


def test_rows_of_a_key_that_changed_stand_together() -> None:
    table = keyed_table(
        COLUMNS, [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}, {"k": 3, "v": "c"}], primary_key=["k"]
    )
    table.upsert([{"k": 2, "v": "B"}, {"k": 4, "v": "d"}])
    table.delete("k = 3")
    found = table.diff(1, 3).rows().to_pylist()
    assert found == [
        {"rowkind": "-U", "k": 2, "v": "b"},
        {"rowkind": "+U", "k": 2, "v": "B"},
        {"rowkind": "-D", "k": 3, "v": "c"},
        {"rowkind": "+I", "k": 4, "v": "d"},
    ]
    assert [row["rowkind"] for row in table.diff(3, 1).rows().to_pylist()] == [
        "-U", "+U", "+I", "-D",
    ]  # fmt: skip
    assert table.diff(1, 3).rows(1).num_rows == 1


def test_whole_rows_are_compared_without_a_key_and_equal_ones_are_counted() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}, {"k": 1, "v": "a"}])
    table.append([{"k": 1, "v": "a"}, {"k": 2, "v": None}])
    assert table.diff(1, 2).rows().to_pylist() == [
        {"rowkind": "+I", "k": 1, "v": "a"},
        {"rowkind": "+I", "k": 2, "v": None},
    ]
    table.overwrite([{"k": 1, "v": "a"}])
    kinds = [row["rowkind"] for row in table.diff(2, 3).rows().to_pylist()]
    assert kinds == ["-D", "-D", "-D"]


def test_a_compaction_changes_files_and_no_row() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}], primary_key=["k"])
    table.compact()
    found = table.diff()
    assert found.figures()["before"] == 2
    assert set(found.to_arrow().column("change").to_pylist()) == {"added", "removed"}
    assert found.rows().num_rows == 0


def test_schemas_options_and_index_files_are_compared(golden: GoldenTables) -> None:
    view = golden_view(golden.table("java200", "se_pk").folder)
    inspector = Inspector(view)
    first, last = inspector.timeline().marks[0].snapshot, inspector.snapshot
    found = snapshot_diff(view, first, last)
    acts = [(one.name, one.act, one.before, one.after) for one in found.schema]
    assert ("a", "type", "SMALLINT", "INT") in acts
    assert ("e", "added", "", "TIMESTAMP(6)") in acts
    view = golden_view(golden.table("java200", "dv_pk").folder)
    found = snapshot_diff(view, None, Inspector(view).snapshot)
    assert sum(one.deleted_rows for one in found.indexes) == 67
    assert {one.type for one in found.indexes} == {"DELETION_VECTORS"}


def test_points_are_ids_tags_times_or_nothing() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}])
    table.create_tag("one", 1)
    assert table.diff("one", 2).code.python == "t.diff(1, 2)"
    assert table.diff(0, 2).rows().num_rows == 2
    assert table.at(snapshot=1).diff().figures()["before"] == 0
    moment = table.snapshots[1].time_millis
    assert table.diff(0, str(pa.scalar(moment, pa.timestamp("ms", "UTC")))).figures()["after"] == 1
    with pytest.raises(NotFoundError, match="Snapshot 9"):
        table.diff(1, 9)
    with pytest.raises(InvalidInputError, match="not a snapshot id, a tag or a time"):
        table.diff("nonsense")


def test_all_faces_are_there() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}])
    found = table.diff(rows=5)
    assert repr(found).startswith("db.t: snapshot 1 → snapshot 2\nadded 1 file, 1 row,")
    assert "<table>" in found._repr_html_()
    assert json.dumps(found.state())
    assert found.to_pandas().shape == (1, 10)
    assert len(found.plot().to_json()) < 60_000
    assert found.view.branch == MAIN_BRANCH
