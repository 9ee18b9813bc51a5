"""The snapshots of a branch, and the changelogs that outlive them.

Hints lie, in both directions: LATEST may lag behind or point to a snapshot that was rolled back,
EARLIEST may be negative, gone, or above files that are still there. So a hint is only used where
the folder confirms it.

The latest snapshot has one definition, for readers, writers and everything that deletes. If the
hint LATEST names a snapshot that is there, the latest one is the last of the ids that follow it
without a gap; otherwise it is the highest id of all. Files with higher ids are strays: nobody
reads them unless asked for by id, and fsck names them. The history is the run of ids without a gap
that ends at the latest snapshot; only snapshots of the history may ever be deleted because of
their ids.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from paimon_explore.errors import CorruptFileError, MissingFileError, NotFoundError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot, encode_snapshot, parse_snapshot
from paimon_explore.metadata.table_paths import CHANGELOG_PREFIX, SNAPSHOT_PREFIX, TablePaths
from paimon_explore.store.json_files import PATIENT, Patience, keep_value, load_json, numbered

_MAX_HINT_BYTES = 30
_LOOKS = 10
"""How often the newest snapshot may vanish between being listed and being read."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshot folder of one branch."""

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def all_ids(self) -> list[int]:
        """The numbers of all files, strays included, ascending."""
        return numbered(self.file_io, self.paths.snapshot_dir, SNAPSHOT_PREFIX)

    def ids(self) -> list[int]:
        """The numbers of all snapshots up to the latest one, ascending."""
        found = self.all_ids()
        latest = self._latest_of(found)
        return found if latest is None else found[: bisect_right(found, latest)]

    def history(self) -> list[int]:
        """The numbers without a gap that end at the latest snapshot, ascending."""
        found = self.ids()
        return found[_begin_of_run(found) :]

    def latest_id(self) -> int | None:
        """The number of the latest snapshot, None without any."""
        hint = self._hint(self.paths.latest_hint)
        if hint is not None and self._is_last(hint):
            return hint
        return self._latest_of(self.all_ids(), hint)

    def earliest_id(self) -> int | None:
        """The number of the oldest snapshot of the history, None without any."""
        return next(iter(self.history()), None)

    def latest(self) -> Snapshot | None:
        """The newest snapshot, None without any."""
        snapshot_id = self.latest_id()
        for _ in range(_LOOKS):
            found = None if snapshot_id is None else self.find(snapshot_id)
            if found is not None or snapshot_id is None:
                return found
            snapshot_id = max(self.ids(), default=None)  # rolled back or expired since
        return None if snapshot_id is None else self.load(snapshot_id)

    def earliest(self) -> Snapshot | None:
        """The oldest snapshot of the history; those that expire during the look are passed over."""
        return next((found for found in map(self.find, self.history()) if found is not None), None)

    def find(self, snapshot_id: int) -> Snapshot | None:
        """One snapshot, None if it is not there."""
        snapshot = self._parsed(snapshot_id)
        if snapshot is None:
            return None
        return _checked(snapshot, snapshot_id, self.paths.snapshot(snapshot_id))

    def load(self, snapshot_id: int) -> Snapshot:
        """One snapshot.

        Raises:
            NotFoundError: it is not there; the message tells which ones are.
            CorruptFileError, UnsupportedVersionError: its file cannot be understood.
        """
        found = self.find(snapshot_id)
        if found is None:
            raise NotFoundError("snapshot", snapshot_id, self.paths.root, hint=_range(self.ids()))
        return found

    def outside(self) -> list[Snapshot]:
        """The snapshots that are not in the history: strays, and leftovers below a gap.

        Their files may name any id, as copies do.

        Raises:
            CorruptFileError, UnsupportedVersionError: one cannot be understood.
        """
        known = frozenset(self.history())
        others = [number for number in self.all_ids() if number not in known]
        return [found for found in map(self._parsed, others) if found is not None]

    def list(self) -> list[Snapshot]:
        """All snapshots up to the latest, oldest first; without those that expire meanwhile."""
        return [found for found in map(self.find, self.ids()) if found is not None]

    def create(self, snapshot: Snapshot) -> bool:
        """Make a snapshot visible unless its number is taken: the decisive step of a commit."""
        path, data = self.paths.snapshot(snapshot.id), encode_snapshot(snapshot)
        created = self.file_io.create(path, data)
        if created:
            keep_value(parse_snapshot, data, path, snapshot)
        return created

    def latest_hint(self) -> int | None:
        """What the hint LATEST says, which may be wrong; None without one."""
        return self._hint(self.paths.latest_hint)

    def earliest_hint(self) -> int | None:
        """What the hint EARLIEST says, which may be wrong; None without one."""
        return self._hint(self.paths.earliest_hint)

    def hint_latest(self, snapshot_id: int) -> None:
        """Write the hint to the newest snapshot."""
        self.file_io.replace(self.paths.latest_hint, str(snapshot_id).encode())

    def hint_earliest(self, snapshot_id: int) -> None:
        """Write the hint to the oldest snapshot."""
        self.file_io.replace(self.paths.earliest_hint, str(snapshot_id).encode())

    def delete(self, snapshot_id: int) -> None:
        """Remove the file of a snapshot; not an error if it is gone."""
        self.file_io.delete(self.paths.snapshot(snapshot_id))

    def _parsed(self, snapshot_id: int) -> Snapshot | None:
        path = self.paths.snapshot(snapshot_id)
        try:
            return load_json(self.file_io, path, parse_snapshot, self.patience)
        except MissingFileError:
            return None

    def _hint(self, path: str) -> int | None:
        return read_hint(self.file_io, path)

    def _latest_of(self, found: Sequence[int], hint: int | None = None) -> int | None:
        """The latest of all ascending ids; the hint matters only where they have a gap."""
        if not found or found[-1] - found[0] == len(found) - 1:
            return found[-1] if found else None
        hint = self._hint(self.paths.latest_hint) if hint is None else hint
        place = bisect_left(found, hint) if hint is not None else len(found)
        if place == len(found) or found[place] != hint:
            return found[-1]
        while place + 1 < len(found) and found[place + 1] == found[place] + 1:
            place += 1
        return found[place]

    def _is_last(self, snapshot_id: int) -> bool:
        exists = self.file_io.exists
        return exists(self.paths.snapshot(snapshot_id)) and not exists(
            self.paths.snapshot(snapshot_id + 1)
        )


@dataclass(frozen=True, slots=True)
class Changelogs:
    """The changelog folder of one branch: snapshots kept only for their changelog."""

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def ids(self) -> list[int]:
        """The snapshot numbers of all long-lived changelogs, ascending."""
        return numbered(self.file_io, self.paths.changelog_dir, CHANGELOG_PREFIX)

    def earliest_id(self) -> int | None:
        """The oldest one's number, None without any."""
        return min(self.ids(), default=None)

    def latest_id(self) -> int | None:
        """The newest one's number, None without any."""
        return max(self.ids(), default=None)

    def find(self, snapshot_id: int) -> Snapshot | None:
        """One changelog, None if it is not there."""
        path = self.paths.changelog(snapshot_id)
        try:
            snapshot = load_json(self.file_io, path, parse_snapshot, self.patience)
        except MissingFileError:
            return None
        return _checked(snapshot, snapshot_id, path)

    def load(self, snapshot_id: int) -> Snapshot:
        """One changelog.

        Raises:
            NotFoundError: it is not there.
            CorruptFileError, UnsupportedVersionError: its file cannot be understood.
        """
        found = self.find(snapshot_id)
        if found is None:
            raise NotFoundError("changelog", snapshot_id, self.paths.root, hint=_range(self.ids()))
        return found

    def list(self) -> list[Snapshot]:
        """All changelogs, oldest first."""
        return [found for found in map(self.find, self.ids()) if found is not None]

    def create(self, snapshot: Snapshot) -> bool:
        """Keep a snapshot as changelog."""
        return self.file_io.create(self.paths.changelog(snapshot.id), encode_snapshot(snapshot))

    def hint_latest(self, snapshot_id: int) -> None:
        """Write the hint to the newest changelog."""
        self.file_io.replace(self.paths.changelog_latest_hint, str(snapshot_id).encode())

    def hint_earliest(self, snapshot_id: int) -> None:
        """Write the hint to the oldest changelog."""
        self.file_io.replace(self.paths.changelog_earliest_hint, str(snapshot_id).encode())

    def delete(self, snapshot_id: int) -> None:
        """Remove the file of a changelog; not an error if it is gone."""
        self.file_io.delete(self.paths.changelog(snapshot_id))


def read_hint(file_io: FileIO, path: str) -> int | None:
    """The number in a hint file; None if there is none or it is no number above 0."""
    try:
        text = file_io.read(path)[:_MAX_HINT_BYTES].strip()
    except MissingFileError:
        return None
    return int(text) if text.isdigit() and int(text) > 0 else None


def _begin_of_run(found: list[int]) -> int:
    """Where the last run of ascending ids without a gap begins."""
    place = max(len(found) - 1, 0)
    while place > 0 and found[place - 1] == found[place] - 1:
        place -= 1
    return place


def _checked(snapshot: Snapshot, snapshot_id: int, path: str) -> Snapshot:
    if snapshot.id != snapshot_id:
        raise CorruptFileError(path, "id", f"must be {snapshot_id} as in the file's name")
    return snapshot


def _range(ids: list[int]) -> str:
    if not ids:
        return "There are none."
    return f"Available: {ids[0]} to {ids[-1]}."
