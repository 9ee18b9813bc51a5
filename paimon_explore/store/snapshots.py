"""The snapshots of a branch, and the changelogs that outlive them.

Hints lie, in both directions: LATEST may lag behind or point to a snapshot that was rolled back,
EARLIEST may be negative, gone, or above files that are still there. So a hint is only used where
the folder confirms it.
"""

from paimon_explore.errors import CorruptFileError, MissingFileError, NotFoundError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.paths import CHANGELOG_PREFIX, SNAPSHOT_PREFIX, TablePaths
from paimon_explore.metadata.snapshot import Snapshot, encode_snapshot, parse_snapshot
from paimon_explore.store.json_files import PATIENT, Patience, keep_value, load_json, numbered
from paimon_explore.values import dataclass

_MAX_HINT_BYTES = 30
_LOOKS = 10
"""How often the newest snapshot may vanish between being listed and being read."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshot folder of one branch."""

    file_io: FileIO
    paths: TablePaths
    patience: Patience = PATIENT

    def ids(self) -> list[int]:
        """The numbers of all snapshots that are there, ascending."""
        return numbered(self.file_io, self.paths.snapshot_dir, SNAPSHOT_PREFIX)

    def latest_id(self) -> int | None:
        """The number of the newest snapshot, None without any."""
        hint = self._hint(self.paths.latest_hint)
        if hint is not None and self._is_last(hint):
            return hint
        return max(self.ids(), default=None)

    def earliest_id(self) -> int | None:
        """The number of the oldest snapshot, None without any."""
        return min(self.ids(), default=None)

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
        """The oldest snapshot; those that expire during the look are passed over."""
        return next((found for found in map(self.find, self.ids()) if found is not None), None)

    def find(self, snapshot_id: int) -> Snapshot | None:
        """One snapshot, None if it is not there."""
        path = self.paths.snapshot(snapshot_id)
        try:
            snapshot = load_json(self.file_io, path, parse_snapshot, self.patience)
        except MissingFileError:
            return None
        return _checked(snapshot, snapshot_id, path)

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

    def list(self) -> list[Snapshot]:
        """All snapshots, oldest first; those that expire meanwhile are left out."""
        return [found for found in map(self.find, self.ids()) if found is not None]

    def create(self, snapshot: Snapshot) -> bool:
        """Make a snapshot visible unless its number is taken: the decisive step of a commit."""
        path, data = self.paths.snapshot(snapshot.id), encode_snapshot(snapshot)
        created = self.file_io.create(path, data)
        if created:
            keep_value(parse_snapshot, data, path, snapshot)
        return created

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

    def _hint(self, path: str) -> int | None:
        return read_hint(self.file_io, path)

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


def _checked(snapshot: Snapshot, snapshot_id: int, path: str) -> Snapshot:
    if snapshot.id != snapshot_id:
        raise CorruptFileError(path, "id", f"must be {snapshot_id} as in the file's name")
    return snapshot


def _range(ids: list[int]) -> str:
    if not ids:
        return "There is none."
    return f"There are {len(ids)}: {ids[0]} to {ids[-1]}."
