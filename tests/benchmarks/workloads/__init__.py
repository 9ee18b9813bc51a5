"""What is measured: one module per group, each with its `CASES`."""

from collections.abc import Mapping

from benchmarks.case import Case
from benchmarks.workloads import (
    commits,
    far,
    merging,
    planning,
    reading,
    shapes,
    sql,
    starting,
    writing,
)

GROUPS: Mapping[str, tuple[Case, ...]] = {
    "plan": planning.CASES,
    "commit": commits.CASES,
    "start": starting.CASES,
    "merge": merging.CASES,
    "read": reading.CASES,
    "write": writing.CASES,
    "shapes": shapes.CASES,
    "far": far.CASES,
    "sql": sql.CASES,
}
