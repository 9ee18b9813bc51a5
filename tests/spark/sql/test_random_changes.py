"""Random changes of rows leave the same tables with and without Spark.

A deep run (`HYPOTHESIS_PROFILE=deep`) has more statements, and `SQL_SEED` other ones:

    SQL_SEED=7 HYPOTHESIS_PROFILE=deep pytest tests/spark/sql/test_random_changes.py
"""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.spark.sql_statement import sql
from support.depth import DEEP
from support.sql_cases import shown

_VALUES = {
    "n": ("NULL", "0", "7", "-1"),
    "s": ("NULL", "''", "'a'", "'b '", "concat('x', 'y')"),
    "c": ("NULL", "'ab'", "'x'", "'abcd  '"),
    "d": ("NULL", "1.5", "12.345", "-0.01"),
    "st": ("NULL", "named_struct('x', 1, 'y', 'q')", "named_struct('x', NULL, 'y', '')"),
    "a": ("NULL", "array()", "array(1, NULL)"),
}
_NEW = {"n": "n + 1", "s": "concat(s, 'q')", "c": "'y'", "d": "d + 1.005"}
_CONDITIONS = (
    *("{0}n > 0", "{0}c = 'ab'", "{0}c IN ('x', 'abcd')", "{0}s LIKE 'a%'", "{0}st.x = 1"),
    *("{0}d <= 1.5", "array_contains({0}a, 1)", "{0}s IS NULL", "{0}id % 2 = 1", "NOT {0}n = 7"),
)
_KINDS = (
    *("", "'primary-key' = 'id', 'bucket' = '2'", "'deletion-vectors.enabled' = 'true'"),
    "'bucket' = '2', 'bucket-key' = 'id'",
)


class _Changes:
    """Random statements."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - no secrets

    def statement(self, table: str) -> str:
        """Return a statement that changes rows of a table."""
        pick, names = self._random.choice, ", ".join(("id", *_VALUES))
        where = f"{self._condition()} {pick(('AND', 'OR'))} {self._condition()}"
        column = pick(list(_VALUES))
        old = pick(_VALUES[column])
        new = pick((old, _NEW.get(column, old)))
        source = f"(SELECT * FROM ({self._rows()}) AS v ({names})) AS s"  # noqa: S608 - constants
        both = f"MERGE INTO {table} AS t USING {source} ON t.id = s.id WHEN"
        set_new = f"SET {column} = {pick(('s.' + column, old))}"
        matched = f"{both} MATCHED AND {self._condition('t.')} THEN UPDATE {set_new}"
        whole = f"{both} MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE"
        return pick(
            (
                f"INSERT INTO {table} {self._rows()}",
                f"INSERT OVERWRITE {table} {self._rows()}",
                f"UPDATE {table} SET {column} = {new} WHERE {where}",  # noqa: S608 - constants
                f"DELETE FROM {table} WHERE {where}",  # noqa: S608 - constants
                f"{matched} WHEN NOT MATCHED AND {self._condition('s.')} THEN INSERT *",
                f"{whole} AND {self._condition('t.')} THEN DELETE",
            )
        )

    def _condition(self, prefix: str = "") -> str:
        return self._random.choice(_CONDITIONS).format(prefix)

    def _rows(self) -> str:
        ids = self._random.sample(range(1, 12), 4)
        rows = [[str(one), *map(self._random.choice, _VALUES.values())] for one in ids]
        return "VALUES " + ", ".join(f"({', '.join(row)})" for row in rows)


def test_random_changes_leave_the_tables_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    changes = _Changes(int(os.environ.get("SQL_SEED", "1")))
    with_spark, alone = (pe.Catalog(tmp_path / name) for name in ("spark", "alone"))
    tables = [f"d.t{at}" for at in range(len(_KINDS))]
    columns = "id INT, n INT, s STRING, c CHAR(4), d DECIMAL(6, 2), st STRUCT<x: INT, y: STRING>"
    for catalog in (with_spark, alone):
        catalog.create_database("d")
        for table, kind in zip(tables, _KINDS, strict=True):
            options = f" TBLPROPERTIES ({kind})" if kind else ""
            catalog.sql(f"CREATE TABLE {table} ({columns}, a ARRAY<INT>){options}")
    done = 0
    for number in range(200 if DEEP else 16):
        table = tables[number % len(tables)]
        text = changes.statement(table)
        ours = _succeeds(lambda text: sql(spark, text, catalog=with_spark), text)
        assert ours == _succeeds(alone.sql, text), text
        done += ours
        rows = [one.sql(f"SELECT * FROM {table}").to_arrow() for one in (with_spark, alone)]  # noqa: S608 - constants
        assert sorted(map(repr, shown(rows[0]))) == sorted(map(repr, shown(rows[1]))), text
    assert done > number // 2


def _succeeds(run: Callable[[str], object], text: str) -> bool:
    try:
        run(text)
    except (PySparkException, pe.PaimonError):
        return False
    return True
