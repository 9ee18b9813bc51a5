"""Which tests reach which line, and what each costs."""

from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from time import process_time
from typing import Any

import coverage
import pytest

from mutation.mutants import Mutant
from mutation.packages import ROOT, Package

_SELECTED_S = 12.0
"""CPU seconds of the tests that a mutant is given, of those that the record measured."""


@dataclass
class Record:
    """What one run of a package's tests showed; `seconds` holds the tests that passed."""

    seconds: dict[str, float] = field(default_factory=dict)
    reaching: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    def tests_for(self, mutant: Mutant) -> list[str]:
        """The tests that reach a mutant: its module's own first, then the fast ones.

        A change that takes effect on import may have no other line: all own tests reach it.
        """
        by_line = self.reaching.get(mutant.path, {})
        own = f"test_{PurePath(mutant.path).stem}.py"
        found = {test for test in self.seconds if own in test and not mutant.lines}
        found |= {
            test
            for line in mutant.lines or by_line
            for test in by_line.get(line, ())
            if test in self.seconds
        }
        ordered = sorted(found, key=lambda test: (own not in test, self.seconds[test]))
        return list(_within_budget(ordered, self.seconds))


def _within_budget(tests: Iterable[str], seconds: dict[str, float]) -> Iterable[str]:
    spent = 0.0
    for test in tests:
        if spent == 0 or spent + seconds[test] <= _SELECTED_S:
            spent += seconds[test]
            yield test


class _Recorder:
    """A pytest plugin that tells coverage which test runs, and stops at the budget."""

    def __init__(self, measured: coverage.Coverage, budget_s: float) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._measured = measured
        self._budget_s = budget_s

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._measured.switch_context(item.nodeid)
        begun = process_time()
        result = yield
        self.seconds[item.nodeid] = process_time() - begun
        self._budget_s -= self.seconds[item.nodeid]
        if self._budget_s < 0:
            item.session.shouldstop = "the budget of the record is used"
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def record(package: Package, tests: Sequence[str], budget_s: float) -> Record:
    """Run tests, with pytest's arguments, in this process, which has not imported the package."""
    measured = coverage.Coverage(
        data_file=None,
        config_file=False,
        source=[str(ROOT / package.code)],
    )
    recorder = _Recorder(measured, budget_s)
    measured.start()
    pytest.main([*tests], plugins=[recorder])
    measured.stop()
    reaching: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for path in package.modules():
        by_line = measured.get_data().contexts_by_lineno(str(ROOT / path))
        reaching[path] = {line: [t for t in tests if t] for line, tests in by_line.items()}
    passed = {test: s for test, s in recorder.seconds.items() if test not in recorder.failed}
    return Record(passed, dict(reaching))
