"""The latest snapshot of a table on a remote store, found with few requests at the same time.

The hint LATEST and two snapshot files tell the latest snapshot without listing the folder: the
snapshot of the hint exists, and the one after it does not. A process that knows the latest snapshot
of a moment ago requests all three files at the same time; if the hint has another id by now, the
files of that id are requested.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Protocol

from paimon_explore.errors import PaimonError
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.threads import free_in_forks

_MAX_STEPS = 3
"""How many ids after the hint are tried before the folder is listed."""
_MAX_KNOWN = 256


class SnapshotFiles(Protocol):
    """The snapshot folder of one branch; see `snapshots.Snapshots`."""

    @property
    def file_io(self) -> FileIO:
        """The storage."""

    @property
    def paths(self) -> TablePaths:
        """The paths of the files."""

    def latest_hint(self) -> int | None:
        """Return the id in the hint LATEST."""

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Return a snapshot, or None if it does not exist."""


class _LatestIds:
    """The last known ids by snapshot folder; they only decide what is requested first."""

    def __init__(self) -> None:
        self._ids: OrderedDict[object, int] = OrderedDict()
        self._lock = free_in_forks(threading.Lock())

    def find(self, snapshots: SnapshotFiles) -> int | None:
        with self._lock:
            return self._ids.get(_folder(snapshots))

    def keep(self, snapshots: SnapshotFiles, snapshot_id: int) -> None:
        with self._lock:
            self._ids[_folder(snapshots)] = snapshot_id
            self._ids.move_to_end(_folder(snapshots))
            if len(self._ids) > _MAX_KNOWN:
                self._ids.popitem(last=False)


_LATEST_IDS = _LatestIds()


def _folder(snapshots: SnapshotFiles) -> object:
    return snapshots.file_io, snapshots.paths.snapshot_dir


def expect_latest(snapshots: SnapshotFiles, snapshot_id: int) -> None:
    """Note that a snapshot is the latest one now, so that its file is requested with the hint."""
    _LATEST_IDS.keep(snapshots, snapshot_id)


def expect_hinted(snapshots: SnapshotFiles) -> None:
    """Read the hint LATEST if nothing is known yet, so that its snapshot is requested with it."""
    if _LATEST_IDS.find(snapshots) is None:
        hint = snapshots.latest_hint()
        if hint is not None:
            _LATEST_IDS.keep(snapshots, hint)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A snapshot file, or the error of reading it.

    Attributes:
        found: the snapshot; None if it does not exist.
        error: raised only if the file turns out to matter.
    """

    found: Snapshot | None
    error: PaimonError | None = None

    def value(self) -> Snapshot | None:
        if self.error is not None:
            raise self.error
        return self.found


def hinted_latest(snapshots: SnapshotFiles) -> tuple[int | None, Snapshot | None]:
    """Return the id in the hint LATEST, and the latest snapshot.

    The snapshot is None if the hint does not lead to it: the folder then has to be listed.

    Raises:
        CorruptFileError, UnsupportedVersionError: the file of the snapshot cannot be parsed.
    """
    expected = _LATEST_IDS.find(snapshots)
    calls: list[Callable[[], int | _Answer | None]] = [snapshots.latest_hint]
    if expected is not None:
        calls += [partial(_answer, snapshots, expected + step) for step in (0, 1)]
    hint, *answers = at_once(snapshots.file_io, calls)
    if not isinstance(hint, int):
        return None, None
    if hint != expected:
        numbers = (hint, hint + 1)
        calls = [partial(_answer, snapshots, number) for number in numbers]
        answers = at_once(snapshots.file_io, calls)
    latest, following = (a.value() if isinstance(a, _Answer) else None for a in answers)
    if latest is None:
        return hint, None
    for _ in range(_MAX_STEPS):
        if following is None:
            expect_latest(snapshots, latest.id)
            return hint, latest
        latest, following = following, snapshots.find(following.id + 1)
    return hint, None


def _answer(snapshots: SnapshotFiles, snapshot_id: int) -> _Answer:
    try:
        return _Answer(snapshots.find(snapshot_id))
    except PaimonError as error:
        return _Answer(None, error)
