"""The snapshots and the long-lived changelogs of a branch.

Hint files are unreliable: LATEST may be outdated or refer to a snapshot that was rolled back;
EARLIEST may be negative, missing, or greater than existing ids. So a hint is only used if the files
of the folder confirm it.

The latest snapshot is defined in one way for readers, writers and deletions. If the snapshot of the
hint LATEST exists, the latest snapshot is the last of the consecutive ids from there; otherwise it
is the highest id. Files with higher ids are strays: they are only read if requested by id, and fsck
reports them. The history is the run of consecutive ids that ends at the latest snapshot; only
snapshots of the history may be deleted because of their ids.
"""

import builtins
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from paimon_explore.errors import MissingFileError, NotFoundError, PaimonError
from paimon_explore.fileio.concurrent_requests import at_once, max_requests
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot, encode_snapshot, parse_snapshot
from paimon_explore.metadata.table_paths import CHANGELOG_PREFIX, SNAPSHOT_PREFIX
from paimon_explore.store.json_file_loader import (
    StoredFiles,
    checked_id,
    create_file,
    list_numbered,
    list_numbers,
    load_listed_json,
)

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment
    from paimon_explore.store.version_management import VersionManagement

_Read = TypeVar("_Read")
_Reads: TypeAlias = list[_Read]
_MAX_HINT_BYTES = 30
_MAX_READS = 10
"""How often reading the latest snapshot is retried if it is deleted after it was listed."""


@dataclass(frozen=True, slots=True)
class Snapshots(StoredFiles):
    """The snapshot folder of one branch."""

    environment: "CatalogEnvironment | None" = None

    @property
    def _server(self) -> "VersionManagement | None":
        """The catalog server that manages the versions, if there is one."""
        if self.environment is None:
            return None
        from paimon_explore.store.version_management import version_management  # noqa: PLC0415 - catalogs

        return version_management(self.environment)

    def all_ids(self) -> builtins.list[int]:
        """Return the ids of all files, including strays, ascending."""
        return list_numbers(self.file_io, self.paths.snapshot_dir, SNAPSHOT_PREFIX)

    def ids(self) -> builtins.list[int]:
        """Return the ids of all snapshots up to the latest one, ascending."""
        return self.until_latest(self.all_ids())

    def until_latest(self, found: builtins.list[int]) -> builtins.list[int]:
        """Return those of the ids of all files that are not after the latest snapshot."""
        server = self._server
        latest = self._latest_of(found) if server is None else self.latest_id()
        return [] if latest is None else found[: bisect_right(found, latest)]

    def history(self) -> builtins.list[int]:
        """Return the consecutive ids that end at the latest snapshot, ascending."""
        return last_run(self.ids())

    def latest_id(self) -> int | None:
        """Return the id of the latest snapshot, or None if there are no snapshots."""
        server = self._server
        if server is not None:
            latest = server.latest_snapshot(self.paths.branch)
            return None if latest is None else latest.id
        hint = self._hint(self.paths.latest_hint)
        if hint is not None and self._is_last(hint):
            return hint
        return self._latest_of(self.all_ids(), hint)

    def earliest_id(self) -> int | None:
        """Return the id of the earliest snapshot of the history, or None if it is empty."""
        return next(iter(self.history()), None)

    def latest(self) -> Snapshot | None:
        """Return the latest snapshot, or None if there are no snapshots."""
        server = self._server
        if server is not None:
            return server.latest_snapshot(self.paths.branch)
        if max_requests(self.file_io) > 1:
            from paimon_explore.store.hinted_snapshot import hinted_latest  # noqa: PLC0415 - stores

            hint, hinted = hinted_latest(self)
        else:
            hint = self._hint(self.paths.latest_hint)
            hinted = None if hint is None else self.find(hint)
            if hinted is not None and self._exists(hinted.id + 1):
                hinted = None
        if hinted is not None:
            return hinted
        snapshot_id = self._latest_of(self.all_ids(), hint)
        for _ in range(_MAX_READS):
            if snapshot_id is None:
                return None
            found = self.find(snapshot_id)
            if found is not None:
                return found
            snapshot_id = max(self.ids(), default=None)  # rolled back or expired meanwhile
        return None if snapshot_id is None else self.load(snapshot_id)

    def is_latest(self, snapshot: Snapshot) -> bool:
        """Return whether a snapshot, once the latest, still is and is unchanged.

        This takes two small requests, or one to a server, and is meant for polling.

        Raises:
            CorruptFileError, UnsupportedVersionError: the file of the snapshot cannot be parsed.
        """
        server = self._server
        if server is not None:
            return server.latest_snapshot(self.paths.branch) == snapshot
        calls = [
            lambda: self.find(snapshot.id) == snapshot,
            lambda: not self._exists(snapshot.id + 1),
        ]
        return all(at_once(self.file_io, calls))

    def earliest(self) -> Snapshot | None:
        """Return the earliest snapshot of the history; skips those that expire during the call."""
        return next((found for found in map(self.find, self.history()) if found is not None), None)

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Return a snapshot, or None if it does not exist."""
        found = self._parsed(snapshot_id)
        path = self.paths.snapshot(snapshot_id)
        return None if found is None else checked_id(found, snapshot_id, path)

    def read_all(self, without: Collection[int]) -> tuple[_Reads[Snapshot], _Reads[Snapshot]]:
        """Return the snapshots of the history, and those outside of it; see `outside_history`.

        Args:
            without: ids of snapshots of the history that are left out.
        """
        listed = dict(list_numbered(self.file_io, self.paths.snapshot_dir, SNAPSHOT_PREFIX))
        history = last_run(self.until_latest([*listed]))
        calls = [
            partial(self._listed, number, listed[number])
            for number in history
            if number not in without
        ]
        kept = [found for found in at_once(self.file_io, calls) if found is not None]
        return kept, self._others(listed.keys() - history)

    def load(self, snapshot_id: int) -> Snapshot:
        """Return a snapshot.

        Raises:
            NotFoundError: the snapshot does not exist; the message has the available range.
            CorruptFileError, UnsupportedVersionError: the file cannot be parsed.
        """
        found = self.find(snapshot_id)
        if found is None:
            hint = _range(self.ids(), "snapshots")
            raise NotFoundError("snapshot", snapshot_id, self.paths.root, hint=hint)
        return found

    def outside_history(self) -> builtins.list[Snapshot]:
        """Return the snapshots outside the history: strays, and remains before a gap.

        The id in their files may differ from the file name, for example in copies.

        Raises:
            CorruptFileError, UnsupportedVersionError: a file cannot be parsed.
        """
        found = self.all_ids()
        return self._others(set(found).difference(last_run(self.until_latest(found))))

    def _others(self, ids: Collection[int]) -> _Reads[Snapshot]:
        found = at_once(self.file_io, [partial(self._parsed, number) for number in sorted(ids)])
        return [one for one in found if one is not None]

    def list(self) -> builtins.list[Snapshot]:
        """Return all snapshots up to the latest, oldest first, without those that just expired."""
        return self.read_files(self.files().items())

    def files(self) -> dict[int, FileStatus]:
        """Return the files of all snapshots up to the latest by id, oldest first."""
        listed = list_numbered(self.file_io, self.paths.snapshot_dir, SNAPSHOT_PREFIX)
        latest = self._latest_of([number for number, _ in listed]) or 0
        return {number: status for number, status in listed if number <= latest}

    def read_files(self, files: Iterable[tuple[int, FileStatus]]) -> _Reads[Snapshot]:
        """Read some of these files, several at a time if the storage is remote."""
        found = at_once(self.file_io, [partial(self._listed, *one) for one in files])
        return [snapshot for snapshot in found if snapshot is not None]

    def list_readable(self) -> _Reads[tuple[int, Snapshot | PaimonError]]:
        """Return the ids of all snapshots up to the latest, each with its snapshot or error."""

        def read(number: int, status: FileStatus) -> tuple[int, Snapshot | PaimonError]:
            try:
                return number, self._listed(number, status) or self.load(number)
            except PaimonError as error:
                return number, error

        return at_once(self.file_io, [partial(read, *one) for one in self.files().items()])

    def create(self, snapshot: Snapshot) -> bool:
        """Create a snapshot file, the atomic step of a commit; False if its id already exists."""
        path, data = self.paths.snapshot(snapshot.id), encode_snapshot(snapshot)
        created = create_file(self.file_io, path, data, self.environment)
        if created and max_requests(self.file_io) > 1:
            from paimon_explore.store.hinted_snapshot import expect_latest  # noqa: PLC0415 - stores

            expect_latest(self, snapshot.id)
        return created

    def latest_hint(self) -> int | None:
        """Return the id in the hint LATEST, which may be wrong; None if there is no hint."""
        return self._hint(self.paths.latest_hint)

    def earliest_hint(self) -> int | None:
        """Return the id in the hint EARLIEST, which may be wrong; None if there is no hint."""
        return self._hint(self.paths.earliest_hint)

    def write_latest_hint(self, snapshot_id: int) -> None:
        """Write the hint LATEST."""
        self.file_io.replace(self.paths.latest_hint, str(snapshot_id).encode())

    def write_earliest_hint(self, snapshot_id: int) -> None:
        """Write the hint EARLIEST."""
        self.file_io.replace(self.paths.earliest_hint, str(snapshot_id).encode())

    def delete(self, snapshot_id: int) -> None:
        """Delete the file of a snapshot, if it exists."""
        self.file_io.delete(self.paths.snapshot(snapshot_id))

    def _listed(self, snapshot_id: int, status: FileStatus) -> Snapshot | None:
        """Load a snapshot that was just listed."""
        try:
            found = load_listed_json(self.file_io, status, parse_snapshot, self.read_retry)
        except MissingFileError:
            return None
        return checked_id(found, snapshot_id, status.path)

    def _parsed(self, snapshot_id: int) -> Snapshot | None:
        return self._found(self.paths.snapshot(snapshot_id), parse_snapshot)

    def _hint(self, path: str) -> int | None:
        return read_hint(self.file_io, path)

    def _latest_of(self, found: Sequence[int], hint: int | None = None) -> int | None:
        """Return the latest of ascending ids; the hint is used only if the ids have a gap."""
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
        calls = [partial(self._exists, number) for number in (snapshot_id, snapshot_id + 1)]
        return at_once(self.file_io, calls) == [True, False]

    def _exists(self, snapshot_id: int) -> bool:
        """Whether the file of a snapshot exists.

        In a store the file is read, because `FileIO.exists` also looks for a folder of that name,
        which takes a second request.
        """
        path = self.paths.snapshot(snapshot_id)
        if isinstance(self.file_io, LocalFileIO):
            return self.file_io.exists(path)
        try:
            self.file_io.read(path)
        except MissingFileError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Changelogs(StoredFiles):
    """The changelog folder of one branch: expired snapshots with a long-lived changelog."""

    def ids(self) -> builtins.list[int]:
        """Return the snapshot ids of all long-lived changelogs, ascending."""
        return list_numbers(self.file_io, self.paths.changelog_dir, CHANGELOG_PREFIX)

    def earliest_id(self) -> int | None:
        """Return the id of the earliest changelog, or None if there are none."""
        return min(self.ids(), default=None)

    def latest_id(self) -> int | None:
        """Return the id of the latest changelog, or None if there are none."""
        return max(self.ids(), default=None)

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Return a changelog, or None if it does not exist."""
        path = self.paths.changelog(snapshot_id)
        found = self._found(path, parse_snapshot)
        return None if found is None else checked_id(found, snapshot_id, path)

    def load(self, snapshot_id: int) -> Snapshot:
        """Return a changelog.

        Raises:
            NotFoundError: the changelog does not exist.
            CorruptFileError, UnsupportedVersionError: the file cannot be parsed.
        """
        found = self.find(snapshot_id)
        if found is None:
            hint = _range(self.ids(), "long-lived changelogs")
            raise NotFoundError("changelog", snapshot_id, self.paths.root, hint=hint)
        return found

    def list(self) -> builtins.list[Snapshot]:
        """Return all changelogs, oldest first."""
        found = at_once(self.file_io, [partial(self.find, number) for number in self.ids()])
        return [one for one in found if one is not None]

    def create(self, snapshot: Snapshot) -> bool:
        """Create a changelog file; False if its id already exists."""
        return self.file_io.create(self.paths.changelog(snapshot.id), encode_snapshot(snapshot))

    def write_latest_hint(self, snapshot_id: int) -> None:
        """Write the hint LATEST of changelogs."""
        self.file_io.replace(self.paths.changelog_latest_hint, str(snapshot_id).encode())

    def write_earliest_hint(self, snapshot_id: int) -> None:
        """Write the hint EARLIEST of changelogs."""
        self.file_io.replace(self.paths.changelog_earliest_hint, str(snapshot_id).encode())

    def delete(self, snapshot_id: int) -> None:
        """Delete the file of a changelog, if it exists."""
        self.file_io.delete(self.paths.changelog(snapshot_id))


def read_hint(file_io: FileIO, path: str) -> int | None:
    """Return the id in a hint file; None if the file does not exist or has no positive number."""
    try:
        text = file_io.read(path)[:_MAX_HINT_BYTES].strip()
    except MissingFileError:
        return None
    return int(text) if text.isdigit() and int(text) > 0 else None


def last_run(ids: Sequence[int]) -> list[int]:
    """Return the last run of consecutive ids: the history, if the last id is the latest."""
    place = max(len(ids) - 1, 0)
    while place > 0 and ids[place - 1] == ids[place] - 1:
        place -= 1
    return list(ids[place:])


def _range(ids: list[int], what: str) -> str:
    return f"The table has no {what}." if not ids else f"Available {what}: {ids[0]} to {ids[-1]}."
