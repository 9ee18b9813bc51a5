"""Writes with their commit."""

from benchmarks.case import Answer, Case, Goal, times
from benchmarks.data.tables import count_rows, new_append_table, new_keyed_table

_ROWS = 2_000_000


def _rows(warehouse: str, table: str, answer: Answer) -> Answer:
    return {**answer, "check": {**answer["check"], "rows": count_rows(warehouse, table)}}


def _write(kind: str, title: str, goals: tuple[Goal, ...]) -> Case:
    return Case(
        id=f"write-{kind}-2m",
        title=title,
        operation="write",
        parameters={"rows": "rows_2m.arrow"},
        units=_ROWS,
        unit="rows",
        tables=("rows_2m.arrow",),
        contenders=("ours", "rust", "pypaimon", "limit"),
        goals=goals,
        once=frozenset({"pypaimon"}),
        new_table=new_append_table if kind == "append" else new_keyed_table,
        verify=_rows,
    )


CASES = (
    _write("append", "append 2M rows", (times(0.95, "limit"),)),
    _write("keyed", "upsert 2M rows, 4 buckets", (times(1.3),)),
)
