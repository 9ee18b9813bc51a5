"""The files that a compaction replaces together, known before anything is read or written."""

from typing import Protocol

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_plan import Section
from paimon_explore.metadata.commit_message import CommitMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    """Files of one bucket that become new files, or one file that changes its level.

    Attributes:
        sections: the files, as positions in the bucket, in sections whose rows are merged by key.
        level: level of the new files.
        rewritten: whether the rows are written again; otherwise only the level changes.
        drops_retracts: whether retract rows are dropped.
        one_file: whether the result is one file, whatever its size.
        same_rows: whether the files of a section contain different columns of the same rows.
    """

    sections: tuple[Section, ...]
    level: int
    rewritten: bool = True
    drops_retracts: bool = False
    one_file: bool = False
    same_rows: bool = False

    @property
    def files(self) -> tuple[int, ...]:
        """The positions of all files in the bucket."""
        return tuple(file for section in self.sections for run in section for file in run)


class BucketCompaction(Protocol):
    """The planned compaction of one bucket."""

    def groups(self) -> list[FileGroup]:
        """Return which files are replaced together; nothing is read or written."""

    def run(self) -> CommitMessage:
        """Write the new files and return the commit message."""
