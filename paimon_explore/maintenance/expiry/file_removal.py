"""Removal of unreferenced files of a table.

All references are read before the first file is deleted. If one of them cannot be read, the error
is raised and nothing is removed.

Files at external paths are kept, since metadata could name any file of the machine; the removal of
orphan files removes them if requested. Files in symbolically linked directories are kept, too.
"""

from functools import partial

from paimon_explore.fileio.concurrent_requests import delete_each
from paimon_explore.fileio.paths import name
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.linked_folders import inside
from paimon_explore.maintenance.expiry.reachable_files import (
    FileSet,
    Roots,
    TableFiles,
    with_current_roots,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """The files that were removed, or would be in a dry run.

    Attributes:
        data_files: sorted paths of data, changelog and index files.
        metadata_files: sorted paths of manifests, manifest lists and statistics, so that manifests
            come before the lists that name them.
    """

    data_files: tuple[str, ...] = ()
    metadata_files: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the numbers of files."""
        counts = (len(self.data_files), "data"), (len(self.metadata_files), "metadata")
        return ", ".join(f"{n:,} {kind} file{'' if n == 1 else 's'}" for n, kind in counts)

    def __len__(self) -> int:
        return len(self.data_files) + len(self.metadata_files)


def unreachable(files: TableFiles, candidates: FileSet, roots: Roots) -> Removal:
    """Return the candidates in the table's directory that no root references.

    Args:
        files: the files of the table.
        candidates: files that may be removed.
        roots: the snapshots, tags and changelogs that must stay readable.

    Raises:
        MissingFileError: a manifest of a root does not exist.
        CorruptFileError, UnsupportedVersionError, StorageError: a manifest cannot be read.
    """
    if not candidates.all:
        return Removal()
    free = candidates - files.referenced_by(roots, _names(candidates))
    paths = files.store.paths
    below = f"{paths.root}/"
    data = sorted(path for path in free.data if _is_below(path, below))
    return Removal(
        data_files=tuple(inside(paths, data)), metadata_files=tuple(sorted(free.metadata))
    )


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder) and ".." not in path.split("/")


def remove(files: TableFiles, removal: Removal) -> None:
    """Delete the files found by `unreachable`: data files, then manifests, then their lists."""
    lists = {path for path in removal.metadata_files if name(path).startswith("manifest-list-")}
    others = [path for path in removal.metadata_files if path not in lists]
    for some in removal.data_files, others, sorted(lists):
        delete_each(files.store.file_io, some)


def remove_unreachable(files: TableFiles, candidates: FileSet) -> Removal:
    """Delete the candidates that nothing references; see `unreachable`."""
    found = with_current_roots(files, partial(unreachable, files, candidates))
    remove(files, found)
    return found


def _names(candidates: FileSet) -> frozenset[str]:
    """Return the file names of candidates; data files of sidecars are candidates, too."""
    return frozenset(map(name, candidates.data))
