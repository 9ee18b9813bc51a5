"""A table on a store that answers each request 200 ms late: how many requests, how many in a row.

Round trips are the time on the wall divided by the delay: requests that are sent at the same time
count once.
"""

from benchmarks.case import Case, Goal, at_most

_DELAY_MS = 200


def _case(work: str, title: str, *goals: Goal, is_first: bool = False) -> Case:
    return Case(
        id=f"far-{work}{'-first' if is_first else ''}",
        title=f"store 200 ms away: {title}",
        operation="far",
        parameters={"work": work, "delay_ms": _DELAY_MS, "is_first": is_first},
        units=1,
        unit="runs",
        contenders=("ours",),
        goals=goals,
    )


CASES = (
    _case("plan", "open and plan", at_most(6, "requests"), at_most(5, "round_trips")),
    _case(
        "read",
        "merged read, 96 files in 16 splits",
        at_most(110, "requests"),
        at_most(0, "HEAD_requests"),
        at_most(8, "round_trips"),
    ),
    _case("partition", "read 1 of 8 partitions", at_most(18, "requests")),
    _case("upsert", "upsert of 10 rows", at_most(18, "requests"), at_most(9, "round_trips")),
    _case("explorer", "first answer of the explorer", at_most(12, "requests")),
    _case("plan", "open and plan, new process", is_first=True),
    _case("read", "merged read, 96 files in 16 splits, new process", is_first=True),
)
