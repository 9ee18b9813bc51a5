"""The health of a table at a glance: the worst severity and the number of findings."""

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.health.findings import Severity
from paimon_explore.inspection.health.health_report import Health
from paimon_explore.inspection.rendering.json_members import JsonMembers
from paimon_explore.inspection.rendering.number_format import plural


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
