"""Commits of one row: how long, whether they become slower, and whether any is lost."""

from benchmarks.case import Answer, Case, at_most
from benchmarks.data.tables import count_rows, new_commit_table

_SERIES, _LONG = 500, 5_000
_PROCESSES, _EACH = 8, 25


def _rows(warehouse: str, table: str, answer: Answer) -> Answer:
    return {**answer, "check": {**answer["check"], "rows": count_rows(warehouse, table)}}


def _lost(warehouse: str, table: str, answer: Answer) -> Answer:
    figures = answer["figures"]
    lost = figures["done"] - count_rows(warehouse, table)
    return {**answer, "figures": {**figures, "lost": lost}}


CASES = (
    Case(
        id="commit-series",
        title=f"{_SERIES} commits of one row",
        operation="commit_series",
        parameters={"count": _SERIES},
        units=_SERIES,
        unit="commits",
        contenders=("ours", "rust", "pypaimon"),
        goals=(at_most(1.5, "cpu_ms_last", " ms"), at_most(1.2, "last_per_first")),
        rounds=0,
        new_table=new_commit_table,
        verify=_rows,
    ),
    Case(
        id="commit-long-series",
        title=f"{_LONG:,} commits of one row",
        operation="commit_series",
        parameters={"count": _LONG},
        units=_LONG,
        unit="commits",
        contenders=("ours",),
        goals=(at_most(1.2, "last_per_first"),),
        rounds=0,
        new_table=new_commit_table,
        verify=_rows,
    ),
    Case(
        id="commit-race",
        title=f"{_PROCESSES} processes with {_EACH} commits each",
        operation="commit_race",
        parameters={"processes": _PROCESSES, "each": _EACH},
        units=_PROCESSES * _EACH,
        unit="commits",
        goals=(at_most(0, "lost"), at_most(0, "raised"), at_most(4, "seconds", " s")),
        rounds=0,
        new_table=new_commit_table,
        verify=_lost,
    ),
)
