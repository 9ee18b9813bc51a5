"""Rows that a file index leaves."""

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.file_index.container import encode_container
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings
from paimon_explore.errors import CorruptFileError
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.sql_parser import parse_where
from paimon_explore.scan.pruning.file_index_filter import IndexedRows, indexed_rows
from support.predicates import row_type_of

ROW_TYPE = row_type_of({"a": "INT", "s": "STRING", "d": "DOUBLE", "flag": "BOOLEAN"})
COLUMNS: dict[str, Column] = {
    "a": pa.array([1, 2, None, 3, 1], pa.int32()),
    "s": pa.array(["x", "y", "x", None, "z"]),
    "flag": pa.array([True, False, None, True, False]),
}
KINDS = {"a": "range-bitmap", "s": "bitmap", "flag": "bitmap"}


def index(kinds: dict[str, str]) -> bytes:
    parts = []
    for name, kind in kinds.items():
        field = ROW_TYPE.field(name)
        assert field is not None
        builder = IndexBuilder(kind, field.type, IndexSettings(items=10))
        builder.add(COLUMNS[name])
        parts.append((name, kind, builder.encode()))
    return encode_container(parts)


def rows(where: str, kinds: dict[str, str] = KINDS) -> list[int] | None:
    found = indexed_rows(bind(parse_where(where), ROW_TYPE), index(kinds), ROW_TYPE, 5)
    assert found.skip is (found.positions is not None and not found.positions)
    return None if found.positions is None else list(found.positions)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a = 1", [0, 4]),
        ("a <=> 1", [0, 4]),
        ("a > 1", [1, 3]),
        ("NOT a > 1", [0, 4]),
        ("NOT a <=> 1", None),
        ("a IN (2, 3, 9)", [1, 3]),
        ("a NOT IN (2, 3)", [0, 4]),
        ("a NOT IN (2, NULL)", []),
        ("a IS NULL", [2]),
        ("a IS NOT NULL", [0, 1, 3, 4]),
        ("s = 'x' AND a = 1", [0]),
        ("s = 'x' OR a = 3", [0, 2, 3]),
        ("NOT (s = 'x' OR a = 3)", [1, 4]),
        ("NOT (s = 'x' AND a = 1)", [1, 3, 4]),
        ("s > 'x'", None),
        ("s > 'x' AND a = 2", [1]),
        ("s > 'x' OR a = 2", None),
        ("s LIKE 'x%'", None),
        ("s = 'q'", []),
        ("(a = 1) IS TRUE", [0, 4]),
        ("(a = 1) IS NOT TRUE", None),
        ("flag", [0, 3]),
        ("NOT flag", [1, 4]),
        ("d = 1", None),
        ("a = 1 AND NULL", []),
        ("a < 100", [0, 1, 3, 4]),
    ],
)
def test_an_index_leaves_the_rows_that_may_match(where: str, expected: list[int] | None) -> None:
    assert rows(where) == expected


def test_a_bloom_filter_only_skips() -> None:
    assert rows("a = 2", {"a": "bloom-filter"}) is None
    assert rows("a = 77", {"a": "bloom-filter"}) == []


def test_all_rows_are_no_selection() -> None:
    assert rows("s IS NULL OR s IS NOT NULL", {"s": "bitmap"}) is None


def test_a_renamed_column_is_found_by_its_name_in_the_file() -> None:
    renamed = row_type_of({"new": "INT"})
    expr = bind(parse_where("new = 2"), renamed)
    found = indexed_rows(expr, index({"a": "bitmap"}), renamed, 5, {"new": "a"})
    assert found.positions is not None
    assert list(found.positions) == [1]
    assert indexed_rows(expr, index({"a": "bitmap"}), renamed, 5) == IndexedRows(
        skip=False, positions=None
    )


def test_an_index_without_values_tells_that_all_is_null() -> None:
    data = encode_container([("a", "bitmap", None)])
    expr = bind(parse_where("a = 2"), ROW_TYPE)
    assert indexed_rows(expr, data, ROW_TYPE, 5).skip
    assert not indexed_rows(bind(parse_where("a IS NULL"), ROW_TYPE), data, ROW_TYPE, 5).skip


def test_an_index_of_an_unknown_kind_is_left_aside() -> None:
    data = encode_container([("a", "crystal-ball", b"?")])
    expr = bind(parse_where("a = 2"), ROW_TYPE)
    assert indexed_rows(expr, data, ROW_TYPE, 5) == IndexedRows(skip=False, positions=None)


def test_a_container_of_a_later_version_is_left_aside() -> None:
    data = bytearray(index({"a": "bitmap"}))
    data[11] = 9
    expr = bind(parse_where("a = 2"), ROW_TYPE)
    assert not indexed_rows(expr, bytes(data), ROW_TYPE, 5).skip


def test_a_damaged_container_is_an_error_that_names_the_file() -> None:
    expr = bind(parse_where("a = 2"), ROW_TYPE)
    with pytest.raises(CorruptFileError, match=r"x\.index"):
        indexed_rows(expr, b"nonsense nonsense", ROW_TYPE, 5, path="x.index")
