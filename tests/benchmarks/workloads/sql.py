"""SQL: `catalog.sql` beside the SQL context of pypaimon-rust, on tables that stay open.

Simple questions to 3M rows, and the 22 queries of TPC-H at scale 1; each to append tables and to
primary-key tables of 4 overlapping runs.
"""

from pathlib import Path

from benchmarks.case import Case, Goal, times
from benchmarks.data import tpch

_ROWS = 3_000_000
_CONTENDERS = ("ours", "rust")
_APPEND, _KEYS = "plain_3m", "keyed_dense_3m"


_TPCH = (
    Path(tpch.__file__).with_suffix(".sql").read_text(encoding="utf-8").rstrip(";\n").split(";\n")
)


def _query(
    name: str, title: str, query: str, table: str, goals: tuple[Goal, ...], *, ordered: bool = False
) -> Case:
    return Case(
        id=f"sql-{name}",
        title=f"SQL: {title}",
        operation="sql",
        parameters={"query": query.format(table=table), "ordered": ordered},
        units=_ROWS,
        unit="rows",
        tables=(table,),
        contenders=_CONTENDERS,
        goals=goals,
    )


def _simple(name: str, title: str, append: str, keys: str, *, ordered: bool = False) -> list[Case]:
    """The same question to an append table and to a primary-key table of 4 overlapping runs."""
    return [
        _query(
            f"append-{name}",
            f"{title}, append, 3M rows",
            append,
            _APPEND,
            (times(1.2),),
            ordered=ordered,
        ),
        _query(
            f"keys-{name}",
            f"{title}, primary keys, 3M rows",
            keys,
            _KEYS,
            (times(2),),
            ordered=ordered,
        ),
    ]


def _tpch(number: int, query: str, kind: str, goal: float) -> Case:
    table = f"tpch_1_{kind}"
    return Case(
        id=f"sql-tpch-{number}-{kind}",
        title=f"SQL: TPC-H query {number}, scale 1, {kind}",
        operation="sql",
        parameters={"query": query, "ordered": False, "database": table},
        units=1,
        unit="queries",
        tables=(table,),
        contenders=_CONTENDERS,
        goals=(times(goal),),
        rounds=3,
    )


CASES = (
    *_simple(
        "grouped",
        "sums of 1,000 groups",
        "SELECT s1, sum(u) AS total, count(*) AS n FROM {table} GROUP BY s1",
        "SELECT s1, sum(v1) AS total, count(*) AS n FROM {table} GROUP BY s1",
    ),
    *_simple(
        "filtered",
        "sum of 10 % of the rows",
        "SELECT sum(u) AS total FROM {table} WHERE i1 < 100",
        "SELECT sum(v1) AS total FROM {table} WHERE v2 < 100",
    ),
    *_simple(
        "top",
        "first 10 rows of an order",
        "SELECT id, u, s2 FROM {table} ORDER BY u DESC LIMIT 10",
        "SELECT k, v1, s2 FROM {table} ORDER BY v1 DESC LIMIT 10",
        ordered=True,
    ),
    *_simple(
        "count",
        "count(*)",
        "SELECT count(*) AS n FROM {table}",
        "SELECT count(*) AS n FROM {table}",
    ),
    *_simple(
        "one",
        "one row",
        "SELECT * FROM {table} WHERE id = 1234567",
        "SELECT * FROM {table} WHERE k = 1234567",
    ),
    *(
        Case(
            id=f"sql-start-{table.replace('_', '-')}",
            title=f"SQL: new process to the first 5 rows, {what}",
            operation="first_row",
            parameters={"query": f"SELECT * FROM db.{table} LIMIT 5"},  # noqa: S608 - ours
            units=1,
            unit="starts",
            tables=(table,),
            contenders=_CONTENDERS,
            fresh=True,
        )
        for table, what in ((_KEYS, "primary keys"), (_APPEND, "append"))
    ),
    *(
        _tpch(number, query, kind, goal)
        for kind, goal in (("append", 0.8), ("keys", 1))
        for number, query in enumerate(_TPCH, 1)
    ),
)
