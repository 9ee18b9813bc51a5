"""Comparisons of tables, branches and snapshots with their figures written out."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.compare import table_comparison
from paimon_explore.inspection.compare.compare_view import CompareView
from paimon_explore.inspection.compare.row_comparison import compare_rows, rows_to_read
from paimon_explore.inspection.compare.schema_comparison import compared_columns
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.table.table import _side
from support.small_tables import append_table, columns, keyed_table, new_catalog

KEYS = columns(k=pa.int32(), v=pa.int64(), w=pa.string())
Row = dict[str, object]


def rows(*given: tuple[int, int, str]) -> list[Row]:
    return [{"k": k, "v": v, "w": w} for k, v, w in given]


def keyed(*commits: Sequence[Row], schema: pa.Schema = KEYS, **options: str) -> pe.Table:
    given = {key.replace("_", "-"): value for key, value in options.items()}
    return keyed_table(schema, *commits, primary_key=["k"], options=given)


def test_rows_are_compared_by_primary_key() -> None:
    a = keyed(rows((1, 1, "a"), (2, 2, "b"), (3, 3, "c")))
    b = keyed(rows((2, 2, "b"), (3, 4, "C")), rows((4, 4, "d")), bucket="2")
    found = pe.compare(a, b)
    assert found.rows is not None
    assert (found.rows.only_a, found.rows.only_b, found.rows.changed) == (1, 1, 1)
    assert dict(found.rows.changed_columns) == {"v": 1, "w": 1}
    assert found.to_arrow().to_pylist() == [
        {"rowkind": "-D", "differs": None, "k": 1, "v": 1, "w": "a"},
        {"rowkind": "-U", "differs": ["v", "w"], "k": 3, "v": 3, "w": "c"},
        {"rowkind": "+U", "differs": ["v", "w"], "k": 3, "v": 4, "w": "C"},
        {"rowkind": "+I", "differs": None, "k": 4, "v": 4, "w": "d"},
    ]
    assert [(one.name, one.a, one.b) for one in found.settings] == [("bucket", "1", "2")]
    assert found.schema_equal
    assert found.rows_equal is False


def test_rows_without_a_key_are_compared_as_multisets() -> None:
    a = append_table(KEYS, rows((1, 1, "x"), (1, 1, "x"), (2, 2, "y")))
    b = append_table(KEYS, rows((1, 1, "x"), (2, 2, "y"), (2, 2, "y"), (3, 3, "z")))
    found = pe.compare(a, b)
    assert found.rows is not None
    assert (found.rows.only_a, found.rows.only_b, found.rows.changed) == (1, 2, 0)
    kinds = [(r["rowkind"], r["k"]) for r in found.to_arrow().to_pylist()]
    assert sorted(kinds) == [("+I", 2), ("+I", 3), ("-D", 1)]


def test_a_compaction_changes_files_and_no_rows() -> None:
    table = keyed(rows((1, 1, "a")), rows((1, 2, "b")), rows((2, 1, "c")))
    table.compact()
    found = pe.compare(table, table.at(3))
    assert found.rows_equal
    assert (found.contents_a.count, found.contents_b.count) == (1, 3)
    assert found.figures()["shared_files"] == 0
    assert pe.compare(table, table.at(2)).rows_equal is False
    assert pe.compare(table).figures()["b"]["snapshot"] == 3  # type: ignore[index]


def test_the_empty_state_before_the_first_snapshot_can_be_compared() -> None:
    found = pe.compare(keyed(rows((1, 1, "a"), (2, 1, "b"))))
    assert found.rows is not None
    assert (found.rows.only_a, found.rows.only_b) == (2, 0)


def test_branches_share_files_that_are_not_read(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    table = catalog.create_table("db.t", KEYS)
    table.append(rows((1, 1, "a"), (2, 2, "b")))
    table.create_tag("start", 1)
    table.create_branch("dev", "start")
    branch = catalog.table("db.t$branch_dev")
    assert pe.compare(table, branch).rows_equal
    assert pe.compare(table, branch).cost.files == 0
    branch.append(rows((3, 3, "c")))
    found = pe.compare(table, branch)
    assert found.rows is not None
    assert (found.rows.only_a, found.rows.only_b, found.cost.files) == (0, 1, 1)
    assert found.figures()["shared_files"] == 1
    assert pe.compare(table, branch.at(1)).rows_equal


def test_columns_are_matched_by_name() -> None:
    a = keyed(
        [{"k": 1, "v": 1, "x": 1.5}], schema=columns(k=pa.int32(), v=pa.int32(), x=pa.float64())
    )
    b = keyed(
        [{"k": 1, "y": "?", "v": "1"}], schema=columns(k=pa.int64(), y=pa.string(), v=pa.string())
    )
    found = pe.compare(a, b)
    notes = [(o.name, o.id_a, o.id_b, o.type_a, o.type_b, o.note) for o in found.column_pairs]
    assert notes == [
        ("k", 0, 0, "INT NOT NULL", "BIGINT NOT NULL", "type differs"),
        ("v", 1, 2, "INT", "STRING", "type differs"),
        ("x", 2, None, "DOUBLE", "", "only in a"),
        ("y", None, 1, "", "STRING", "only in b"),
    ]
    assert dict(found.compared.omitted) == {
        "v": "the types cannot be compared",
        "x": "only in a",
        "y": "only in b",
    }
    assert found.rows_equal
    assert not found.schema_equal


def test_a_renamed_column_of_the_same_table_is_recognized() -> None:
    table = keyed(rows((1, 1, "a")))
    table.rename_column("w", "name")
    table.upsert([{"k": 2, "v": 2, "name": "b"}])
    notes = {one.name: one.note for one in pe.compare(table, table.at(1)).column_pairs}
    assert notes == {"k": "same", "v": "same", "name": "renamed to w", "w": "renamed from name"}


def test_tables_with_different_keys_are_compared_as_whole_rows() -> None:
    a = keyed(rows((1, 1, "a"), (2, 2, "b")))
    b = append_table(KEYS, rows((1, 1, "a"), (2, 2, "B")))
    found = pe.compare(a, b)
    assert found.rows is not None
    assert (found.rows.only_a, found.rows.only_b, found.rows.changed) == (1, 1, 0)
    first = found.settings[0]
    assert (first.name, first.a, first.b) == ("primary key", "k", None)


def test_much_data_is_announced_and_not_read() -> None:
    a, b = keyed(rows((1, 1, "a"))), keyed(rows((1, 2, "a")))
    found = pe.compare(a, b, max_read=10)
    assert found.rows is None
    assert found.rows_equal is None
    size = found.contents_a.bytes + found.contents_b.bytes
    assert found.figures()["read"] == {"files": 2, "bytes": size}
    assert "; the limit max_read is 10 B." in repr(found)
    assert pe.compare(a, b, max_read=None).rows_equal is False
    without = pe.compare(a, b, rows=0)
    assert without.rows is None
    assert "Rows are not compared; comparing them reads" in repr(without)


def test_rows_of_very_many_files_are_compared_only_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = keyed(rows((1, 1, "a"))), keyed(rows((1, 2, "a")))
    monkeypatch.setattr(table_comparison, "MAX_PLANNED", 1)
    found = pe.compare(a, b)
    assert found.rows is None
    assert found.cost.files == 2
    text = "Rows are not compared: 2 data files, more than 1; pass max_read=None to do so."
    assert text in repr(found)
    assert pe.compare(a, b, max_read=None).rows_equal is False
    assert pe.compare(a, a).rows_equal is True


@pytest.mark.parametrize("key", [True, False])
def test_rows_divided_into_parts_are_compared_as_at_once(*, key: bool) -> None:
    first = [{"k": k, "v": k % 7, "w": f"w{k}"} for k in range(300)]
    second = [{**row, "v": 9} if row["k"] in (25, 250) else row for row in first[20:]]
    second += [{"k": k, "v": 0, "w": ""} for k in range(1000, 1010)]
    a, b = (keyed(part) if key else append_table(KEYS, part) for part in (first, second))
    sides = _side(a), _side(b)
    shared = compared_columns(sides[0].schema, sides[1].schema)
    reads = rows_to_read(*sides)
    once, parts = (
        compare_rows(*sides, shared, reads, sample=1000, part_bytes=size)
        for size in (10**9, max(reads.bytes // 9, 1))
    )
    expected = (20, 10, 2) if key else (22, 12, 0)
    for found in (once, parts):
        assert (found.only_a, found.only_b, found.changed) == expected
        assert (found.rows_a, found.rows_b) == (300, 290)
    assert sorted(map(repr, once.sample.to_pylist())) == sorted(map(repr, parts.sample.to_pylist()))
    assert once.changed_columns == parts.changed_columns


def test_the_sample_is_bounded_and_keeps_pairs() -> None:
    a = keyed(rows(*((k, 1, "a") for k in range(50))))
    b = keyed(rows(*((k, 2, "a") for k in range(50))))
    found = pe.compare(a, b, rows=3)
    assert found.rows is not None
    assert found.rows.changed == 50
    assert [(r["rowkind"], r["k"]) for r in found.to_arrow().to_pylist()] == [
        ("-U", 0), ("+U", 0), ("-U", 1), ("+U", 1), ("-U", 2), ("+U", 2),
    ]  # fmt: skip


def test_tables_without_a_common_column_have_no_rows_to_compare() -> None:
    a = append_table(columns(x=pa.int32()), [{"x": 1}])
    b = append_table(columns(y=pa.int32()), [{"y": 1}])
    found = pe.compare(a, b)
    assert found.rows is None
    assert "the tables have no column in common" in repr(found)
    assert found.to_arrow().num_rows == 0


def test_empty_tables_are_equal() -> None:
    a, b = keyed(), keyed()
    assert pe.compare(a, b).rows_equal
    assert pe.compare(a, b).schema_equal


def test_nested_values_are_compared() -> None:
    schema = columns(k=pa.int32(), r=pa.struct([("x", pa.int32())]), l=pa.list_(pa.string()))
    a = keyed([{"k": 1, "r": {"x": 1}, "l": ["a"]}, {"k": 2, "r": None, "l": []}], schema=schema)
    b = keyed([{"k": 1, "r": {"x": 2}, "l": ["a"]}, {"k": 2, "r": None, "l": None}], schema=schema)
    found = pe.compare(a, b)
    assert found.rows is not None
    assert dict(found.rows.changed_columns) == {"r": 1, "l": 1}


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    table = keyed(rows((1, 1, "a")))
    with pytest.raises(InvalidInputError, match="b must be a Table or the path of one"):
        pe.compare(table, 3)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        pe.compare(table, str(tmp_path))
    with pytest.raises(NotFoundError):
        pe.compare(table, table.at(99))


def view(table: pe.Table, text: str, snapshot: int | None = None) -> CompareView:
    state = ExplorerState(table._inspector())
    found = state.result("compare", snapshot or state.newest, ViewInput(text=text))
    assert isinstance(found, CompareView)
    return found


def test_the_view_compares_with_the_snapshot_before() -> None:
    table = keyed(rows((1, 1, "a")), rows((2, 2, "b")), rows((3, 3, "c")))
    assert view(table, "").code.python == "pe.compare(t, t.at(snapshot=2))"
    found = view(table, "", snapshot=2)
    assert found.code.python == "pe.compare(t.at(snapshot=2), t.at(snapshot=1))"
    assert found.result is not None
    assert found.result.rows is not None
    assert found.result.rows.only_a == 1
    first = view(table, "", snapshot=1)
    assert first.code.python == "pe.compare(t.at(snapshot=1))"
    assert (
        view(table, "with at = 1, rows = no").code.python
        == "pe.compare(t, t.at(snapshot=1), rows=0)"
    )
    again = eval(found.code.python, {"t": table, "pe": pe})  # noqa: S307 - ours
    assert again.figures() == found.figures()


def test_the_view_opens_tables_of_the_same_warehouse_and_branches() -> None:
    catalog = new_catalog()
    a, b = (catalog.create_table(f"db.{name}", KEYS) for name in "ab")
    a.append(rows((1, 1, "a")))
    b.append(rows((1, 1, "a")))
    a.create_tag("v1", 1)
    a.create_branch("dev", "v1")
    for text in ("with table = db.b", "with table = b", "with branch = 'dev'"):
        found = view(a, text)
        assert found.result is not None, text
        assert found.result.rows_equal
        again = eval(found.code.python, {"t": a, "pe": pe})  # noqa: S307 - ours
        assert again.figures() == found.figures()
    fields = {field.name: field for field in view(a, "").form.fields}
    assert fields["branch"].allowed == ("main", "dev")


@pytest.mark.parametrize(
    "name",
    [
        "../b", "/etc", "db.b.c", "..", ".", "db.", "db/b", "db.b$branch_x", "db.\\x", "x" * 300,
        "file:///tmp", "db.b\x00",
    ],
)  # fmt: skip
def test_a_name_that_leaves_the_warehouse_is_refused(name: str) -> None:
    found = view(keyed(rows((1, 1, "a"))), f"with table = '{name}'")
    assert found.problem is not None
    assert found.problem.kind in ("InvalidInputError", "NotFoundError")
    assert "is not a table name" in found.problem.message


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("with table = db.gone", "NotFoundError"),
        ("with branch = gone", "NotFoundError"),
        ("with at = 77", "NotFoundError"),
        ("with rows = maybe", "InvalidInputError"),
    ],
)
def test_a_side_that_does_not_exist_is_told_below_the_form(text: str, kind: str) -> None:
    found = view(keyed(rows((1, 1, "a"))), text)
    assert found.problem is not None
    assert found.problem.kind == kind
    assert [part["type"] for part in found.state()["sections"]] == ["form", "problem"]  # type: ignore[attr-defined]
    with pytest.raises(InvalidInputError, match="not a setting of a comparison"):
        view(keyed(), "with path = x")
