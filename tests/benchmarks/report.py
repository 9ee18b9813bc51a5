"""Markdown out of the results' JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Results = Mapping[str, Mapping[str, Any]]


def report(results: Results) -> str:
    """All cases with all contenders."""
    parts = ["# Benchmarks", "", *_goals(results), ""]
    for name, case in results.items():
        parts += [f"## {name}: {case['title']}", "", *_details(case), ""]
    return "\n".join(parts)


def summary(results: Results) -> str:
    """A line per case: CPU time of every contender and time on the wall, as multiples of ours.

    Cases on a store far away tell requests and round trips instead.
    """
    peers = [
        name
        for name in ("rust", "pypaimon", "fastavro", "limit")
        if any(name == row["contender"] for case in results.values() for row in case["rows"])
    ]
    waits = [name for name in ("rust", "pypaimon") if name in peers]
    heads = [*peers, *(f"{name}, wall" for name in waits)]
    lines = [
        f"| workload | ours | {' | '.join(heads)} |",
        f"| --- | ---: |{' ---: |' * len(heads)}",
    ]
    for case in results.values():
        by_name = {row["contender"]: row for row in case["rows"]}
        ours = by_name.get("ours")
        if ours is None or "error" in ours or "seconds" in ours["figures"]:
            continue  # a race is told by its wall clock, in the full report
        cells = [_multiple(by_name.get(peer), ours, "cpu_s") for peer in peers]
        cells += [_multiple(by_name.get(peer), ours, "wall_s") for peer in waits]
        lines.append(f"| {case['title']} | {_own(ours)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _goals(results: Results) -> Iterator[str]:
    yield "| case | goal | figure | met |"
    yield "| --- | --- | ---: | --- |"
    for name, case in results.items():
        for goal in case["goals"]:
            unit = {"CPU": "x", "PEAK": " MiB"}.get(goal["measure"], "")
            value = "-" if goal["value"] is None else f"{goal['value']:.2f}{unit}"
            met = {None: "?", True: "yes", False: "no"}[goal["met"]]
            yield f"| {name} | {goal['text']} | {value} | {met} |"


def _details(case: Mapping[str, Any]) -> Iterator[str]:
    figures = sorted({key for row in case["rows"] for key in row.get("figures", {})})
    heads = ["contender", "CPU s", "wall s (best)", f"{case['unit']} per CPU s", "MiB added", "MiB"]
    yield f"| {' | '.join([*heads, *figures])} |"
    yield f"| --- |{' ---: |' * (len(heads) + len(figures) - 1)}"
    for row in sorted(case["rows"], key=lambda row: float(row.get("cpu_s", "inf"))):
        if "error" in row:
            yield f"| {row['contender']} | {row['error']} |{' |' * (len(heads) + len(figures) - 2)}"
            continue
        cells = [
            row["contender"],
            f"{row['cpu_s']:.3f}",
            f"{row['wall_s']:.3f}",
            f"{case['units'] / max(row['cpu_s'], 1e-9):,.0f}",
            f"{row['added_mib']:.0f}",
            f"{row['peak_mib']:.0f}",
            *(_figure(row["figures"].get(key)) for key in figures),
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield _agreement(case)


def _agreement(case: Mapping[str, Any]) -> str:
    if case["agree"]:
        return "All agree."
    checks: Sequence[str] = [
        f"{row['contender']}: {row['check']}" for row in case["rows"] if "check" in row
    ]
    return f"**They disagree**: {'; '.join(checks)}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _multiple(row: Mapping[str, Any] | None, ours: Mapping[str, Any], figure: str) -> str:
    if row is None:
        return ""
    return "failed" if "error" in row else f"{row[figure] / ours[figure]:.2f}x"


def _own(ours: Mapping[str, Any]) -> str:
    """Our CPU seconds; for a store far away what counts there."""
    figures = ours["figures"]
    if "round_trips" not in figures:
        return _seconds(ours["cpu_s"])
    return f"{figures['requests']:.0f} requests, {figures['round_trips']:.1f} round trips"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"
