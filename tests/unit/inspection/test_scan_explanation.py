import json
import pickle

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.explain.scan_explanation import ITEMS, ScanExplanation
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.int32(), dt=pa.string())


def commit(dt: str, *numbers: int) -> list[dict[str, object]]:
    return [{"k": i, "v": 10 * i, "dt": dt} for i in numbers]


def reasons(found: ScanExplanation) -> dict[str, list[tuple[object, object]]]:
    """Condition and bounds of what each stage dropped."""
    dropped: dict[str, list[tuple[object, object]]] = {}
    for row in found.to_arrow().to_pylist():
        if not row["kept"]:
            dropped.setdefault(row["stage"], []).append((row["condition"], row["bounds"]))
    return dropped


def stages(found: ScanExplanation) -> dict[str, tuple[int, int]]:
    return {stage.name: (stage.kept, stage.total) for stage in found.stages}


def test_each_dropped_item_names_the_condition_and_the_bound() -> None:
    table = append_table(
        COLUMNS, commit("a", 1, 2), commit("b", 3), commit("b", 9), partition_by=["dt"]
    )
    found = table.explain("dt = 'b' AND v > 50")
    assert stages(found) == {
        "partition ranges": (2, 3),
        "partitions": (2, 2),
        "cancelled entries": (2, 2),
        "visible levels": (2, 2),
        "bucket": (2, 2),
        "value statistics": (1, 2),
    }
    assert reasons(found) == {
        "partition ranges": [("dt = 'b'", "minimum 'a', maximum 'a', 0 nulls in 1 row")],
        "value statistics": [("v > 50", "minimum 30, maximum 30, 0 nulls in 1 row")],
    }
    kept = [row for row in found.to_arrow().to_pylist() if row["kept"] and row["unit"] == "file"]
    assert kept[0]["reason"] == (
        "The file may contain matching rows: v > 50 (minimum 90, maximum 90, 0 nulls in 1 row); "
        "it would be pruned by column v if its maximum were 50 or below."
    )


def test_an_explanation_is_pickled_with_its_reasons() -> None:
    table = append_table(COLUMNS, commit("a", 1, 2), commit("b", 3), partition_by=["dt"])
    found = table.explain("dt = 'b' AND v > 50", limit=1)
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    assert (repr(copy), copy.to_arrow()) == (repr(found), found.to_arrow())


def test_entries_of_other_partitions_in_a_kept_manifest_are_told() -> None:
    table = append_table(COLUMNS, [*commit("a", 1), *commit("c", 2)], partition_by=["dt"])
    found = table.explain("dt >= 'b'")
    assert stages(found)["partitions"] == (1, 2)
    assert reasons(found) == {"partitions": [("dt >= 'b'", "dt=a")]}
    assert [stage.kept_rows for stage in found.stages] == [2, 1, 1, 1]


def test_buckets_keys_and_versions_are_told_apart() -> None:
    table = keyed_table(
        COLUMNS, commit("a", *range(20)), primary_key=["k"], options={"bucket": "4"}
    )
    found = table.explain("k = 3")
    conditions = {text for text, _ in reasons(found)["bucket"]}
    assert conditions == {"k = 3"}
    assert stages(found)["bucket"] == (1, 4)
    merged = keyed_table(COLUMNS, commit("a", 1, 2), commit("a", 2, 3), primary_key=["k"])
    found = merged.explain("v > 25")
    assert found.files == 2
    kept = [row["reason"] for row in found.to_arrow().to_pylist() if row["unit"] == "file"]
    assert kept[0].startswith(
        "The file is read although minimum 10, maximum 20, 0 nulls in 2 rows excludes v > 25"
    )
    assert "replace older versions" in kept[0]


def test_level_0_is_hidden_with_deletion_vectors(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "dv_pk").folder)
    found = table.at(snapshot=1).explain()
    assert stages(found)["visible levels"] == (0, 4)
    reason = found.to_arrow().to_pylist()[0]["reason"]
    assert reason == (
        "The file is not read: with deletion-vectors.enabled, rows in level 0 become visible "
        "after compaction."
    )


def test_a_file_index_excludes_files(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "fi_bloom_external").folder)
    column = next(f for f in table.schema.fields if f.name != "id")
    found = table.explain(f"{column.name} is not null")
    assert "file index" not in stages(found)


def test_a_limit_leaves_files_unopened() -> None:
    table = append_table(COLUMNS, commit("a", 1, 2), commit("a", 3), commit("a", 4))
    found = table.explain(limit=2)
    assert stages(found)["limit"] == (1, 3)
    assert reasons(found)["limit"][0][0] == "LIMIT 2"
    filtered = table.explain("v > 0", limit=1)
    assert stages(filtered)["limit"] == (3, 3)
    assert "known only after reading" in filtered.notes[0]


@pytest.mark.parametrize(
    "where", [None, "k > 3", "dt = 'a'", "dt = 'a' AND (v < 30 OR k IS NULL)", "NOT (k = 1)"]
)
def test_the_files_read_are_those_of_the_plan(where: str | None) -> None:
    table = keyed_table(
        COLUMNS,
        [*commit("a", 1, 2, 3), *commit("b", 7, 8)],
        commit("a", 3, 4),
        commit("b", 9),
        primary_key=["dt", "k"],
        partition_by=["dt"],
        options={"bucket": "2"},
    )
    table.delete("k = 8")
    plan = table.scan(where=where).plan()
    names = [str(row["file_name"]) for one in plan.splits for row in one.files.rows()]
    assert sorted(table.explain(where).kept_files()) == sorted(names)


def test_the_report_is_json_and_the_columns_are_named() -> None:
    table = append_table(COLUMNS, commit("a", 1, 2), partition_by=["dt"])
    found = table.explain("v = 10", columns=["k"], limit=3)
    report = json.loads(json.dumps(found.report()))
    assert report["where"] == "v = 10"
    assert report["columns"] == ["k"]
    assert {item["unit"] for item in report["items"]} == {"manifest", "file"}
    assert found.to_arrow().schema == ITEMS
    assert found.code.python == "t.explain(where='v = 10', columns=['k'], limit=3)"
    assert json.dumps(found.state())
    assert len(found.plot().to_json()) < 60_000


def test_rows_of_several_branches_are_counted_only(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "fallback_branch").folder)
    found = table.explain()
    assert found.stages
    assert len(found.items) == 0
    assert "several branches" in found.notes[0]


def test_an_increment_has_no_plan_to_explain() -> None:
    table = append_table(COLUMNS, commit("a", 1), commit("a", 2))
    incremental = pe.open_table(table.path, options={"incremental-between": "1,2"})
    with pytest.raises(InvalidInputError, match="plans each commit separately"):
        incremental.explain()
