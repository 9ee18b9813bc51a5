"""What long tests count, told at the end of the run."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest

_PREFIX = "figure: "


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of one test, which the end of the run adds up.

    Attributes:
        record: takes a name and a value.
    """

    record: Callable[[str, object], None]

    def add(self, what: str, count: int) -> None:
        """Count so many more."""
        self.record(f"{_PREFIX}{what}", count)


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Figures:
    """Counts that the end of the run tells."""
    return Figures(record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell the sums."""
    total: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, count in report.user_properties if report.when == "call" else ():
                if name.startswith(_PREFIX) and isinstance(count, int):
                    total[name.removeprefix(_PREFIX)] += count
    for what, count in sorted(total.items()):
        terminalreporter.write_line(f"{what}: {count}")
