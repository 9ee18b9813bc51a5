"""Previews of compactions with their figures written out."""

from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.what_if import what_if_view
from paimon_explore.inspection.what_if.compaction_preview import (
    COMPACTED_BUCKETS,
    COMPACTED_FILES,
    CompactionPreview,
)
from paimon_explore.scan.manifest_arrays import numbers
from support.small_tables import append_table, columns, keyed_table, new_catalog

KEYS = columns(k=pa.int32(), v=pa.int32())


def commits(count: int, rows: int = 3) -> list[list[dict[str, object]]]:
    """Commits that all write the keys 0, 1, …"""
    return [[{"k": k, "v": v} for k in range(rows)] for v in range(count)]


def keyed(count: int, **options: str) -> pe.Table:
    given = {key.replace("_", "-"): value for key, value in options.items()}
    return keyed_table(KEYS, *commits(count), primary_key=["k"], options=given)


def test_the_tab_previews_very_many_files_only_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inspector = keyed(3)._inspector()
    monkeypatch.setattr(what_if_view, "MAX_FILES", 2)
    opened = what_if_view.what_if_view(inspector, "", 0)
    assert opened.problem is not None
    assert opened.problem.message.startswith("The table has 3 data files;")
    asked = what_if_view.what_if_view(inspector, "compact full = true", 0)
    assert (asked.problem, asked.result is None) == (None, False)


def test_a_full_compaction_merges_all_runs() -> None:
    table = keyed(4)
    found = table.what_if.compact()
    size = int(numbers(found.to_arrow(), "file_size").sum())
    figures = found.figures()
    assert figures["before"] == {
        "files": [4, 4], "bytes": [size, size], "rows": [12, 12],
        "max_runs": 4, "max_depth": 4, "mean_depth": 4.0,
    }  # fmt: skip
    assert figures["after"] == {
        "files": [1, 1], "bytes": [size // 4, size], "rows": [3, 12],
        "max_runs": 1, "max_depth": 1, "mean_depth": 1.0,
    }  # fmt: skip
    assert (figures["groups"], figures["bytes_rewritten"]) == (1, size)
    assert (figures["buckets"], figures["compacted_buckets"]) == (1, 1)
    rows = found.to_arrow()
    assert rows.schema.equals(COMPACTED_FILES)
    assert {(r["action"], r["level"], r["level_after"]) for r in rows.to_pylist()} == {
        ("rewrite", 0, 5)
    }
    assert found.buckets_table().schema.equals(COMPACTED_BUCKETS)
    assert found.buckets_table().to_pylist()[0]["depth_after"] == 1


def test_a_minor_compaction_follows_the_options_that_are_tried() -> None:
    table = keyed(4)
    assert table.what_if.compact(full=False).to_arrow().num_rows == 0
    found = table.what_if.compact(
        full=False, options={"num-sorted-run.compaction-trigger": 3, "num-levels": 6}
    )
    assert found.to_arrow().num_rows == 4
    assert dict(found.options) == {"num-sorted-run.compaction-trigger": "3", "num-levels": "6"}
    assert found.code.python == (
        "t.what_if.compact(full=False, "
        "options={'num-sorted-run.compaction-trigger': '3', 'num-levels': '6'})"
    )


def test_a_file_without_overlap_only_moves_to_another_level() -> None:
    table = keyed(1, target_file_size="1 b")
    found = table.what_if.compact()
    assert [(r["action"], r["level_after"]) for r in found.to_arrow().to_pylist()] == [("move", 5)]
    assert found.bytes_rewritten == 0
    assert "would replace 1 file and rewrite 0 B" in repr(found)


def test_small_files_of_an_append_table_are_packed() -> None:
    table = append_table(columns(k=pa.int32()), *[[{"k": n}] for n in range(4)])
    found = table.what_if.compact(full=False, options={"compaction.min.file-num": "4"})
    figures = found.figures()
    size = int(numbers(found.to_arrow(), "file_size").sum())
    assert (figures["before"], figures["after"]) == (
        {**shape(found, 4), "files": [4, 4]},
        {**shape(found, 4), "files": [1, 1], "bytes": [size // 4, size]},
    )
    bins = found.to_arrow().group_by("group").aggregate([([], "count_all")]).to_pylist()
    assert bins == [{"group": 1, "count_all": 4}]
    assert table.what_if.compact(full=False).to_arrow().num_rows == 0


def shape(found: CompactionPreview, rows: int) -> dict[str, object]:
    """What stays the same when append files are packed."""
    size = int(numbers(found.to_arrow(), "file_size").sum())
    return {
        "bytes": [size, size], "rows": [rows, rows],
        "max_runs": 0, "max_depth": 0, "mean_depth": 0.0,
    }  # fmt: skip


def test_only_the_given_partitions_are_compacted() -> None:
    table = keyed_table(
        columns(p=pa.string(), k=pa.int32()),
        *[[{"p": p, "k": 1} for p in ("a", "b")] for _ in range(3)],
        primary_key=["p", "k"],
        partition_by=["p"],
    )
    found = table.what_if.compact(partitions={"p": "b"})
    assert {row["partition"] for row in found.to_arrow().to_pylist()} == {"p=b"}
    assert len(found.buckets) == 1
    assert len(table.what_if.compact().compacted) == 2
    with pytest.raises(InvalidInputError, match="not a partition column"):
        table.what_if.compact(partitions={"k": 1})


def test_nothing_is_written(tmp_path: Path) -> None:
    options = {"bucket": "1", "write-only": "true", "changelog-producer": "lookup"}
    table = new_catalog(tmp_path).create_table("db.t", KEYS, primary_key=["k"], options=options)
    for rows in commits(5):
        table.upsert(rows)
    before = content(tmp_path)
    table.what_if.compact()
    table.what_if.compact(full=False, options={"num-sorted-run.compaction-trigger": "2"})
    table.what_if.expire_snapshots(retain_max=1)
    table.what_if.options({"snapshot.num-retained.max": 1, "num-levels": 3, "bucket": 4})
    table.what_if.options({"merge-engine": "first-row"})
    pe.compare(table, table.at(2))
    assert content(tmp_path) == before


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_empty_table_has_nothing_to_compact() -> None:
    found = keyed_table(KEYS, primary_key=["k"]).what_if.compact()
    assert found.to_arrow().num_rows == 0
    assert "The table has no data files to compact." in repr(found)
    assert found.figures()["snapshot"] == 0


def test_wrong_arguments_are_refused() -> None:
    table = keyed(2)
    with pytest.raises(InvalidInputError, match="did you mean 'num-levels'"):
        table.what_if.compact(options={"num-level": "3"})
    with pytest.raises(InvalidInputError, match="must be an integer"):
        table.what_if.compact(options={"num-levels": "few"})
    with pytest.raises(InvalidInputError, match="full must be True or False"):
        table.what_if.compact(full="no")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="acts on the latest snapshot"):
        _ = table.at(1).what_if


def test_postponed_files_are_mentioned() -> None:
    table = keyed_table(KEYS, *commits(1), primary_key=["k"], options={"bucket": "-2"})
    assert "postpone buckets (bucket = -2)" in repr(table.what_if.compact())


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize(("files", "rows"), [(20, 50), (4, 3000)])
def test_the_size_of_merged_small_files_is_within_the_estimate(
    file_format: str, files: int, rows: int, *, is_keyed: bool
) -> None:
    types = {"k": "BIGINT NOT NULL", "v": "STRING", "x": "DOUBLE"}
    options = {"file.format": file_format} | ({"bucket": "1"} if is_keyed else {})
    table = new_catalog().create_table(
        "db.t",
        types,
        primary_key="k" if is_keyed else None,
        options={"write-only": "true"} | options,
    )
    for at in range(files):
        keys = range(at * rows, (at + 1) * rows)
        table.append([{"k": k, "v": f"name {k % 97}", "x": k * 1.5} for k in keys])
    low, high = table.what_if.compact().figures()["after"]["bytes"]  # type: ignore[index]  # of JSON
    table.compact()
    [size] = table.inspect.files()["file_size_in_bytes"].to_pylist()
    assert 0.9 * low <= size <= high  # dictionaries, too, are shared
    assert high < low + files * 300 * 6 + 1


def test_the_size_after_a_compaction_has_the_footer_of_a_file_with_few_rows() -> None:
    options = {"deletion-vectors.enabled": "true", "write-only": "true"}
    table = append_table(
        columns(k=pa.int32(), v=pa.string()),
        [{"k": k, "v": str(k)} for k in range(200)],
        options=options,
    )
    table.delete("k > 2")
    (bucket,) = table.what_if.compact().buckets
    table.compact()
    size = numbers(pe.open_table(table.path).files().table, "file_size").item()
    assert bucket.after.bytes.low <= size <= bucket.after.bytes.high
