"""`size`, `array_contains`, `element_at`, `l[i]`, `m[k]` and IS NAN in conditions.

The expected rows are those of Spark 4, in which `get(l, i)` and `try_element_at` stand for an index
that may be out of range.
"""

from datetime import date

import pytest

from paimon_explore import Table, col, expr
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where
from support.small_tables import new_catalog

COLUMNS = {
    "id": "INT",
    "l": "ARRAY<INT>",
    "d": "ARRAY<DOUBLE>",
    "m": "MAP<STRING, INT>",
    "days": "MAP<DATE, STRING>",
    "s": "ROW<l ARRAY<STRING>>",
    "n": "ARRAY<ARRAY<BIGINT>>",
    "x": "DOUBLE",
}
NAN = float("nan")
ROWS: list[dict[str, object]] = [
    {
        "id": 1,
        "l": [1, 2, 3],
        "d": [NAN, 0.5],
        "m": {"k": 1, "none": None},
        "days": {date(2026, 1, 31): "a%"},
        "s": {"l": ["a", "b"]},
        "n": [[7], [8, 9]],
        "x": NAN,
    },
    {"id": 2, "l": [2, None], "d": [], "m": {}, "days": {}, "s": {"l": []}, "n": [[]], "x": 1.5},
    {"id": 3, "l": [], "d": [None], "s": {"l": None}, "n": [None, [5]], "x": -0.0},
    {"id": 4, "m": {"k": 5, "x": 4}, "s": None},
]
CASES: dict[str, list[int]] = {
    "x IS NAN": [1],
    "x IS NOT NAN": [2, 3, 4],
    "size(l) = 3": [1],
    "cardinality(l) < 3": [2, 3],
    "size(l) IS NULL": [4],
    "size(m) IN (0, 2)": [1, 2, 4],
    "cardinality(m) IS NULL": [3],
    "size(NULL) IS NULL": [1, 2, 3, 4],
    "size(n) > size(l)": [3],
    "array_contains(l, 2)": [1, 2],
    "array_contains(l, 3)": [1],
    "NOT array_contains(l, 3)": [3],
    "array_contains(l, 3) IS NULL": [2, 4],
    "array_contains(l, 3.5) IS NOT TRUE": [1, 2, 3, 4],
    "array_contains(l, 3000000000) IS FALSE": [1, 3],
    "array_contains(l, id)": [1, 2],
    "array_contains(l, NULL) IS NULL": [1, 2, 3, 4],
    "array_contains(d, CAST('NaN' AS DOUBLE))": [1],
    "array_contains(d, 0.5) IS FALSE": [2],
    "array_contains(s.l, 'b')": [1],
    "array_contains(n[1], 9)": [1],
    "l[0] = 1": [1],
    "2 <= l[0]": [2],
    "l[id] IS NULL": [2, 3, 4],
    "l[-1] IS NOT NULL": [],
    "l[3] IS NULL": [1, 2, 3, 4],
    "l[1] IS NULL": [2, 3, 4],
    "l[0] + l[1] BETWEEN 3 AND 3": [1],
    "l[0] IN (2, 5)": [2],
    "l[NULL] IS NULL": [1, 2, 3, 4],
    "coalesce(l[2], 0) = 0": [2, 3, 4],
    "element_at(l, 1) = 2": [2],
    "element_at(l, -1) = 3": [1],
    "element_at(l, -3) IS NOT NULL": [1],
    "element_at(l, -9223372036854775808) IS NULL": [1, 2, 3, 4],
    "element_at(l, id - 1) = 2": [2],
    "m['k'] = 1": [1],
    "m['k'] > l[0]": [],
    "m['k'] IS NULL": [2, 3],
    "m['none'] IS NULL": [1, 2, 3, 4],
    "m['K'] IS NULL": [1, 2, 3, 4],
    "element_at(m, 'x') = 4": [4],
    "element_at(m, s.l[0]) IS NULL": [1, 2, 3, 4],
    "NOT m['k'] = 1": [4],
    "m['k'] = 1 OR l[0] = 2": [1, 2],
    "days['2026-01-31'] LIKE 'a\\%'": [1],
    "days[DATE '2026-02-01'] LIKE '%'": [],
    "s.l[0] = 'a'": [1],
    "s.l[0] || s.l[1] = 'ab'": [1],
    "n[1][1] = 9": [1],
    "n[1] IS NULL": [2, 4],
    "n[0][0] <=> NULL": [2, 3, 4],
}
KEYED = {"bucket": "2", "deletion-vectors.enabled": "true"}


def made(name: str, *, file_format: str, options: dict[str, str]) -> Table:
    """A table with a file a row; a primary key if there are options for one."""
    key = ["id"] if options else []
    table = new_catalog().create_table(
        f"db.{name}", COLUMNS, primary_key=key, options={"file.format": file_format, **options}
    )
    for row in ROWS:
        if key:
            table.upsert([{"id": row["id"], "l": [99], "m": {"k": 1}, "x": NAN}])
        table.upsert([row]) if key else table.append([row])
    return table


@pytest.fixture(scope="module", params=["parquet", "orc", "avro"])
def tables(request: pytest.FixtureRequest) -> list[Table]:
    """Tables of a file a row, of one file, and with a primary key."""
    whole = new_catalog().create_table("db.t", COLUMNS, options={"file.format": request.param})
    whole.append(ROWS)
    kinds: list[dict[str, str]] = [{}, {"bucket": "1"}, KEYED]
    return [whole, *(made("t", file_format=request.param, options=one) for one in kinds)]


@pytest.mark.parametrize("where", CASES)
def test_a_condition_selects_the_rows_of_spark(tables: list[Table], where: str) -> None:
    for table in tables:
        found = table.scan(["id"], where).to_arrow().sort_by("id")
        assert found["id"].to_pylist() == CASES[where]


@pytest.mark.parametrize("where", CASES)
def test_the_text_of_a_condition_is_the_same_condition(where: str) -> None:
    condition = parse_where(where)
    assert parse_where(to_sql(condition)) == condition


def test_no_file_is_skipped_for_statistics_of_an_array_or_map(tables: list[Table]) -> None:
    for where in ("m['k'] IS NULL", "NOT array_contains(l, 3)", "l[0] = 1", "size(l) > 5"):
        splits = tables[1].scan(where=where).plan().splits
        assert sum(len(split.files) for split in splits) == len(ROWS)
        assert str(tables[1].scan(where=where).explain())


def test_subscripts_of_python_are_those_of_sql() -> None:
    assert (col("l")[0] == 1).expression == parse_where("l[0] = 1")
    assert (col("m")["k"] > col("l")[col("id")]).expression == parse_where("m['k'] > l[id]")
    assert (expr("n[0]")[1] == 1).expression == parse_where("n[0][1] = 1")
    assert to_sql(((col("a") + 1)[0] == 1).expression) == "(a + 1)[0] = 1"
    with pytest.raises(TypeError):
        list(col("l"))  # type: ignore[call-overload]  # as mypy finds


def test_rows_are_updated_and_deleted_by_elements() -> None:
    table = new_catalog().create_table("db.t", COLUMNS)
    table.append(ROWS)
    table.update({"x": expr("l[1] + element_at(m, 'k')")}, where="array_contains(l, 3)")
    table.delete("m['k'] = 5")
    rows = table.scan(["id", "x"]).to_arrow().sort_by("id").to_pylist()
    assert rows == [{"id": 1, "x": 3.0}, {"id": 2, "x": 1.5}, {"id": 3, "x": 0.0}]


@pytest.mark.parametrize(
    ("where", "rule"),
    [
        ("element_at(l, 0) = 1", "counts the elements of an array from 1"),
        ("array_contains(id, 1)", "array_contains takes an ARRAY"),
        ("array_contains(l, 'a')", "does not accept arguments of type ARRAY<INT>, STRING"),
        ("array_contains(n, 1)", "does not accept arguments of type ARRAY<ARRAY<BIGINT>>"),
        ("array_contains(l)", "takes 2 arguments, but 1 was given"),
        ("array_contain(l, 1)", r"(?s)\(column 1\).*Did you mean 'array_contains'"),
        ("size(id) = 1", "size takes an ARRAY or a MAP"),
        ("l['a'] = 1", r"Operator \[\] does not accept arguments of type ARRAY<INT>, STRING"),
        ("l[1.5] = 1", "an ARRAY and an integer, or a MAP and a key"),
        ("m[1] = 1", "does not accept arguments of type MAP<STRING, INT>, BIGINT"),
        ("id[0] = 1", r"\[ \] takes an ARRAY"),
        ('m["k"] = 1', "There is no column 'k'.*Strings are written in single quotes"),
        ("m['k'] = 'a'", "'a' cannot be compared with INT"),
        ("n[0] = 1", "1 cannot be compared with ARRAY<BIGINT>"),
        ("l[0] LIKE 'a'", "LIKE needs a STRING"),
        ("l = 1", "cannot be compared with ARRAY<INT>"),
        ("m['k'].f = 1", r"(?s)\(column 7\).*fields of elements are not supported"),
        ("l[0 = 1", "'\\]' is expected here|cannot be compared"),
        ("l[] = 1", r"\(column 3\): a column, a constant"),
        ("(id > 1)[0]", "a condition cannot be compared with a value"),
        ("x IS NAN NAN", "AND, OR or the end"),
        ("l IS NAN", "isnan does not accept arguments of type ARRAY<INT>"),
    ],
)
def test_a_wrong_use_is_refused(where: str, rule: str) -> None:
    table = new_catalog().create_table("db.t", COLUMNS)
    with pytest.raises(InvalidInputError, match=rule):
        table.scan(where=where).to_arrow()
