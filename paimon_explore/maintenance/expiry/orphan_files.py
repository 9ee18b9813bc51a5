"""Removal of orphan files: unreferenced files of failed commits, rollbacks and deleted branches.

Files of a concurrent write are not referenced yet. Therefore only files older than a minimum age
(by default one day) are removed, and files are listed before references are read, so that commits
in between are seen.

Only locations that Paimon writes to are listed: manifests, index files, statistics, directories
`bucket-*` at the right depth, and temporary files. Unknown files are kept, and so are managed files
of BLOBs: which of them are in use, only the rows tell.

Spec: maintenance/manage-snapshots, remove orphan files.
"""

from collections.abc import Iterator

from paimon_explore.encoding.blob.blob_references import MANAGED_SUFFIX
from paimon_explore.fileio.concurrent_requests import delete_each
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.reachable_files import TableFiles, with_current_roots
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
    """The result of a removal of orphan files.

    Attributes:
        files: sorted paths of the orphan files.
        size: total size in bytes.
        dry_run: whether the files were only listed, not removed.
    """

    files: tuple[str, ...]
    size: int
    dry_run: bool

    def __repr__(self) -> str:
        """Return the number and bytes of the files, and the first of them."""
        act = "would remove" if self.dry_run else "removed"
        count = f"{len(self.files):,} file{'' if len(self.files) == 1 else 's'}"
        first = [f"  {sanitized(path)}" for path in self.files[:_MAX_SHOWN]]
        return "\n".join([f"{act} {count}, {self.size:,} bytes", *first])


def remove_orphan_files(
    store: TableStore,
    options: TableOptions,
    modified_before_ms: int,
    *,
    external: bool = False,
    dry_run: bool = False,
) -> OrphanReport:
    """Remove the files that no snapshot, tag or changelog of any branch references.

    Args:
        store: the table with all its branches.
        options: effective options.
        modified_before_ms: remove only files last modified before this time, epoch milliseconds.
        external: whether to include `data-file.external-paths`; only safe if no other table uses
            these directories.
        dry_run: whether to only list the files.

    Raises:
        NotFoundError: the table does not exist, or a branch has no schema.
        CorruptFileError, UnsupportedVersionError, StorageError: a referenced file could not be
            read; nothing was removed.
    """
    files = TableFiles(store=store, options=options)
    locations = _Locations(store=store, schema=files.schema, options=options)
    old = [
        status
        for status in locations.walk(external=external)
        if 0 < status.modified_ms < modified_before_ms
    ]
    referenced = frozenset(map(name_of, with_current_roots(files, files.referenced_by).all))
    orphans = [status for status in old if status.name not in referenced]
    if not dry_run:
        delete_each(store.file_io, [status.path for status in orphans])
    return OrphanReport(
        files=tuple(sorted(status.path for status in orphans)),
        size=sum(status.size for status in orphans),
        dry_run=dry_run,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Locations:
    """The locations of a table that may contain orphan files."""

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
            and not parts[-1].endswith(MANAGED_SUFFIX)
        )


def _is_stray(folder: str, name: str) -> bool:
    """Whether a file in a metadata directory is not one of its regular files."""
    if folder in _SEQUENCES:
        return not name.startswith(f"{folder}-") and name not in (EARLIEST, LATEST)
    return folder in _NAMED and name.startswith(".") and name.endswith(".tmp")
