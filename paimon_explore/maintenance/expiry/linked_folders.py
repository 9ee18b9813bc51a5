"""Protection of symbolically linked directories: no files are removed through links.

A link may be a directory that was moved to another disk, or a malicious link to files outside of
the table; the two cannot be distinguished.

Symbolic links of the local disk: detects links that point outside of a folder.

Reads follow links; deletions must not, because the target may belong to somebody else. Other
storages have no links.
"""

from collections.abc import Iterable
from pathlib import Path

from paimon_explore.errors import StorageError
from paimon_explore.fileio.local import local_path
from paimon_explore.fileio.paths import parent, scheme
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths


def check_no_linked_metadata(paths: TablePaths) -> None:
    """Check that no metadata directory of a branch is a link out of the table.

    Raises:
        StorageError: a directory is such a link.
    """
    folders = [paths.schema_dir, paths.snapshot_dir, paths.changelog_dir]
    folders += [paths.tag_dir, paths.consumer_dir, paths.manifest_dir, paths.statistics_dir]
    if paths.branch != MAIN_BRANCH:
        folders += [paths.branches_dir, paths.branch_root]
    check_no_links(paths, folders)


def check_no_links(paths: TablePaths, folders: Iterable[str]) -> None:
    """Check that no directory is a link out of the table.

    Raises:
        StorageError: a directory is such a link.
    """
    for folder in folders:
        if is_link(folder) and resolves_outside(folder, paths.root):
            raise StorageError(
                "remove files of",
                folder,
                "the directory is a link to a directory outside the table",
                hint="Nothing was removed. Replace the link with a directory of the files.",
            )


def inside(paths: TablePaths, files: Iterable[str]) -> list[str]:
    """Return the files that are not in a directory linked out of the table, in order."""
    outside: dict[str, bool] = {}
    found: list[str] = []
    for path in files:
        folder = parent(path)
        if folder not in outside:
            outside[folder] = resolves_outside(folder, paths.root)
        if not outside[folder]:
            found.append(path)
    return found


def resolves_outside(path: str, folder: str) -> bool:
    """Return whether a path below a folder resolves to a path outside of it through a link.

    The folder itself may be a link.

    Args:
        path: a file or folder whose path starts with that of the folder.
        folder: the folder.
    """
    if scheme(path) not in ("", "file"):
        return False
    real = Path(local_path(path)).resolve()
    return not real.is_relative_to(Path(local_path(folder)).resolve())


def is_link(path: str) -> bool:
    """Return whether a path is a symbolic link."""
    return scheme(path) in ("", "file") and Path(local_path(path)).is_symlink()
