"""Trace events of commits: one event per step, shown by the explorer and by `pe.trace`.

The steps are described in `committer`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass


class CommitStep(Enum):
    """The steps of a commit, in the order of one attempt."""

    SKIP_EMPTY = "nothing to commit"
    LOOK_FOR_EARLIER = "check whether the commit already exists"
    READ_LATEST = "read the latest snapshot"
    PLAN_OVERWRITE = "find the files that an overwrite removes"
    CHECK_CONFLICTS = "check for conflicts"
    WRITE_BASE = "write the base manifest list"
    ASSIGN_ROW_IDS = "assign row ids"
    WRITE_DELTA = "write the delta manifests and their list"
    WRITE_CHANGELOG = "write the changelog manifests and their list"
    WRITE_INDEX = "write the index manifest"
    DESCRIBE = "build the snapshot"
    PUBLISH = "create the snapshot file"
    WRITE_HINTS = "write the hint files"
    FAIL = "a step failed"
    LOSE = "another commit created the snapshot id first"
    DOUBT = "the storage did not confirm the creation of the snapshot"
    WAIT = "wait before the next attempt"
    CLEAN_UP = "delete files of the failed attempt"
    DONE = "the snapshot is visible"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEvent:
    """A completed step of a commit.

    Attributes:
        step: the step.
        attempt: the attempt number, from 1; 0 outside of attempts.
        snapshot_id: the id of the new snapshot, if known.
        time_millis: end of the step, epoch milliseconds.
        figures: metrics of the step, such as numbers of files, bytes and entries.
    """

    step: CommitStep
    attempt: int
    snapshot_id: int | None
    time_millis: int
    figures: Mapping[str, int | str] = field(default_factory=dict)


Recorder = list[tuple[str, CommitEvent]]
"""Events in order, each with the folder of its table."""

_RECORDERS: ContextVar[tuple[Recorder, ...]] = ContextVar("recorders", default=())


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record the events of all commits of this thread in the block."""
    recorder: Recorder = []
    token = _RECORDERS.set((*_RECORDERS.get(), recorder))
    try:
        yield recorder
    finally:
        _RECORDERS.reset(token)


def emit(table: str, event: CommitEvent) -> None:
    """Add an event of a table's folder to all active recorders."""
    for recorder in _RECORDERS.get():
        recorder.append((table, event))
