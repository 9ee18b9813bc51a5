"""What a run left out: one line per reason at its end."""

from collections import Counter

import pytest

from support.required import NEED, NEEDS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line per reason for which tests were skipped."""
    for line in skip_lines([str(r.longrepr) for r in terminalreporter.getreports("skipped")]):
        terminalreporter.write_line(line)


def skip_lines(skips: list[str]) -> list[str]:
    """One line per reason, the most frequent first.

    Args:
        skips: the reports of skipped tests: `(path, line, 'Skipped: reason')` as text.

    >>> skip_lines(["('a.py', 1, 'Skipped: needs a C compiler: no cc on the path')"] * 2)
    ['2 tests were skipped: they need a C compiler']
    """
    counts = Counter(_reason(skip) for skip in skips)
    return [_line(reason, count) for reason, count in counts.most_common()]


def _line(reason: str, count: int) -> str:
    tests = "1 test was" if count == 1 else f"{count} tests were"
    if not reason.startswith(NEED):
        return f"{tests} skipped: {reason}"
    they = "it needs" if count == 1 else "they need"
    return f"{tests} skipped: {they} {reason.removeprefix(NEED)}"


def _reason(skip: str) -> str:
    told = skip.rpartition("Skipped: ")[2].rstrip("')\"")
    for need in NEEDS.values():
        if told.startswith(NEED + need):
            return NEED + need
    return told
