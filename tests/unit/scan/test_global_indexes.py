"""Scans with global indexes: the rows of a full read, from fewer files and rows."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from paimon_explore import Catalog, Table, col, open_table
from paimon_explore.data_types.arrow_buffers import bool_values, valid_mask
from paimon_explore.errors import MissingFileError, UnsupportedFeatureError
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.plan import GLOBAL_INDEX_STAGE, by_global_index
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.sql_parser import predicate
from support.archives import unpack
from support.depth import DEEP, some
from support.global_indexes import ARCHIVE, INDEXED_ROWS, TABLES, TYPES, given

WITHOUT = {"global-index.enabled": "false"}
ROWS = given()
INEXACT = ("f", "d")
"""Lookups of floating-point numbers may also find the rows with NaN."""

Condition = Callable[[str, object, object], Term]

CONDITIONS: Mapping[str, Condition] = {
    "=": lambda c, v, _: col(c) == v,
    "<>": lambda c, v, _: col(c) != v,
    "<": lambda c, v, _: col(c) < v,
    "<=": lambda c, v, _: col(c) <= v,
    ">": lambda c, v, _: col(c) > v,
    ">=": lambda c, v, _: col(c) >= v,
    "not >": lambda c, v, _: ~(col(c) > v),
    "in": lambda c, v, w: col(c).isin([v, w, None]),
    "not in": lambda c, v, w: ~col(c).isin([v, w]),
    "between": lambda c, v, w: (col(c) >= v) & (col(c) < w),
    "or null": lambda c, v, _: (col(c) == v) | col(c).is_null(),
    "null": lambda c, _, __: col(c).is_null(),
    "not null": lambda c, _, __: ~col(c).is_null(),
    "two columns": lambda c, v, _: (col(c) <= v) & (col("i16") >= 0),
    "neither": lambda c, v, _: ~((col(c) == v) | (col("i8") == 1)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("global_indexes")


@pytest.fixture(scope="module")
def tables(folder: Path) -> dict[str, Table]:
    return {name: open_table(unpack(ARCHIVE, name, folder)) for name in TABLES}


@pytest.fixture(scope="module")
def everything(tables: dict[str, Table]) -> pa.Table:
    """The rows of every table, read without indexes, in order of row ids."""
    return open_table(tables["java_btree"].path, options=WITHOUT).to_arrow()


def found_rows(table: Table, where: Term) -> set[int] | None:
    """The row ids that the indexes of a table leave; None if no index applies."""
    target = table.scan().target
    snapshot = target.snapshot
    assert snapshot is not None
    bound = bind(predicate(where), target.schema.row_type)
    filters = PartitionFilter(row_type=target.schema.partition_type)
    entries = live_files(target.store, snapshot, filters)
    found = by_global_index(target, snapshot, entries, bound)
    return None if found is None else set(found.rows.row_ids)


def matching_rows(everything: pa.Table, table: Table, where: Term) -> set[int]:
    """The positions of the rows for which a condition is true."""
    row_type = table.scan().target.schema.row_type
    (batch,) = everything.combine_chunks().to_batches()
    truth = evaluate(bind(predicate(where), row_type), batch, row_type)
    return set(np.flatnonzero(bool_values(truth) & valid_mask(truth)).tolist())  # type: ignore[arg-type]  # of a batch, an array


def literals_of(column: str) -> tuple[object, object]:
    return ROWS[9][column], ROWS[20][column]


CASES = [(name, kind) for turn, name in enumerate(TABLES) for kind in some([*TYPES], 5, turn)]


@pytest.mark.parametrize(("name", "column"), CASES)
def test_an_index_finds_the_rows_of_a_condition(
    tables: dict[str, Table], everything: pa.Table, name: str, column: str
) -> None:
    first, second = literals_of(column)
    not_indexed = set(range(INDEXED_ROWS, len(ROWS)))
    for condition, make in CONDITIONS.items():
        where = make(column, first, second)
        found = found_rows(tables[name], where)
        expected = matching_rows(everything, tables[name], where) | not_indexed
        assert found is not None, condition
        assert found >= expected, condition
        if column not in INEXACT:
            assert found == expected, condition
        else:
            assert found - expected <= {i for i, row in enumerate(ROWS) if row[column] is not None}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("pattern", "exact"), [("a%", True), ("bä%", True), ("bä%1", False), ("b_4", False)]
)
def test_an_index_finds_the_rows_of_a_prefix(
    tables: dict[str, Table], everything: pa.Table, name: str, *, pattern: str, exact: bool
) -> None:
    where = col("s").like(pattern)
    found = found_rows(tables[name], where)
    expected = matching_rows(everything, tables[name], where) | set(range(INDEXED_ROWS, len(ROWS)))
    assert found is not None
    assert found >= expected
    assert (found == expected) is exact


places = st.integers(0, len(ROWS) - 1).filter(lambda i: ROWS[i]["b"] is not None)
terms = st.builds(
    lambda name, column, i, j: CONDITIONS[name](column, ROWS[i][column], ROWS[j][column]),
    st.sampled_from([*CONDITIONS]),
    st.sampled_from([*TYPES]),
    places,
    places,
)
conditions = st.recursive(
    terms,
    lambda part: st.one_of(
        st.builds(lambda a, b: a & b, part, part),
        st.builds(lambda a, b: a | b, part, part),
        st.builds(lambda a: ~a, part),
    ),
    max_leaves=4,
)


class Loaded:
    """All tables, and the rows of each."""

    def __init__(self, tables: dict[str, Table], everything: pa.Table) -> None:
        self.tables = tables
        self.everything = everything


@pytest.fixture(scope="module")
def loaded(tables: dict[str, Table], everything: pa.Table) -> Loaded:
    return Loaded(tables, everything)


@for_all(st.sampled_from(TABLES), conditions)
@settings(max_examples=2000 if DEEP else 20, deadline=None)
def test_rows_are_equal_with_and_without_indexes(loaded: Loaded, name: str, where: Term) -> None:
    table, everything = loaded.tables[name], loaded.everything
    matching = pa.array(sorted(matching_rows(everything, table, where)), pa.int64())
    expected = everything.take(matching)
    assert repr(table.scan(where=where).to_arrow().to_pylist()) == repr(expected.to_pylist())


def test_only_files_with_matching_rows_are_read(tables: dict[str, Table]) -> None:
    table = tables["java_btree"]
    shown = table.explain(where="i32 = 1499995")
    stage = shown.stages[-1]
    assert (stage.name, stage.kept, stage.total) == (GLOBAL_INDEX_STAGE, 2, 4)
    assert shown.notes == (
        "Global index (btree of 'i32'): 7 of 36 rows are read; 6 of them have no index.",
    )
    skipped = [row for row in shown.to_arrow().to_pylist() if row["stage"] == GLOBAL_INDEX_STAGE]
    assert len(skipped) == 2
    assert skipped[0]["reason"] == (
        "The file is skipped: the global index finds no matching row in it."
    )


def test_several_indexes_are_named(tables: dict[str, Table]) -> None:
    shown = tables["java_bitmap"].explain(where="i32 > 500000 AND (s LIKE 'a%' OR dt IS NULL)")
    (note,) = shown.notes
    assert note == (
        "Global indexes (bitmap of 's', bitmap of 'dt', bitmap of 'i32'): 16 of 36 rows are read; "
        "6 of them have no index."
    )


@pytest.mark.parametrize(
    ("options", "is_used"),
    [
        ({}, True),
        (WITHOUT, False),
        ({"global-index.column-update-action": "ignore"}, False),
        ({"global-index.column-update-action": "drop-partition-index"}, True),
        ({"scalar-index.search-mode": "fast"}, True),
    ],
)
def test_options_say_whether_indexes_are_used(
    tables: dict[str, Table], options: dict[str, str], *, is_used: bool
) -> None:
    table = open_table(tables["java_btree"].path, options=options)
    assert (found_rows(table, col("i8") == 1) is not None) is is_used
    assert table.scan(where="i8 = 1").count() == 6


def test_an_index_of_a_changed_type_is_not_used(tmp_path: Path) -> None:
    table = open_table(unpack(ARCHIVE, "java_btree", tmp_path))
    assert found_rows(table, col("i32") == 99995) is not None
    table.alter_column_type("i32", "BIGINT")
    table = open_table(table.path)
    assert found_rows(table, col("i32") == 99995) is None
    assert found_rows(table, col("i64") == 99995) is not None
    assert table.scan(where="i32 = 99995").count() == 1


@pytest.mark.parametrize(
    ("before", "after", "where", "is_used"),
    [
        ((), ("VARCHAR(2)",), "t = 'ab'", False),
        ((), ("VARCHAR(2)", "VARCHAR(9)"), "t = 'abcd'", False),
        (("VARCHAR(2)",), ("VARCHAR(9)",), "t = 'abcd'", False),
        ((), ("VARCHAR(9)", "STRING"), "t = 'abcd'", True),
    ],
)
def test_an_index_of_texts_that_were_cut_is_not_used(
    tmp_path: Path, before: Sequence[str], after: Sequence[str], where: str, *, is_used: bool
) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    catalog = Catalog(tmp_path)
    catalog.create_database("d")
    table = catalog.create_table("d.t", {"t": "VARCHAR(5)"}, options=options)
    table.append([{"t": "abcd"}, {"t": "x"}])
    for data_type in before:
        table.alter_column_type("t", data_type, check=False)
    table.maintenance.create_global_index("t")
    for data_type in after:
        table.alter_column_type("t", data_type, check=False)
    table = catalog.table("d.t")
    assert table.scan(where=where).count() == 1
    assert (found_rows(table, col("t") == "abcd") is not None) is is_used


def test_a_renamed_column_keeps_its_index(tmp_path: Path) -> None:
    table = open_table(unpack(ARCHIVE, "java_btree", tmp_path))
    table.rename_column("i32", "number")
    table = open_table(table.path)
    assert found_rows(table, col("number") == 99995) == {1, *range(INDEXED_ROWS, len(ROWS))}
    assert table.scan(where="number = 99995").to_arrow().num_rows == 1


def test_rows_of_several_files_are_merged_by_row_id(tmp_path: Path) -> None:
    table = open_table(unpack(ARCHIVE, "java_bitmap", tmp_path))
    table.add_column("more", "INT")
    table = open_table(table.path)
    table.update({"more": col("i16")}, where="i8 = 1")
    without = open_table(table.path, options=WITHOUT)
    for where in ("i8 = 1", "i32 = 399995", "i16 IN (300, 800, 1500)", "i8 = 1 AND more = 300"):
        expected = without.scan(where=where).to_arrow()
        assert repr(table.scan(where=where).to_arrow().to_pylist()) == repr(expected.to_pylist())
        assert expected.num_rows > 0


def test_time_travel_and_branches_use_the_indexes_of_their_snapshot(tmp_path: Path) -> None:
    table = open_table(unpack(ARCHIVE, "java_btree", tmp_path))
    before = max(s.id for s in table.snapshots)
    table.create_tag("built")
    table.create_branch("other", tag="built")
    table.append([{**ROWS[1], "i32": 7}])
    assert table.scan(where="i32 = 7").count() == 1
    assert table.at(snapshot=before).scan(where="i32 = 7").count() == 0
    assert table.at(snapshot=before).scan(where="i32 = 99995").count() == 1
    other = open_table(table.path, branch="other")
    assert found_rows(other, col("i32") == 99995) == {1, *range(INDEXED_ROWS, len(ROWS))}
    other.append([{**ROWS[1], "i32": 7}, {**ROWS[1], "i32": 7}])
    assert other.scan(where="i32 = 7").count() == 2
    assert table.scan(where="i32 = 7").count() == 1


def test_an_index_file_that_is_missing_is_named(tmp_path: Path) -> None:
    path = unpack(ARCHIVE, "java_btree", tmp_path)
    for file in (path / "index").iterdir():
        file.unlink()
    with pytest.raises(MissingFileError, match="index"):
        open_table(path).scan(where="i8 = 1").to_arrow()
    assert open_table(path, options=WITHOUT).scan(where="i8 = 1").to_arrow().num_rows == 6


def test_an_update_of_an_indexed_column_follows_the_option(tmp_path: Path) -> None:
    path = unpack(ARCHIVE, "java_btree", tmp_path)
    with pytest.raises(UnsupportedFeatureError, match="'i32', which has a global index"):
        open_table(path).update({"i32": 1}, where="i8 = 1")
    drops = open_table(path, options={"global-index.column-update-action": "drop-partition-index"})
    drops.update({"i32": 1}, where="i8 = 1")
    table = open_table(path)
    assert found_rows(table, col("i32") == 1) is None
    assert found_rows(table, col("i16") == -500) == {0, *range(INDEXED_ROWS, len(ROWS))}
    assert table.scan(where="i32 = 1").count() == 6
    ignores = open_table(path, options={"global-index.column-update-action": "ignore"})
    ignores.update({"i16": 1}, where="i8 = 1")
    assert ignores.scan(where="i16 = 1").count() == 6
