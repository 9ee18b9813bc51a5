"""What a commit did, step by step, for those who want to see it.

The steps are those of the table in `committer`; an explorer draws them, tests compare them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass


class CommitStep(Enum):
    """The steps of a commit, in the order in which one try goes through them."""

    SKIP_EMPTY = "nothing to commit"
    LOOK_FOR_EARLIER = "look for the same commit in the table"
    READ_LATEST = "read the latest snapshot"
    PLAN_OVERWRITE = "find the files that an overwrite removes"
    CHECK_CONFLICTS = "check that the changes still fit"
    MERGE_MANIFESTS = "merge small manifests"
    WRITE_BASE = "write the base manifest list"
    ASSIGN_ROW_IDS = "give new rows their ids"
    WRITE_DELTA = "write the delta manifests and their list"
    WRITE_CHANGELOG = "write the changelog manifests and their list"
    WRITE_INDEX = "write the index manifest"
    DESCRIBE = "put the snapshot file together"
    PUBLISH = "create the snapshot file"
    WRITE_HINTS = "write the hints"
    FAIL = "a step failed"
    LOSE = "another commit took the snapshot's number"
    DOUBT = "the storage did not say whether the snapshot was created"
    WAIT = "wait before the next try"
    CLEAN_UP = "remove files that nobody will need"
    DONE = "the snapshot is visible"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEvent:
    """One step that was made.

    Attributes:
        step: which.
        attempt: number of the try, from 1; 0 outside of tries.
        snapshot_id: the snapshot that the try wants to make, if it has got that far.
        time_millis: when the step ended, epoch milliseconds.
        figures: what it did, in numbers and names: files, bytes, entries.
    """

    step: CommitStep
    attempt: int
    snapshot_id: int | None
    time_millis: int
    figures: Mapping[str, int | str] = field(default_factory=dict)


Recorder = list[tuple[str, CommitEvent]]
"""Events with the folder of the table that they happened to, in order."""

_RECORDERS: ContextVar[tuple[Recorder, ...]] = ContextVar("recorders", default=())


@contextmanager
def recording() -> Iterator[Recorder]:
    """Hear of every step of every commit that this thread makes within the block."""
    heard: Recorder = []
    token = _RECORDERS.set((*_RECORDERS.get(), heard))
    try:
        yield heard
    finally:
        _RECORDERS.reset(token)


def tell(table: str, event: CommitEvent) -> None:
    """Tell those who record of a step of a commit to a table's folder."""
    for heard in _RECORDERS.get():
        heard.append((table, event))
