"""Findings of `health`: severity, figure, threshold, advice and evidence."""

from collections.abc import Callable
from dataclasses import field
from enum import StrEnum

from paimon_explore.frozen_dataclass import dataclass


class Severity(StrEnum):
    """How much a finding matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth looking after.

    Attributes:
        weight: how much it matters.
        rule: what was looked at.
        what: what was found, a sentence.
        figure: the number.
        threshold: what it was held against; 0 where any is too many.
        option: the table option of the threshold; empty for a rule of thumb.
        advice: what to do.
        evidence: what to look at, as cells select it; empty for nothing.
        unit: how the numbers are shown.
    """

    weight: Severity
    rule: str
    what: str
    figure: float
    threshold: float
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
