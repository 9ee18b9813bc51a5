"""Writes with `merge_schema`: which columns are added, which types get wider, and what stays."""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import CommitConflictError, InvalidInputError
from support.small_tables import append_table, columns, keyed_table


def type_of(table: Table, name: str = "v") -> str:
    field = table.schema.row_type.field(name)
    assert field is not None
    return type_text(field.type)


CASES: list[tuple[str, pa.DataType, str]] = [
    ("TINYINT", pa.int16(), "SMALLINT"),
    ("TINYINT", pa.int64(), "BIGINT"),
    ("TINYINT", pa.float32(), "FLOAT"),
    ("SMALLINT", pa.int32(), "INT"),
    ("SMALLINT", pa.float64(), "DOUBLE"),
    ("INT", pa.int64(), "BIGINT"),
    ("INT", pa.float32(), "DOUBLE"),
    ("INT", pa.float64(), "DOUBLE"),
    ("INT", pa.decimal128(5, 2), "DECIMAL(12, 2)"),
    ("BIGINT", pa.decimal128(5, 2), "DECIMAL(21, 2)"),
    ("FLOAT", pa.float64(), "DOUBLE"),
    ("DECIMAL(5, 2)", pa.decimal128(7, 4), "DECIMAL(7, 4)"),
    ("DECIMAL(5, 2)", pa.decimal128(9, 1), "DECIMAL(10, 2)"),
    ("TIMESTAMP(3)", pa.timestamp("us"), "TIMESTAMP(6)"),
    ("TIMESTAMP(3)", pa.timestamp("ns"), "TIMESTAMP(9)"),
    (
        "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        pa.timestamp("us", "UTC"),
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    ),
    ("INT NOT NULL", pa.int64(), "BIGINT NOT NULL"),
    # kept: nothing gets narrower, and nothing changes that might lose a value
    ("BIGINT", pa.int32(), "BIGINT"),
    ("BIGINT", pa.float64(), "BIGINT"),
    ("DOUBLE", pa.int64(), "DOUBLE"),
    ("DOUBLE", pa.float32(), "DOUBLE"),
    ("FLOAT", pa.int8(), "FLOAT"),
    ("DECIMAL(38, 30)", pa.decimal128(20, 0), "DECIMAL(38, 30)"),
    ("DECIMAL(10, 2)", pa.int64(), "DECIMAL(10, 2)"),
    ("TIMESTAMP(6)", pa.timestamp("ms"), "TIMESTAMP(6)"),
    ("VARCHAR(5)", pa.string(), "VARCHAR(5)"),
    ("DATE", pa.date32(), "DATE"),
]
WIDER = {(old, str(new)): (new, result) for old, new, result in CASES}


_MIDNIGHT = "2026-01-01 00:00:00"


@pytest.mark.parametrize("case", WIDER, ids=" and ".join)
def test_a_type_gets_as_wide_as_both(case: tuple[str, str]) -> None:
    arrow, result = WIDER[case]
    table = append_table(columns(k=pa.int32()), [{"k": 1}])
    table.add_column("v", case[0].removesuffix(" NOT NULL"))
    if case[0].endswith("NOT NULL"):
        table = append_table(pa.schema([pa.field("v", pa.int32(), nullable=False)]))
    texts = {"date32[day]": "2026-01-01"}
    plain = texts.get(str(arrow), _MIDNIGHT if "time" in str(arrow) else "1")
    plain += "Z" if "UTC" in str(arrow) else ""
    rows = pa.table({"v": pa.array([plain]).cast(arrow)})
    schemas = len(table.schemas)
    table.append(rows, merge_schema=True)
    assert type_of(table) == result
    assert len(table.schemas) - schemas == (result != case[0])
    assert table.count("v IS NOT NULL") == 1
    assert table.maintenance.fsck() == []


def test_values_of_before_and_after_a_wider_type_are_read() -> None:
    table = append_table(columns(k=pa.int32(), v=pa.int32()), [{"k": 1, "v": 1}])
    table.append(pa.table({"k": [2], "v": [2**40]}), merge_schema=True)
    found = table.to_arrow().sort_by("k").to_pylist()
    assert found == [{"k": 1, "v": 1}, {"k": 2, "v": 2**40}]
    assert table.at(snapshot=1).schema.row_type.names == ("k", "v")


def test_python_values_widen_a_type_only_if_they_do_not_fit() -> None:
    table = append_table(columns(k=pa.int32(), f=pa.float32()), [{"k": 1, "f": 0.5}])
    table.append([{"k": 2, "f": 0.1}], merge_schema=True)
    assert (type_of(table, "k"), type_of(table, "f")) == ("INT", "FLOAT")
    table.append([{"k": 2**40}], merge_schema=True)
    assert type_of(table, "k") == "BIGINT"


FORMS: Mapping[str, object] = {
    "rows": [{"k": 2, "new": 5}],
    "columns": {"k": [2], "new": [5]},
    "Arrow table": pa.table({"k": pa.array([2], pa.int32()), "new": [5]}),
    "Arrow batches": [pa.RecordBatch.from_pylist([{"k": 2, "new": 5}])],
    "pandas": pd.DataFrame({"k": [2], "new": [5]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_new_column_is_added_whatever_the_form_of_the_rows(form: str) -> None:
    table = append_table(columns(k=pa.int64()), [{"k": 1}])
    table.append(FORMS[form], merge_schema=True)  # type: ignore[arg-type] # forms of rows
    assert table.to_arrow().sort_by("k").to_pylist() == [{"k": 1, "new": None}, {"k": 2, "new": 5}]
    assert type_of(table, "new") == "BIGINT"


def test_a_stream_is_written_as_it_arrives() -> None:
    table = append_table(columns(k=pa.int64()), [{"k": 1}])
    batches = [pa.RecordBatch.from_pylist([{"k": n, "new": f"n{n}"}]) for n in (2, 3)]
    table.append(pa.RecordBatchReader.from_batches(batches[0].schema, batches), merge_schema=True)
    table.append(iter(batches), merge_schema=True)
    assert table.count("new IS NOT NULL") == 4

    def rows() -> Iterator[dict[str, object]]:
        yield {"k": 4}

    with pytest.raises(InvalidInputError, match="generator of rows are not known"):
        table.append(rows(), merge_schema=True)


def test_nested_fields_are_added_and_widened() -> None:
    struct = pa.struct([("a", pa.int32())])
    table = append_table(
        columns(r=struct, many=pa.list_(struct), pairs=pa.map_(pa.string(), struct)),
        [{"r": {"a": 1}, "many": [{"a": 2}], "pairs": [("x", {"a": 3})]}],
    )
    wider = pa.struct([("a", pa.int64()), ("b", pa.string())])
    rows = pa.table(
        {
            "r": pa.array([{"a": 2**40, "b": "r"}], wider),
            "many": pa.array([[{"a": 2**41, "b": "m"}]], pa.list_(wider)),
            "pairs": pa.array([[("y", {"a": 2**42, "b": "p"})]], pa.map_(pa.string(), wider)),
        }
    )
    table.append(rows, merge_schema=True)
    first, second = table.to_arrow().to_pylist()
    assert first == {
        "r": {"a": 1, "b": None},
        "many": [{"a": 2, "b": None}],
        "pairs": [("x", {"a": 3, "b": None})],
    }
    assert second == rows.to_pylist()[0]
    assert len(table.schemas) == 2
    assert table.maintenance.fsck() == []


def test_an_upsert_and_an_overwrite_merge_the_schema_too() -> None:
    schema = columns(k=pa.int32(), v=pa.int32())
    table = keyed_table(schema, [{"k": 1, "v": 1}, {"k": 2, "v": 2}], primary_key=["k"])
    table.upsert([{"k": 1, "v": 2**40, "w": "x"}], merge_schema=True)
    assert table.to_arrow().sort_by("k").to_pylist() == [
        {"k": 1, "v": 2**40, "w": "x"},
        {"k": 2, "v": 2, "w": None},
    ]
    table.overwrite([{"k": 3, "d": Decimal("1.5")}], {}, merge_schema=True)
    assert table.to_arrow().to_pylist() == [{"k": 3, "v": None, "w": None, "d": Decimal("1.5")}]
    assert table.maintenance.fsck() == []


def test_keys_and_partitions_keep_their_types() -> None:
    schema = columns(p=pa.int32(), k=pa.int32())
    table = keyed_table(schema, primary_key=["p", "k"], partition_by=["p"])
    rows = pa.table({"p": [1], "k": [2]})
    table.upsert(rows, merge_schema=True)
    assert (type_of(table, "p"), type_of(table, "k")) == ("INT NOT NULL", "INT NOT NULL")
    with pytest.raises(InvalidInputError, match="Column 'k' \\(INT\\), row 0"):
        table.upsert([{"p": 1, "k": 2**40}], merge_schema=True)
    assert len(table.schemas) == 1


def test_without_merge_schema_a_new_column_is_an_error() -> None:
    table = append_table(columns(k=pa.int32()))
    with pytest.raises(InvalidInputError, match="The table has no column 'new'"):
        table.append([{"k": 1, "new": 1}])


def test_rows_that_fail_leave_the_schema_as_it_was() -> None:
    table = append_table(columns(k=pa.int32()), [{"k": 1}])
    with pytest.raises(InvalidInputError, match="Column 'k' \\(INT\\), row 0"):
        table.append([{"k": "x", "new": 1}], merge_schema=True)
    assert len(table.schemas) == 1


def test_another_schema_change_meanwhile_is_merged_with() -> None:
    table = append_table(columns(k=pa.int64()), [{"k": 1}])
    with table.transaction() as tx:
        tx.append([{"k": 2, "mine": 2}], merge_schema=True)
        open_table(table.path).append([{"k": 3, "theirs": 3}], merge_schema=True)
    assert table.to_arrow().sort_by("k").to_pylist() == [
        {"k": 1, "theirs": None, "mine": None},
        {"k": 2, "theirs": None, "mine": 2},
        {"k": 3, "theirs": 3, "mine": None},
    ]


def test_a_conflict_of_two_types_is_an_error_of_the_later_commit() -> None:
    table = append_table(columns(k=pa.int64()), [{"k": 1}])

    def fails() -> None:
        with table.transaction() as tx:
            tx.append([{"k": 2, "new": "text"}], merge_schema=True)
            open_table(table.path).append([{"k": 3, "new": 3}], merge_schema=True)

    with pytest.raises((InvalidInputError, CommitConflictError), match="Column 'new'"):
        fails()
    assert table.to_arrow().num_rows == 2


def test_row_kinds_are_no_new_column() -> None:
    table = keyed_table(columns(k=pa.int32()), [{"k": 1}, {"k": 2}], primary_key=["k"])
    table.upsert([{"k": 1, "w": "x"}, {"k": 2, "_ROW_KIND": "-D"}], merge_schema=True)
    assert table.to_arrow().to_pylist() == [{"k": 1, "w": "x"}]


_LISTS = pa.struct([pa.field("a", pa.int32()), pa.field("l", pa.list_(pa.int32()))])
EMPTY: list[tuple[pa.DataType, object]] = [
    (pa.list_(pa.string()), []),
    (pa.list_(pa.string()), [None]),
    (pa.list_(pa.struct([pa.field("a", pa.int32())])), [{"a": None}]),
    (_LISTS, {"a": None, "l": []}),
    (_LISTS, {"a": 1, "l": []}),
]


@pytest.mark.parametrize(("kind", "value"), EMPTY)
@pytest.mark.parametrize("form", ["list", "pandas", "arrow"])
def test_values_without_a_type_of_their_own_have_that_of_the_column(
    kind: pa.DataType, value: object, form: str
) -> None:
    table = append_table(columns(id=pa.int32(), v=kind))
    rows = [{"id": 1, "v": value, "new": 2}]
    forms = {"list": rows, "pandas": pd.DataFrame(rows), "arrow": pa.Table.from_pylist(rows)}
    table.append(forms[form], merge_schema=True)  # type: ignore[arg-type]  # one of them
    assert table.to_arrow().to_pylist() == rows


PYTHON_VALUES: list[tuple[str, list[object]]] = [
    ("MAP<STRING, INT>", [[("a", 1)], {"b": 2}, None]),
    ("MAP<DATE, STRING>", [{date(2026, 1, 1): "x"}]),
    ("MULTISET<STRING>", [[("a", 1)], {"b": 2}]),
    ("MAP<INT, ROW<a INT>>", [[(1, {"a": 2})]]),
    ("ARRAY<MAP<STRING, INT>>", [[[("a", 1)], {"b": 2}], (), None]),
    ("ROW<a INT, m MAP<STRING, INT>>", [{"a": 1, "m": [("k", 1)]}, {"m": {"k": 2}}, {}, None]),
    ("VARIANT", [1, "x", {"a": 1}, [1, "y"], None]),
    ("ROW<v VARIANT>", [{"v": 1}, {"v": "x"}]),
    ("ARRAY<VARIANT>", [[1, "x"], [{"a": None}]]),
    ("DOUBLE", [1, 1.5, Decimal(2), None]),
]


@pytest.mark.parametrize("form", ["rows", "columns", "pandas"])
@pytest.mark.parametrize(("kind", "values"), PYTHON_VALUES, ids=[kind for kind, _ in PYTHON_VALUES])
def test_python_values_are_stored_as_without_merge_schema(
    kind: str, values: list[object], form: str
) -> None:
    plain, merged = append_table(columns(id=pa.int32())), append_table(columns(id=pa.int32()))
    for table in (plain, merged):
        table.add_column("v", kind)
    rows = [{"id": number, "v": value} for number, value in enumerate(values)]
    given = {"id": [row["id"] for row in rows], "v": values}
    frame = pd.DataFrame({"id": given["id"], "v": pd.Series(values, dtype=object)})
    plain.append(rows)
    merged.append({"rows": rows, "columns": given, "pandas": frame}[form], merge_schema=True)  # type: ignore[arg-type]  # forms of rows
    assert merged.to_arrow()["v"].to_pylist() == plain.to_arrow()["v"].to_pylist()
    assert type_of(merged) == type_of(plain)


def test_fields_are_added_beside_maps_of_python_values() -> None:
    table = append_table(columns(id=pa.int32()))
    table.add_column("v", "ARRAY<ROW<m MAP<STRING, INT>>>")
    row = {"id": 2**40, "v": [{"m": [("k", 1)], "new": "x"}]}
    table.append([row], merge_schema=True)
    assert type_of(table) == "ARRAY<ROW<`m` MAP<STRING, INT>, `new` STRING>>"
    assert table.to_arrow().to_pylist() == [row]


@pytest.mark.parametrize("value", [None, [], [None], {}, {"a": None}])
def test_a_new_column_without_values_is_an_error_that_names_it(value: object) -> None:
    table = append_table(columns(id=pa.int32()))
    with pytest.raises(InvalidInputError, match="The new column 'v' contains no values"):
        table.append([{"id": 1, "v": value}], merge_schema=True)


def test_columns_that_differ_by_case_only_are_not_added() -> None:
    rows = pa.struct([("x", pa.int32())])
    table = append_table(pa.schema({"v": pa.int32(), "r": rows}))
    for row in ({"V": 1}, {"r": {"X": 1}}):
        with pytest.raises(InvalidInputError, match=r"differs from '[vx]' by case only"):
            table.append([row], merge_schema=True)
    assert table.schema.row_type.names == ("v", "r")
    table.add_column("V", "INT")
    table.append([{"V": 1, "w": 2}], merge_schema=True)
    assert table.to_arrow().to_pylist() == [{"v": None, "r": None, "V": 1, "w": 2}]
