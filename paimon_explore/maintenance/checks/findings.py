"""Findings of an integrity check."""

from collections.abc import Iterable
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized


class Severity(Enum):
    """Severity of a finding."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken rule.

    Attributes:
        rule: the rule, as a sentence.
        path: the file that breaks the rule, or the file that names it.
        what: what was found instead.
        severity: an error makes rows unreadable or wrong; a warning does not.
    """

    rule: str
    path: str
    what: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return sanitized(f"{self.severity.value}: {self.path}: {self.what} ({self.rule})")


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroCoverage:
    """Amount of Avro metadata that was decoded a second time with fastavro.

    Attributes:
        records: records that were compared.
        files: files that were compared completely.
        partial_files: files of which only the first records were compared.
        skipped_files: files that were not compared, because `cross_check_records` was reached.
    """

    records: int = 0
    files: int = 0
    partial_files: int = 0
    skipped_files: int = 0

    def __str__(self) -> str:
        left = ""
        if self.partial_files or self.skipped_files:
            left = (
                f", {self.partial_files:,} files in part; {self.skipped_files:,} files were "
                "skipped (cross_check_records=None compares all records)"
            )
        return (
            f"fastavro decoded {self.records:,} records of Avro metadata a second time: "
            f"{self.files:,} whole files{left}"
        )


class FsckReport(list[Finding]):
    """The findings of a check as a list, which is empty for an intact table.

    Attributes:
        avro: how much Avro metadata was compared with what fastavro reads.
    """

    def __init__(self, findings: Iterable[Finding] = (), avro: AvroCoverage | None = None) -> None:
        super().__init__(findings)
        self.avro = avro or AvroCoverage()

    def __repr__(self) -> str:
        """Show the number of findings, the first of them, and the Avro comparison."""
        lines = [
            f"{len(self):,} finding{'' if len(self) == 1 else 's'}" if self else "no findings",
            *map(str, self[:_SHOWN_FINDINGS]),
        ]
        return "\n".join([*lines, str(self.avro)])


_SHOWN_FINDINGS = 3
