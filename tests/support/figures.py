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

    def tell(self, what: str, value: str) -> None:
        """Something that is told as it is, not added up."""
        self.record(f"{_PREFIX}{what}", value)


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Figures:
    """Counts that the end of the run tells."""
    return Figures(record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell the sums."""
    total: Counter[str] = Counter()
    told: dict[str, str] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, count in report.user_properties if report.when == "call" else ():
                if name.startswith(_PREFIX) and isinstance(count, int):
                    total[name.removeprefix(_PREFIX)] += count
                elif name.startswith(_PREFIX):
                    told[name.removeprefix(_PREFIX)] = str(count)
    for what, shown in sorted({**{name: str(n) for name, n in total.items()}, **told}.items()):
        terminalreporter.write_line(f"{what}: {shown}")
