"""The rows of tables of all kinds, by window, by position, by file, and the fate of records."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.errors import (
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.inspection.rows import row_units
from paimon_explore.inspection.rows.row_code import sql_codes
from paimon_explore.inspection.rows.rows_view import RowsView
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED
from support.depth import some
from support.golden import GoldenTables
from support.small_tables import (
    append_table,
    columns,
    data_files,
    keyed_table,
    new_catalog,
    rows_of,
)
from support.table_kinds import TABLE_KINDS
from support.tied_tables import ENGINES, tied_table

COLUMNS = columns(k=pa.int32(), v=pa.string())
NUMBERS = columns(k=pa.int32(), v=pa.int32())
VISIBLE = ("returned", "combined")
SELECTING = ("deduplicate", "first-row")


def records(view: RowsView) -> list[tuple[object, ...]]:
    """Key, value, sequence number, level, fate and reason, without names of files."""
    return [
        (row["k"], row["v"], row["_SEQUENCE_NUMBER"], row["_LEVEL"], row["_STATUS"],
         str(row["_REASON"]).partition(" in data-")[0])
        for row in view.to_arrow().to_pylist()
    ]  # fmt: skip


def test_records_that_newer_ones_replace_say_by_which() -> None:
    table = keyed_table(
        COLUMNS,
        [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}],
        [{"k": 1, "v": "A"}],
        primary_key=["k"],
    )
    table.delete("k = 2")
    assert records(table.rows(merged=False)) == [
        (1, "a", 0, 0, "replaced", "replaced by sequence 2"),
        (2, "b", 1, 0, "deleted", "deleted by sequence 3"),
        (1, "A", 2, 0, "returned", ""),
        (2, "b", 3, 0, "retracts", "deletes the key"),
    ]
    assert table.rows().to_arrow().to_pylist() == [{"k": 1, "v": "A"}]
    kinds = table.rows(merged=False).to_arrow()["_VALUE_KIND"].to_pylist()
    assert kinds == ["+I", "+I", "+I", "-D"]
    newest = table.files().to_arrow()["file_name"][1].as_py()
    reason = table.rows(merged=False).to_arrow()["_REASON"][0].as_py()
    assert reason == f"replaced by sequence 2 in {newest}"


def test_records_that_a_deletion_vector_hides_say_so() -> None:
    table = append_table(
        COLUMNS,
        [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}, {"k": 3, "v": "c"}],
        options={"deletion-vectors.enabled": "true"},
    )
    table.delete("k = 2")
    assert records(table.rows(merged=False)) == [
        (1, "a", None, 0, "returned", ""),
        (2, "b", None, 0, "deleted", "hidden by deletion vector"),
        (3, "c", None, 0, "returned", ""),
    ]
    view = table.rows()
    assert (view.max_rows, view.is_exact) == (2, True)
    assert view.page(0, 1, 5).rows.to_pylist() == [{"k": 3, "v": "c"}]


def test_combining_engines_say_combined() -> None:
    table = keyed_table(
        NUMBERS,
        [{"k": 1, "v": 1}, {"k": 2, "v": 1}],
        [{"k": 1, "v": 2}],
        primary_key=["k"],
        options={"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
    )
    assert records(table.rows(merged=False)) == [
        (1, 1, 0, 0, "combined", "combined with 1 other record of the key"),
        (2, 1, 1, 0, "returned", ""),
        (1, 2, 2, 0, "combined", "combined with 1 other record of the key"),
    ]


def test_the_first_row_is_kept_and_new_ones_wait_for_compaction() -> None:
    options = {"merge-engine": "first-row", "changelog-producer": "lookup"}
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], primary_key=["k"], options=options)
    table.compact()
    table.upsert([{"k": 1, "v": "b"}, {"k": 2, "v": "c"}])
    assert [row[3:] for row in records(table.rows(merged=False))] == [
        (0, "hidden", "not visible before compaction"),
        (0, "hidden", "not visible before compaction"),
        (5, "returned", ""),
    ]


def written(kind: str) -> Iterator[pe.Table]:
    """A table of a kind after each of several commits, compactions between them."""
    table = TABLE_KINDS[kind].create(f"memory://{uuid4()}/wh")
    yield table
    rows = [{"p": "2024-01-01", "k": k, "v": k, "w": f"w{k}"} for k in range(20)]
    write = table.append if not table.schema.primary_keys else table.upsert
    write(rows)
    write([{**row, "v": 100} for row in rows[5:9]])
    yield table
    table.compact()
    if TABLE_KINDS[kind].deletes:
        table.delete("k = 7")
    write([{**row, "w": "new", "k": int(str(row["k"])) + 4} for row in rows[2:18:3]])
    yield table
    table.compact(full=False)
    write([{"p": "2024-01-02", "k": 1, "v": 1, "w": None}])
    yield table


@pytest.mark.parametrize("kind", TABLE_KINDS)
def test_rows_and_fates_agree_with_reads(kind: str) -> None:
    for table in written(kind):
        check_agrees(table)


@pytest.mark.parametrize("engine", ENGINES)
def test_of_records_with_one_sequence_number_the_one_that_is_read_is_returned(engine: str) -> None:
    check_agrees(tied_table(new_catalog(), engine))


def check_agrees(table: pe.Table) -> None:
    """Merged rows, pages and fates of records agree with a scan."""
    expected = table.scan().to_arrow()
    view = table.rows()
    assert rows_of(view.to_arrow()) == rows_of(expected)
    if view.is_exact:
        assert view.max_rows == expected.num_rows
    check_pages(view)
    every = table.rows(merged=False)
    stored = every.to_arrow()
    assert stored.num_rows == sum(unit.most for unit in every.units)
    shown = [row for row in stored.to_pylist() if row["_STATUS"] in VISIBLE]
    names = expected.column_names
    if table.options.value(DATA_EVOLUTION_ENABLED):
        return  # a record may have some columns of a row only
    if every._engine in (None, *SELECTING):
        assert rows_of(pa.Table.from_pylist(shown, schema=stored.schema).select(names)) == rows_of(
            expected
        )
        return
    keys = list(table.schema.primary_keys)
    found = {tuple(str(row[name]) for name in keys) for row in shown}
    assert found == {tuple(str(row[n]) for n in keys) for row in expected.select(keys).to_pylist()}


def check_pages(view: RowsView) -> None:
    """Every window of a unit is a slice of the unit."""
    for number in range(len(view.units)):
        whole = view.page(number, 0, 10_000).rows
        for offset, count in ((0, 1), (whole.num_rows // 2, 3), (max(whole.num_rows - 2, 0), 9)):
            page = view.page(number, offset, count)
            assert page.rows.to_pylist() == whole.slice(offset, count).to_pylist()
        assert view.page(number, whole.num_rows, 5).rows.num_rows == 0


SAMPLE = ("dv_pk", "me_agg", "append_dv", "chain_table", "fallback_branch")


def test_real_tables_agree_with_reads(golden: GoldenTables) -> None:
    names = golden.names("java200")
    for name in (one for one in names if one in SAMPLE or one in some(names, 30)):
        try:
            table = pe.open_table(golden.table("java200", name).folder)
            expected = table.scan().to_arrow()
        except PaimonError:
            continue  # a table that needs its catalog, or no table
        assert rows_of(table.rows().to_arrow()) == rows_of(expected), name
        try:
            check_agrees(table)
        except InvalidInputError as error:
            assert "several branches" in str(error), name  # noqa: PT017 - of some of the tables


def test_large_splits_are_divided_by_key_and_lose_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_units, "LARGE_ROWS", 10)
    table = keyed_table(
        columns(k=pa.string(), v=pa.int32()),
        [{"k": f"{k:03}", "v": k} for k in range(100)],
        primary_key=["k"],
        options={"target-file-size": "1 kb", "file.block-size": "100 b", "write-only": "false"},
    )
    table.compact()
    table.upsert([{"k": f"{k:03}", "v": -k} for k in range(0, 100, 7)])
    view = table.rows()
    assert rows_of(view.to_arrow()) == rows_of(table.to_arrow())
    check_pages(view)


def test_only_the_first_large_splits_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_units, "LARGE_ROWS", 10)
    commits = [[{"k": k, "v": k + add} for k in range(100)] for add in (0, 1)]
    options = {"bucket": "2", "write-only": "true"}
    schema = columns(k=pa.int32(), v=pa.int32())
    table = keyed_table(schema, *commits, primary_key=["k"], options=options)
    most = [unit.most for unit in table.rows().units]
    monkeypatch.setattr(row_units, "MAX_DIVIDED", 0)
    view = table.rows()
    assert len(most) >= 2
    assert [unit.files for unit in view.units] == [None, None]
    assert sum(unit.most for unit in view.units) == 200
    sizes = table.files().table.column("file_size").to_numpy()
    assert sum(unit.bytes for unit in view.units) == sizes.sum()
    assert rows_of(view.to_arrow()) == rows_of(table.to_arrow())
    check_pages(view)


def test_a_large_file_that_is_missing_does_not_hide_the_other_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(row_units, "LARGE_ROWS", 10)
    schema = {"p": "INT NOT NULL", "k": "INT NOT NULL"}
    options = {"bucket": 1, "write-only": True}
    table = new_catalog(tmp_path).create_table(
        "db.t", schema, primary_key=["p", "k"], partition_by="p", options=options
    )
    for _ in range(2):
        table.upsert([{"p": p, "k": k} for p in range(2) for k in range(50)])
    next(Path(table.path, "p=0").rglob("data-*")).unlink()
    view = table.rows()
    units = [at for at, unit in enumerate(view.units) if unit.split.partition[-8:] != bytes(8)]
    assert len(view.units) > len(units) > 0
    assert view.page(units[0], 0, 3).rows.num_rows == 3
    with pytest.raises(PaimonError, match="no such file"):
        view.to_arrow()


def test_scopes_select_partitions_buckets_and_files() -> None:
    schema = columns(dt=pa.string(), k=pa.int32())
    table = append_table(
        schema,
        [{"dt": "a", "k": 1}, {"dt": "b/c=d", "k": 2}],
        [{"dt": "a", "k": 3}],
        partition_by=["dt"],
    )
    assert rows_of(table.rows(partition="a").to_arrow()) == [
        {"dt": "a", "k": 1},
        {"dt": "a", "k": 3},
    ]
    odd = table.rows(partition={"dt": "b/c=d"}, where="k > 0")
    assert table.rows(partition="dt=b/c=d").to_arrow()["k"].to_pylist() == [2]
    assert odd.to_arrow()["k"].to_pylist() == [2]
    assert odd.code.spark.endswith(".where(\"dt = 'b/c=d' AND k > 0\")")
    for name in table.files().to_arrow()["file_name"].to_pylist():
        assert table.rows(file=name).max_rows == 1
    refused: list[tuple[dict[str, object], type[PaimonError], str]] = [
        ({"partition": "z"}, NotFoundError, "dt=z"),
        ({"bucket": 7}, NotFoundError, "bucket 7"),
        ({"file": "nothing"}, NotFoundError, "nothing"),
        ({"columns": ["x"]}, InvalidInputError, "no column 'x'"),
        ({"where": "k >"}, InvalidInputError, "cannot be parsed"),
    ]
    for given, kind, says in refused:
        with pytest.raises(kind, match=says):
            table.rows(**given)  # type: ignore[arg-type]


def test_a_file_of_a_keyed_table_has_records_only() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 1, "v": "b"}], primary_key=["k"])
    first = table.files().to_arrow()["file_name"][0].as_py()
    assert [row[4] for row in records(table.rows(file=first))] == ["replaced"]
    with pytest.raises(InvalidInputError, match="stored records, not merged rows"):
        table.rows(file=first, merged=True)


def test_a_filter_is_pushed_down_and_counts_nothing_beforehand() -> None:
    table = append_table(NUMBERS, *[[{"k": k, "v": k % 3}] for k in range(6)])
    view = table.rows("k >= 4")
    assert len(view.units) == 2
    assert not view.is_exact
    assert view.to_arrow()["k"].to_pylist() == [4, 5]
    matching = table.rows("v = 1", merged=False)
    assert matching.to_arrow()["k"].to_pylist() == [1, 4]
    assert matching.page(0, 0, 5).end == 0


def test_sorting_keeps_the_first_rows_and_skips_by_statistics() -> None:
    table = append_table(NUMBERS, *[[{"k": k, "v": v}] for k, v in ((3, 1), (1, None), (2, 1))])
    up = table.rows().sort("v")
    assert up.to_arrow().to_pylist() == [
        {"k": 3, "v": 1},
        {"k": 2, "v": 1},
        {"k": 1, "v": None},
    ]
    down = table.rows().sort("k", descending=True)
    assert down.to_arrow()["k"].to_pylist() == [3, 2, 1]
    sorter = table.rows().sort("k").sorter()
    sorter._limit = 1
    assert sorter.finish()["k"].to_pylist() == [1]
    assert (sorter.units_read, sorter.units_skipped) == (1, 2)
    assert up.explain_sort().startswith("Sorting reads up to 3 rows in ")
    with pytest.raises(InvalidInputError, match="no column 'x'"):
        table.rows().sort("x")
    nested = append_table(columns(a=pa.list_(pa.int32())), [{"a": [1]}])
    with pytest.raises(UnsupportedFeatureError, match="which has no order"):
        nested.rows().sort("a")


@pytest.mark.parametrize("kind", ["keyed", "aggregation", "partial update", "vectors", "append"])
def test_sorted_rows_are_those_of_a_scan(kind: str) -> None:
    for table in written(kind):
        found = table.rows().sort("v", descending=True).to_arrow()
        expected = table.to_arrow()
        assert rows_of(found) == rows_of(expected)
        numbers = [value for value in found["v"].to_pylist() if value is not None]
        assert numbers == sorted(numbers, reverse=True)


CODES: Mapping[str, Mapping[str, object]] = {
    "all": {},
    "some": {"where": "k > 1 and v <> 'd'", "columns": ["v"]},
    "records": {"merged": False},
    "bucket": {"bucket": 0},
}


@pytest.mark.parametrize("name", CODES)
def test_the_code_gives_exactly_the_rows(name: str) -> None:
    t = keyed_table(
        COLUMNS, [{"k": k, "v": chr(97 + k)} for k in range(5)], [{"k": 2, "v": "x"}],
        primary_key=["k"],
    )  # fmt: skip
    for table in (t, t.at(snapshot=1)):
        view = table.rows(**CODES[name])  # type: ignore[arg-type]
        again = eval(view.code.python, {"t": t})  # noqa: S307 - a line of our own
        assert again.to_arrow() == view.to_arrow()
    ordered = t.rows("k > 1").sort("v", descending=True)
    again = eval(ordered.code.python, {"t": t})  # noqa: S307 - a line of our own
    assert again.to_arrow()["v"].to_pylist() == ["x", "e", "d"]


SQL_CASES: Sequence[Mapping[str, object]] = [
    {},
    {"where": "`or\"der` > 1 or dt = 'x''y'"},
    {"partition": "dt=x'y"},
    {"columns": ["a`b", 'or"der'], "where": "dt <> 'z'"},
]


@pytest.mark.parametrize("given", SQL_CASES, ids=str)
@pytest.mark.parametrize("sort", ["", 'or"der', "a`b"])
def test_the_sql_of_duckdb_gives_exactly_the_rows(given: Mapping[str, object], sort: str) -> None:
    pytest.importorskip("duckdb")
    types: dict[str, pa.DataType] = {
        "dt": pa.string(), 'or"der': pa.int32(), "a`b": pa.string(),
    }  # fmt: skip
    schema = columns(**types)
    rows = [{"dt": d, 'or"der': k, "a`b": None if k else d} for d in ("x'y", "z") for k in range(3)]
    t = append_table(schema, rows, rows[:2], partition_by=["dt"])
    for table in (t, t.at(snapshot=1)):
        view = table.rows(**given)  # type: ignore[arg-type]
        view = view.sort(sort) if sort else view
        found = eval(sql_codes(view.request)["duckdb"], {"t": t})  # noqa: S307 - a line of our own
        assert rows_of(found.to_arrow_table()) == rows_of(view.to_arrow())


def test_columns_that_were_added_dropped_and_renamed_are_those_of_the_snapshot() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.add_column("w", "INT")
    table.rename_column("v", "u")
    table.append([{"k": 2, "u": "b", "w": 5}])
    table.drop_column("k")
    assert table.rows().to_arrow().to_pylist() == [{"u": "a", "w": None}, {"u": "b", "w": 5}]
    assert table.at(snapshot=1).rows().to_arrow().to_pylist() == [{"k": 1, "v": "a"}]
    assert table.rows("w = 5").to_arrow()["u"].to_pylist() == ["b"]


def test_a_missing_file_is_named_and_the_other_rows_are_read() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}])
    lost = data_files(table)[1]
    table._store.file_io.delete(lost)
    view = table.rows()
    assert view.page(0, 0, 5).rows.to_pylist() == [{"k": 1, "v": "a"}]
    with pytest.raises(MissingFileError, match="data-"):
        view.page(1, 0, 5)
    assert "MissingFileError" in repr(view)
    assert json.dumps(view.state())


def test_all_faces_are_there() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "<i>"}], [{"k": 1, "v": "c"}], primary_key=["k"])
    for view in (
        table.rows(),
        table.rows(merged=False),
        table.rows("k = 9"),
        table.rows().sort("k"),
    ):
        assert json.dumps(view.state())
        assert "<table" in view._repr_html_() or "No rows" in view._repr_html_()
        assert "<i>" not in view._repr_html_()
        assert 1 <= len(repr(view).splitlines()) <= 25
    assert "replaced by sequence 1" in repr(table.rows(merged=False))
    nothing = append_table(COLUMNS).rows()
    assert (nothing.max_rows, nothing.to_arrow().num_rows) == (0, 0)
    assert "The table has no snapshot yet." in repr(nothing)
    wide = append_table(columns(**{f"c{i}": pa.int32() for i in range(1000)}), [{"c0": 1}])
    assert "988 more columns" in repr(wide.rows())


EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}


@pytest.mark.parametrize("is_compacted", [True, False])
@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({"bucket": "1"}, ["k"]),
        ({"bucket": "1", "deletion-vectors.enabled": "true"}, ["k"]),
        ({"bucket": "-1", **EVOLVING}, []),
        ({"bucket": "-1", **EVOLVING, "blob-descriptor-field": "b"}, []),
    ],
)
def test_rows_and_records_have_the_contents_of_blobs(
    options: Mapping[str, str],
    keys: list[str],
    *,
    is_compacted: bool,
) -> None:
    catalog = new_catalog()
    table = catalog.create_table(
        "db.t", {"k": "INT", "b": "BLOB"}, primary_key=keys, options=options
    )
    contents = {1: b"one", 2: b"two"}
    if "blob-descriptor-field" in options:
        path = f"{table.path}/contents"
        assert table._store.file_io.create(path, b"onetwo")
        stored = {
            k: encode_descriptor(BlobDescriptor(uri=path, offset=3 * k - 3, length=3))
            for k in contents
        }
    else:
        stored = contents
    for k, value in stored.items():
        (table.upsert if keys else table.append)([{"k": k, "b": value}])
    if is_compacted:
        table.compact()
    views = [table.rows(), table.rows(where="k > 0"), table.rows().sort("k")]
    if keys:
        views += [table.rows(merged=False), table.rows(merged=False, where="k > 0")]
        history = table.history(1)
        assert history.states[-1].row == {"k": 1, "b": b"one"}
        assert {row["b"] for row in history.to_arrow().to_pylist()} == {b"one"}
    for view in views:
        assert {row["k"]: row["b"] for row in view.to_arrow().to_pylist()} == contents
