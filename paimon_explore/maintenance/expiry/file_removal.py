"""The one place where files of a table are removed: never one that something still needs.

Everything that may be needed is read before the first file goes. If any of it cannot be read, the
error goes to the caller and nothing is removed.

Files at external paths are left alone: whoever writes metadata could name any file of the machine.
The removal of orphan files takes them when it is asked to. Files behind linked folders are left
alone, too.
"""

from collections.abc import Callable

from paimon_explore.fileio.paths import name
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.linked_folders import inside
from paimon_explore.maintenance.expiry.reachable_files import FileSet, Roots, TableFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What was removed, or would be.

    Attributes:
        data_files: paths of data, changelog and index files, sorted.
        metadata_files: paths of manifests, lists and statistics, sorted, which puts manifests
            before the lists that name them.
    """

    data_files: tuple[str, ...] = ()
    metadata_files: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the number of files."""
        return f"{len(self.data_files):,} data files, {len(self.metadata_files):,} metadata files"

    def __len__(self) -> int:
        return len(self.data_files) + len(self.metadata_files)


def unreachable(files: TableFiles, candidates: FileSet, roots: Roots) -> Removal:
    """The candidates below the table's folder that no root needs.

    Args:
        files: the table.
        candidates: files that may go.
        roots: what must stay readable.

    Raises:
        MissingFileError: a manifest of a root is gone.
        CorruptFileError, UnsupportedVersionError, StorageError: one cannot be read.
    """
    if not candidates.all:
        return Removal()
    held = files.held(roots, _names(candidates))
    free = candidates - held
    paths = files.store.paths
    below = f"{paths.root}/"
    data = sorted(path for path in free.data if _is_below(path, below))
    return Removal(
        data_files=tuple(inside(paths, data)), metadata_files=tuple(sorted(free.metadata))
    )


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder) and ".." not in path.split("/")


def remove(files: TableFiles, removal: Removal) -> None:
    """Remove files that `unreachable` has found: data first, then what names it."""
    delete: Callable[[str], None] = files.store.file_io.delete
    for path in (*removal.data_files, *removal.metadata_files):
        delete(path)


def remove_unreachable(files: TableFiles, candidates: FileSet, roots: Roots) -> Removal:
    """Remove the candidates that no root needs; see `unreachable`."""
    found = unreachable(files, candidates, roots)
    remove(files, found)
    return found


def _names(candidates: FileSet) -> frozenset[str]:
    """Names of candidates; the data file of a sidecar is a candidate with it."""
    return frozenset(map(name, candidates.data))
