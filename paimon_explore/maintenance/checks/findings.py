"""What a check of a table found."""

from enum import Enum

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized


class Severity(Enum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken rule.

    Attributes:
        rule: the rule, as a sentence.
        path: the file that breaks it, or that names what does.
        what: what was found there.
        severity: an error makes rows unreadable or wrong; a warning does not.
    """

    rule: str
    path: str
    what: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return sanitized(f"{self.severity.value}: {self.path}: {self.what} ({self.rule})")
