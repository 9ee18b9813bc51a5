from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.schema.schema_change import AddColumn, ChangeType, RenameColumn
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.pruning.file_statistics import keeps_order, value_stats
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats
from support.arrow import as_python
from support.predicates import Row
from support.small_tables import append_table, columns, new_catalog

COLUMNS = columns(a=pa.int32(), b=pa.string())
FIRST: list[Row] = [{"a": 1, "b": "x"}, {"a": 5, "b": None}]
ROWS: tuple[list[Row], ...] = (FIRST, [{"a": 7, "b": "zz"}])


def stats(table: Table, rows: Sequence[int] = (2, 1)) -> dict[str, ColumnStats]:
    snapshot = table.snapshot
    assert snapshot is not None
    cut = PartitionFilter(row_type=table.schema.partition_type)
    files = live_files(table._store, snapshot, cut)
    found = value_stats(files, table._store.schemas.load, table.schema.fields)
    assert as_python(found.row_count) == list(rows)
    return dict(found.columns)


def told(column: ColumnStats) -> list[object]:
    return [as_python(part) for part in (column.minimum, column.maximum, column.null_count)]


def test_bounds_and_null_counts_come_per_file() -> None:
    found = stats(append_table(COLUMNS, *ROWS))
    assert told(found["a"]) == [[1, 7], [5, 7], [0, 0]]
    assert told(found["b"]) == [["x", "zz"], ["x", "zz"], [1, 0]]


def test_without_collected_statistics_nothing_is_known() -> None:
    found = stats(append_table(COLUMNS, *ROWS, options={"metadata.stats-mode": "none"}))
    assert told(found["a"]) == [[None, None], [None, None], [None, None]]


def test_null_counts_alone_may_be_known() -> None:
    found = stats(append_table(COLUMNS, *ROWS, options={"metadata.stats-mode": "counts"}))
    assert told(found["b"]) == [[None, None], [None, None], [1, 0]]


def test_columns_without_statistics_are_unknown_beside_others() -> None:
    found = stats(append_table(COLUMNS, *ROWS, options={"fields.b.stats-mode": "none"}))
    assert told(found["a"]) == [[1, 7], [5, 7], [0, 0]]
    assert told(found["b"])[2] == [None, None]


def test_files_with_statistics_of_different_columns_are_told_in_their_order() -> None:
    table = append_table(COLUMNS, options={"row-tracking.enabled": "true"})
    for number, without in enumerate(("", "b", "a", "b", "")):
        options = {f"fields.{without}.stats-mode": "none"} if without else {}
        open_table(table.path, options=options).append([{"a": number, "b": f"{number}"}])
    table = open_table(table.path)
    found = stats(table, [1] * 5)
    assert told(found["a"])[:2] == [[0, 1, None, 3, 4]] * 2
    assert told(found["b"])[:2] == [["0", None, "2", None, "4"]] * 2
    table.compact(full=True)
    table.append([{"a": 9, "b": "z"}])
    both = stats(open_table(table.path), [5, 1])
    assert [told(both[name]) for name in "ab"] == [
        [[0, 9], [4, 9], [0, 0]],
        [["0", "z"], ["4", "z"], [0, 0]],
    ]


@pytest.mark.parametrize("listed", [["a"], ["a", "b", "c"], ["a", "gone"]])
def test_bounds_that_do_not_fit_the_listed_columns_are_not_used(listed: list[str]) -> None:
    table = append_table(COLUMNS, *ROWS)
    cut = PartitionFilter(row_type=table.schema.partition_type)
    assert table.snapshot is not None
    rows = live_files(table._store, table.snapshot, cut).rows()
    files = ManifestEntries.from_rows([rows[0], {**rows[1], "value_stats_cols": listed}])
    found = value_stats(files, table._store.schemas.load, table.schema.fields)
    assert told(found.columns["a"]) == [[1, None], [5, None], [0, None]]
    assert told(found.columns["b"]) == [["x", None], ["x", None], [1, None]]


def test_statistics_follow_columns_by_their_id() -> None:
    table = append_table(COLUMNS, FIRST)
    big, text = parse_type_text("BIGINT"), parse_type_text("STRING")
    table.alter(
        RenameColumn(column=("a",), name="n"),
        ChangeType(column=("n",), type=big),
        AddColumn(column=("late",), type=text),
    )
    for number, without in ((9, "z"), (11, "z"), (13, "b")):
        options = {f"fields.{without}.stats-mode": "none"}
        open_table(table.path, options=options).append([{"n": number, "b": "q", "late": "l"}])
    found = stats(table, [2, 1, 1, 1])
    assert told(found["n"]) == [[1, 9, 11, 13], [5, 9, 11, 13], [0, 0, 0, 0]]
    assert told(found["late"]) == [[None, "l", "l", "l"], [None, "l", "l", "l"], [2, 0, 0, 0]]


def test_files_that_store_row_ids_have_statistics_of_their_columns() -> None:
    table = append_table(COLUMNS, *ROWS, options={"row-tracking.enabled": "true"})
    table.compact(full=True)
    found = stats(table, [3])
    assert (told(found["a"]), told(found["b"])) == ([[1], [7], [0]], [["x"], ["zz"], [1]])


@pytest.mark.parametrize(
    ("source", "target", "keeps"),
    [
        ("INT", "INT NOT NULL", True),
        ("TINYINT", "BIGINT", True),
        ("FLOAT", "DOUBLE", True),
        ("BIGINT", "INT", False),
        ("INT", "STRING", False),
        ("INT", "DOUBLE", False),
        ("ARRAY<INT>", "ARRAY<BIGINT>", False),
    ],
)
def test_bounds_are_used_only_where_a_cast_keeps_their_order(
    source: str,
    target: str,
    keeps: bool,  # noqa: FBT001 - a case
) -> None:
    assert keeps_order(parse_type_text(source), parse_type_text(target)) is keeps


def test_padded_bounds_of_char_prune_no_trimmed_values(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t", {"c": "CHAR(5)"}, options={"file.format": "orc"}
    )
    table.append([{"c": "ab?  "}])
    assert told(stats(table, rows=[1])["c"]) == [["ab?"], ["ab?  "], [0]]
    assert table.scan(where="c = 'ab?'").to_arrow().to_pylist() == [{"c": "ab?"}]
    assert table.maintenance.fsck(read_rows=True) == []
