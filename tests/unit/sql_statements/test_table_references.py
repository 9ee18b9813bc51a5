"""The tables of a query: which they are, where they stand, and what is said of them."""

import pyarrow as pa
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.schema_validation import new_schema
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.sql_statements.commands.dml_statements import requalified
from paimon_explore.sql_statements.query_pushdown import usable_where, wanted_columns
from paimon_explore.sql_statements.table_references import Reference, references_of
from paimon_explore.sql_statements.tokenizer import tokens_of


def names(text: str) -> list[str]:
    return [".".join(found.parts) for found in references_of(text)]


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT * FROM db.t", ["db.t"]),
        ("SELECT * FROM a, db.b x JOIN `c d`.e ON true", ["a", "db.b", "c d.e"]),
        ("SELECT * FROM db.t$files", ["db.t$files"]),
        ("SELECT * FROM db.t$branch_b$files f", ["db.t$branch_b$files"]),
        ("WITH c AS (SELECT * FROM db.t) SELECT * FROM c", ["db.t"]),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
        ("SELECT (SELECT max(a) FROM x) FROM y WHERE b IN (SELECT c FROM z)", ["x", "y", "z"]),
        ("SELECT * FROM range(10) r JOIN db.t USING (id)", ["db.t"]),
        ("FROM db.t SELECT a", ["db.t"]),
        ("TABLE db.t", ["db.t"]),
        ("SELECT * FROM t LATERAL VIEW explode(t.x) e AS y", ["t"]),
        ("SELECT a FROM t UNION ALL SELECT b FROM u", ["t", "u"]),
        ("SELECT 'FROM x' AS a -- FROM y", []),
    ],
)
def test_tables_are_found_and_nothing_else(text: str, tables: list[str]) -> None:
    assert sorted(names(text)) == sorted(tables)


@pytest.mark.parametrize(
    ("clause", "version", "timestamp"),
    [
        ("VERSION AS OF 3", "3", None),
        ("FOR VERSION AS OF 'v1'", "'v1'", None),
        ("VERSION AS OF 'a''b'", "'a''b'", None),
        ("VERSION AS OF 'a' 'b'", "'a' 'b'", None),
        ("FOR SYSTEM_VERSION AS OF 3", "3", None),
        ("TIMESTAMP AS OF '2026-01-01'", None, "'2026-01-01'"),
        ("FOR SYSTEM_TIME AS OF timestamp '2026-01-01'", None, "timestamp '2026-01-01'"),
        (
            "TIMESTAMP AS OF date_sub(current_date(), 1) - INTERVAL 1 HOUR",
            None,
            "date_sub(current_date(), 1) - INTERVAL 1 HOUR",
        ),
    ],
)
@pytest.mark.parametrize("behind", ["", " x", " AS x WHERE x.a = 1", " TABLESAMPLE (3 ROWS) x"])
def test_points_in_time_are_read_and_end_where_they_end(
    clause: str, version: str | None, timestamp: str | None, behind: str
) -> None:
    text = f"SELECT * FROM db.t {clause}{behind}"  # noqa: S608 - no query is run
    (found,) = references_of(text)
    assert (found.version, found.timestamp) == (version, timestamp)
    assert text[found.end :] == behind


def test_options_and_table_functions_are_read() -> None:
    (found,) = references_of("SELECT * FROM t WITH ('scan.snapshot-id' = 2, a.b = 'c') x")
    assert found.options == {"scan.snapshot-id": "2", "a.b": "c"}
    (function,) = references_of("SELECT * FROM paimon_incremental_query('db.t', 1, 3) q")
    assert function.arguments == ("'db.t'", "1", "3")


def test_a_point_in_time_that_is_missing_is_said() -> None:
    with pytest.raises(InvalidInputError, match="expected a snapshot id"):
        references_of("SELECT * FROM t VERSION AS OF")


COLUMNS: list[tuple[str, pa.DataType]] = [
    ("id", pa.int64()),
    ("name", pa.string()),
    ("day", pa.date32()),
    ("x", pa.float64()),
    ("flag", pa.bool_()),
]
SCHEMA: TableSchema = new_schema(pa.schema(COLUMNS))


def first(text: str) -> Reference:
    return references_of(text)[0]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("SELECT 1 FROM t WHERE id = 3", "id = 3"),
        ("SELECT 1 FROM t WHERE 3 < id AND x > 1.5", "id > 3 AND x > 1.5e0"),
        ("SELECT 1 FROM t a WHERE a.id IN (1, -2) AND name = 'q'", "id IN (1, -2) AND name = 'q'"),
        (
            "SELECT 1 FROM t WHERE day BETWEEN '2026-01-01' AND DATE '2026-02-01'",
            "day >= DATE '2026-01-01' AND day <= DATE '2026-02-01'",
        ),
        ("SELECT 1 FROM t WHERE (id = 1 OR name IS NULL)", "id = 1 OR name IS NULL"),
        ("SELECT 1 FROM t WHERE id = 1 OR x > 1", "id = 1 OR x > 1.0e0"),
        ("SELECT 1 FROM t WHERE name = 5", None),
        ("SELECT 1 FROM t WHERE id = '5'", None),
        ("SELECT 1 FROM t WHERE day = '2026-1-1'", None),
        ("SELECT 1 FROM t WHERE name LIKE 'a%b_'", "name LIKE 'a%'"),
        ("SELECT 1 FROM t WHERE name NOT LIKE 'a%' OR id = 1", None),
        ("SELECT 1 FROM t WHERE id = 1 OR name LIKE '%a'", None),
        ("SELECT 1 FROM t WHERE id <> 3", None),
        ("SELECT 1 FROM t JOIN u ON t.id = u.id WHERE id = 3", None),
        ("SELECT 1 FROM t JOIN u ON t.id = u.id WHERE t.id = 3", "id = 3"),
        ("SELECT 1 FROM t LEFT JOIN u ON t.id = u.id WHERE t.id = 3", "id = 3"),
        ("SELECT 1 FROM t RIGHT JOIN u ON t.id = u.id WHERE t.id = 3", None),
        ("SELECT 1 FROM t FULL JOIN u ON t.id = u.id WHERE t.id IS NULL", None),
        ("SELECT count(*) FROM t GROUP BY id HAVING id = 3", "id = 3"),
        ("SELECT 1 FROM t WHERE id IN (SELECT 1)", None),
        ("SELECT 1 FROM t WHERE NOT (id = 3)", None),
        ("SELECT 1 FROM t JOIN u ON t.id = u.id AND t.id = 3", "id = 3"),
        ("SELECT 1 FROM t LEFT JOIN u ON t.id = u.id AND t.id = 3", None),
        ("SELECT 1 FROM t LEFT JOIN u ON true JOIN v ON t.id = 3", "id = 3"),
        ("SELECT 1 FROM t ASOF JOIN u ON t.id >= u.id AND t.id = 3", None),
        ("SELECT 1 FROM t PIVOT (sum(x) FOR id IN (1 AS id)) WHERE id = 3", None),
        ("SELECT 1 FROM t TABLESAMPLE (5 ROWS) WHERE id = 3", None),
        ("SELECT 1 FROM (SELECT * FROM t) WHERE id = 3", "id = 3"),
        ("SELECT 1 FROM (SELECT t.*, x + 1 AS y FROM t) q WHERE q.id = 3 AND y = 1", "id = 3"),
        (
            "SELECT 1 FROM (SELECT id AS name, name AS id FROM t WHERE x > 1) WHERE id = 'a'",
            "x > 1.0e0 AND name = 'a'",
        ),
        ("SELECT 1 FROM (SELECT id + 1 AS id FROM t) WHERE id = 3", None),
        ("SELECT 1 FROM (SELECT * FROM t LIMIT 5) WHERE id = 3", None),
        ("SELECT 1 FROM (SELECT * FROM t) q (a, id) WHERE id = 3", None),
        ("SELECT 1 FROM (SELECT DISTINCT id FROM t ORDER BY 1) WHERE id = 3", "id = 3"),
        (
            "SELECT 1 FROM (SELECT id, max(x) AS x FROM t GROUP BY 1) WHERE id = 3 AND x = 1",
            "id = 3",
        ),
        ("SELECT 1 FROM (SELECT id, max(x) FROM t GROUP BY id WITH ROLLUP) WHERE id = 3", None),
        ("SELECT 1 FROM (SELECT max(id) AS id FROM t) WHERE id = 3", None),
        (
            "SELECT id FROM t GROUP BY id, x HAVING id = 3 AND x > 1 AND max(x) > 2",
            "id = 3 AND x > 1.0e0",
        ),
        ("SELECT 2 * id AS id FROM t GROUP BY id HAVING id = 3", None),
        (
            "SELECT 1 FROM (SELECT *, sum(x) OVER (PARTITION BY id) FROM t) WHERE id = 3 AND x = 1",
            "id = 3",
        ),
        ("WITH q AS (SELECT id AS a FROM t) SELECT 1 FROM u JOIN q ON q.a = 3", "id = 3"),
        ("WITH q AS (SELECT id FROM t) SELECT 1 FROM q WHERE id = 3 UNION SELECT 1 FROM q", None),
        (
            "WITH q AS (SELECT * FROM t), r AS (SELECT * FROM q) SELECT 1 FROM r WHERE id = 3",
            "id = 3",
        ),
        ("SELECT 1 FROM (SELECT id, x FROM t UNION ALL SELECT 1, 2) WHERE id = 3", "id = 3"),
        ("SELECT 1 FROM (SELECT id AS a, x FROM t EXCEPT SELECT 1, 2) WHERE a = 3", "id = 3"),
        ("SELECT 1 FROM (SELECT id FROM t UNION SELECT 1 LIMIT 2) WHERE id = 3", None),
    ],
)
def test_only_conditions_that_mean_the_same_here_leave_out_files(
    text: str, where: str | None
) -> None:
    term = usable_where(first(text).node, SCHEMA.row_type)
    assert (None if term is None else to_sql(term.expression)) == where


def test_the_outer_side_of_a_join_keeps_all_its_rows() -> None:
    found = references_of("SELECT 1 FROM u LEFT JOIN t ON t.id = u.id WHERE t.id IS NULL")
    table = next(one for one in found if one.parts == ("t",))
    assert usable_where(table.node, SCHEMA.row_type) is None
    found = references_of("SELECT 1 FROM u LEFT JOIN t ON t.id = u.id AND t.x > 1 WHERE t.id = 3")
    term = usable_where(found[1].node, SCHEMA.row_type)
    assert term is not None
    assert to_sql(term.expression) == "x > 1.0e0"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT id FROM t WHERE NAME = 'a'", ["id", "name"]),
        ("SELECT count(*) FROM t", ["flag"]),
        ("SELECT * FROM t", None),
        ("SELECT t.* FROM t", None),
        ("SELECT count(DISTINCT t.*) FROM t", None),
        ("SELECT a.x FROM (SELECT id, x FROM t) a", ["id", "x"]),
        ("SELECT id FROM t NATURAL JOIN u", None),
        ("SELECT * FROM t PIVOT (sum(x) FOR name IN ('a'))", None),
        ("TABLE t", None),
    ],
)
def test_columns_whose_names_the_query_does_not_hold_are_not_read(
    text: str, columns: list[str] | None
) -> None:
    assert wanted_columns(first(text), tokens_of(text), SCHEMA.row_type) == columns


def test_full_names_become_the_alias() -> None:
    assert requalified("db.t.a + x.db.t.a + t.a", ("db", "t"), "q") == "`q`.a + x.db.t.a + t.a"
    assert requalified("paimon.db.t.a", ("paimon", "db", "t"), "t") == "`t`.a"
