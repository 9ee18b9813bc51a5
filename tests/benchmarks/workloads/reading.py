"""Reads of append tables."""

from benchmarks.case import Case, Goal, Json, times

_RANGE = ("ts", 500_000, 509_999)
_TWO = ("id", "u")
_ROWS = 10_000_000


def _read(
    name: str, title: str, where: dict[str, Json], goals: tuple[Goal, ...], table: str = "plain_10m"
) -> Case:
    return Case(
        id=f"read-{name}",
        title=title,
        operation="read",
        parameters={"table": table, "add_up": "u", **where},
        units=_ROWS,
        unit="rows",
        tables=(table,),
        contenders=("ours", "rust", "limit"),
        goals=goals,
    )


def _filtered(table: str, what: str, least: float) -> Case:
    return _read(
        f"range-{table.replace('_', '-')}",
        f"1 % of 10M rows, {what}",
        {"columns": _TWO, "between": _RANGE},
        (times(least),),
        table,
    )


CASES = (
    _read("columns", "2 of 10 columns, 10M rows", {"columns": _TWO}, (times(0.95, "limit"),)),
    _read("full", "10 columns, 10M rows", {}, (times(0.95, "limit"),)),
    _filtered("plain_10m_paged", "page index, one row group per file", 1),
    _filtered("plain_10m_whole", "no index, one row group per file", 1.2),
    _filtered("plain_10m_small", "row groups of 64k rows", 1.8),
)
