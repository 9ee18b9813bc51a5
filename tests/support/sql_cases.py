"""Statements of SQL with the rows that Spark returned, which every engine must return.

`spark_rows.json` beside the tests of SQL without Spark has groups of `[statement, rows]`, which run
in order after `setup`; rows are null for an error, and empty for changes. `different` has the
statements that give other results without Spark, by the reason.
"""

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.depth import some

_CHANGES = ("INSERT", "UPDATE", "DELETE", "MERGE")
"""Statements that return the id of a snapshot, which compactions change."""
_KEPT = (
    *("time travel and system tables", "changes", "definitions"),
    "statements as in Paimon's Spark connector",
)
"""Groups which test more than the engine's own functions, or whose statements need those before."""
CASES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "unit" / "sql_statements" / "spark_rows.json").read_bytes()
)


def other_results(
    run: Callable[[str], pa.Table], errors: tuple[type[Exception], ...], stride: int = 1
) -> dict[str, object]:
    """Run the statements; return what differs from the recorded rows, by statement.

    Args:
        run: the engine.
        errors: what it raises for a statement that fails.
        stride: one of so many queries is run, and in a deep run all; changes always are.
    """
    for text in CASES["setup"]:
        run(text)
    found: dict[str, object] = {}
    groups = CASES["groups"].items()
    chosen = (one for name, group in groups for one in some(group, 1 if name in _KEPT else stride))
    for text, expected in chosen:
        try:
            rows: object = shown(run(text))
            rows = [] if text.startswith(_CHANGES) else rows
        except errors:
            rows = None
        if rows != expected:
            found[text] = rows
    return found


def shown(table: pa.Table) -> list[list[object]]:
    """Return rows in a form of JSON that is the same for equal values."""
    columns = [column.to_pylist() for column in table.columns]
    return [[_shown(value) for value in row] for row in zip(*columns, strict=True)]


def _shown(value: object) -> object:  # noqa: PLR0911 - one for each type
    match value:
        case float():
            return f"{value:.12g}" if math.isfinite(value) else str(value)
        case Decimal():
            return format(value.normalize(), "f") if value else "0"
        case datetime():
            return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        case date() | timedelta():
            return str(value)
        case bytes():
            return f"X{value.hex()}"
        case dict():
            return [[key, _shown(one)] for key, one in value.items()]
        case list() | tuple():
            return [_shown(one) for one in value]
        case _:
            return value
