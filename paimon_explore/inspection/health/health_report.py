"""The health report of a table: findings with figure, threshold, advice and evidence.

Only metadata is read; folders are listed to check that live files exist. Violations of the format
are found by `maintenance.checks.fsck`.

The health of a table at a glance: the worst severity and the number of findings.
"""

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.health.findings import Finding, Severity
from paimon_explore.inspection.health.health_facts import TableFacts
from paimon_explore.inspection.health.health_rules import RULES
from paimon_explore.inspection.json_members import JsonMembers
from paimon_explore.inspection.problem import Problem, attempt
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import at_snapshot, plural
from paimon_explore.inspection.rendering.report import (
    Cell,
    Columns,
    Failed,
    Note,
    Report,
    Section,
    listing,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.inspector import Inspector

FINDINGS = schema_from_text(
    "severity string, rule string, what string, figure double, threshold double, "
    "option string, advice string, evidence string"
)
"""One row per finding, most severe first. `option` is the table option that sets the threshold,
empty for a built-in threshold; `evidence` is the selection that shows the cause."""

TONES = {Severity.ERROR: Tone.REMOVE, Severity.WARNING: Tone.WARN, Severity.NOTE: Tone.MUTED}
"""The colours of severities."""


_COLUMNS: Columns[Finding] = {
    "severity": lambda one: Cell(text=one.severity.value, tone=TONES[one.severity]),
    "finding": lambda one: Cell(text=one.what, selects=one.evidence),
    "measured#": lambda one: one.shown,
    "threshold": lambda one: f"{one.shown_threshold}{f' ({one.option})' if one.option else ''}",
    "advice": lambda one: one.advice,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Health(Result):
    """The findings of all health rules for one snapshot of a table.

    Attributes:
        name: the table.
        snapshot_id: the checked snapshot; 0 for a table without snapshots.
        findings: most severe first.
        problems: errors of files that the timeline or a rule needs.
        not_evaluated: number of rules that could not be evaluated.
    """

    name: str
    snapshot_id: int
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    not_evaluated: int = 0
    kind = "health"

    def __len__(self) -> int:
        """The number of findings."""
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        """The findings, most severe first."""
        return iter(self.findings)

    def count(self, severity: Severity) -> int:
        """The number of findings of a severity."""
        return sum(one.severity is severity for one in self.findings)

    def to_arrow(self) -> pa.Table:
        """The findings as `FINDINGS`."""
        rows = [{name: getattr(one, name) for name in FINDINGS.names} for one in self.findings]
        return pa.Table.from_pylist(rows, schema=FINDINGS)

    def figures(self) -> dict[str, object]:
        """The number of findings by severity, and each figure with its threshold."""
        return {
            "snapshot": self.snapshot_id,
            **{severity.value: self.count(severity) for severity in Severity},
            "findings": [[one.rule, one.figure, one.threshold] for one in self.findings],
        }

    def to_report(self) -> Report:
        """The findings, and a chart of figures relative to their thresholds."""
        counts = [
            plural(self.count(severity), severity.value)
            for severity in Severity
            if self.count(severity)
        ]
        if self.problems:
            counts.append(plural(len(self.problems), "problem"))
        title = f"{at_snapshot(self.name, self.snapshot_id)}: "
        title += ", ".join(counts) or "no findings"
        if self.not_evaluated:
            title += f"; {self.not_evaluated} of {plural(len(RULES), 'rule')} not evaluated"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        for problem in self.problems:
            yield Failed(problem=problem)
        if self.not_evaluated:
            yield Note(text=self._evaluated(), tone=Tone.WARN)
        if not self.findings:
            if not self.not_evaluated:
                yield Note(text=f"All {len(RULES)} health rules passed.")
            return
        yield listing("Findings", self.findings, _COLUMNS)
        if any(one.threshold for one in self.findings):
            yield self._chart()

    def _evaluated(self) -> str:
        evaluated = len(RULES) - self.not_evaluated
        result = "No problem was found by" if not self.findings else "The findings are those of"
        return (
            f"{plural(self.not_evaluated, 'health rule')} could not be evaluated because files of "
            f"the table cannot be read. {result} the other {plural(evaluated, 'rule')}."
        )

    def _chart(self) -> BarChart:
        rated = [one for one in self.findings if one.threshold]
        ratios = tuple(round(one.figure / one.threshold, 2) for one in rated)
        return BarChart(
            title="Measured values divided by their thresholds",
            categories=tuple(one.rule for one in rated),
            series=(Series(name="value / threshold", values=ratios, tone=Tone.WARN),),
            selects=tuple(one.evidence for one in rated),
        )


def table_health(inspector: Inspector, now_ms: int) -> Health:
    """Evaluate all health rules.

    Args:
        inspector: the table at a snapshot.
        now_ms: current time, epoch milliseconds.
    """
    facts = TableFacts(inspector=inspector, now_ms=now_ms)
    findings: list[Finding] = []
    problems: list[Problem] = list(inspector.timeline().problems[:5])
    not_evaluated = 0
    for rule in RULES:
        found = attempt(partial(list[Finding], rule(facts)), problems)
        not_evaluated += found is None
        findings += found or ()
    findings.sort(key=lambda one: [*Severity].index(one.severity))
    view = inspector.view
    return Health(
        name=view.name,
        snapshot_id=inspector.snapshot_id,
        findings=tuple(findings),
        problems=tuple(problems),
        not_evaluated=not_evaluated,
        code=Code(python=call_code(f"{inspector.code}.health")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthBadge(JsonMembers):
    """The findings of a table in a few words.

    Attributes:
        worst: the highest severity: `error`, `problem` (a rule could not be evaluated), `warning`,
            `note`; empty without findings.
        total: number of findings, and of rules that could not be evaluated.
        words: the numbers by severity, such as `1 warning, 2 notes`.
    """

    worst: str
    total: int
    words: str


def health_badge(health: Health) -> HealthBadge:
    """Summarize a health report."""
    counts = [(severity.value, health.count(severity)) for severity in Severity]
    counts = [("problem", len(health.problems)), *counts]
    worst = next((word for word, count in counts if count), "")
    return HealthBadge(
        worst=Severity.ERROR.value if health.problems else worst,
        total=len(health) + len(health.problems),
        words=", ".join(plural(count, word) for word, count in counts if count) or "none",
    )
