"""Files that nothing refers to: what failed commits, rollbacks and deleted branches have left.

Everybody may write to the table meanwhile, and what is being written is not referred to yet. So a
file counts only if it is older than any commit can take, by default a day; and the files are listed
before the question is asked what the table needs: a commit that ends in between is seen.

Only places where this format puts files are looked at: manifests, index files, statistics, folders
`bucket-*` at the right depth, and temporary files. A file that is not understood is left alone.

Spec: maintenance/manage-snapshots, remove orphan files.
"""

from collections.abc import Iterator

from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.reachable_files import FileSet, TableFiles, roots_of
from paimon_explore.metadata.options.table_options import DATA_FILE_EXTERNAL_PATHS, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import BRANCH_PREFIX, EARLIEST, LATEST, STAGING_PREFIX
from paimon_explore.sanitize import sanitized
from paimon_explore.store.table_store import TableStore

_MAX_SHOWN = 3
_SHARED = ("manifest", "index", "statistics")
_SEQUENCES = ("snapshot", "changelog")
_NAMED = ("schema", "tag", "consumer")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanReport:
    """Files that nothing referred to.

    Attributes:
        files: their paths, sorted.
        size: bytes together.
        dry_run: whether they are still there.
    """

    files: tuple[str, ...] = ()
    size: int = 0
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the number and bytes of the files, and the first of them."""
        act = "would remove" if self.dry_run else "removed"
        first = [f"  {sanitized(path)}" for path in self.files[:_MAX_SHOWN]]
        return "\n".join([f"{act} {len(self.files):,} files, {self.size:,} bytes", *first])


def remove_orphan_files(
    store: TableStore,
    options: TableOptions,
    modified_before_ms: int,
    *,
    external: bool = False,
    dry_run: bool = False,
) -> OrphanReport:
    """Remove the files that no snapshot, tag or changelog of any branch needs.

    Args:
        store: the table; all its branches count.
        options: its options.
        modified_before_ms: only files older than that, epoch milliseconds.
        external: look into the places of `data-file.external-paths`, too. Only for places that
            no other table uses.
        dry_run: only tell what would go.

    Raises:
        NotFoundError: there is no table; or a branch has no schema, so that nobody knows what it
            needs.
        CorruptFileError, UnsupportedVersionError, StorageError: something that must stay could not
            be read, and nothing was removed.
    """
    files = TableFiles(store=store, options=options)
    places = _Places(store=store, schema=files.schema, options=options)
    old = [
        status
        for status in places.walk(external=external)
        if 0 < status.modified_ms < modified_before_ms
    ]
    held = _held(files)
    needed = frozenset(map(name_of, held.all))
    orphans = [status for status in old if status.name not in needed]
    if not dry_run:
        for status in orphans:
            store.file_io.delete(status.path)
    return OrphanReport(
        files=tuple(sorted(status.path for status in orphans)),
        size=sum(status.size for status in orphans),
        dry_run=dry_run,
    )


def _held(files: TableFiles) -> FileSet:
    """What is needed; looked for again if snapshots have expired or been rolled back meanwhile."""
    before = roots_of(files.store, files.options)
    while True:
        try:
            return files.held(before)
        except MissingFileError:
            now = roots_of(files.store, files.options)
            if now == before:
                raise
            before = now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where a table has files that may be orphans."""

    store: TableStore
    schema: TableSchema
    options: TableOptions

    def walk(self, *, external: bool) -> Iterator[FileStatus]:
        paths, file_io = self.store.paths, self.store.file_io
        for status in file_io.walk(paths.root):
            parts = status.path.removeprefix(f"{paths.root}/").split("/")
            if self._is_metadata(parts) or self._is_data(status.path, paths.data_root):
                yield status
        for root in self.options.value(DATA_FILE_EXTERNAL_PATHS) if external else ():
            folder = root.rstrip("/")
            for status in file_io.walk(folder):
                if self._is_data(status.path, folder):
                    yield status

    def _is_metadata(self, parts: list[str]) -> bool:
        match parts:
            case [folder, _] if folder in _SHARED:
                return True
            case [folder, *_] if folder.startswith(STAGING_PREFIX):
                return True
            case ["branch", branch, folder, name] if branch.startswith(BRANCH_PREFIX):
                return _is_stray(folder, name)
            case [folder, name]:
                return _is_stray(folder, name)
            case _:
                return False

    def _is_data(self, path: str, root: str) -> bool:
        parts = path.removeprefix(f"{root}/").split("/")
        return (
            len(parts) == len(self.schema.partition_keys) + 2
            and parts[-2].startswith("bucket-")
            and all("=" in folder for folder in parts[:-2])
        )


def _is_stray(folder: str, name: str) -> bool:
    """Whether a file in a folder of numbered or named files is none of them."""
    if folder in _SEQUENCES:
        return not name.startswith(f"{folder}-") and name not in (EARLIEST, LATEST)
    return folder in _NAMED and name.startswith(".") and name.endswith(".tmp")
