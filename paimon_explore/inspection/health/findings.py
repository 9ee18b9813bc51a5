"""Findings of `health`: severity, figure, threshold, advice and evidence."""

from collections.abc import Callable
from dataclasses import field
from enum import StrEnum

from paimon_explore.frozen_dataclass import dataclass


class Severity(StrEnum):
    """Severity of a finding, in descending order."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem or risk that a health rule found in a table.

    Attributes:
        severity: how much it matters.
        rule: name of the health rule.
        what: the finding in one sentence.
        figure: the measured number.
        threshold: the number that `figure` is compared with; 0 where any is too many.
        option: the table option that sets the threshold; empty for a built-in threshold.
        advice: what to do.
        evidence: the selection that shows the cause, as in `Cell.selects`; empty for none.
        unit: formats the two numbers.
    """

    severity: Severity
    rule: str
    what: str = ""
    figure: float = 0
    threshold: float = 0
    option: str = ""
    advice: str = ""
    evidence: str = ""
    unit: Callable[[float], str] = field(default=lambda n: f"{n:,.0f}", repr=False, compare=False)

    @property
    def shown(self) -> str:
        """The figure as text."""
        return self.unit(self.figure)

    @property
    def shown_threshold(self) -> str:
        """The threshold as text."""
        return self.unit(self.threshold)
