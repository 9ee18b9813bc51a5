"""Folders of a table that are symbolic links: nothing is removed behind them.

Somebody may have moved a folder to another disk, or put a link into a table to have something
removed elsewhere: both look the same.
"""

from collections.abc import Iterable

from paimon_explore.errors import StorageError
from paimon_explore.fileio.links import is_link, resolves_outside
from paimon_explore.fileio.paths import parent
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths


def refuse_linked_metadata(paths: TablePaths) -> None:
    """Refuse to remove metadata of a branch whose folders are links that leave the table.

    Raises:
        StorageError: there is such a link; nothing was removed.
    """
    folders = [paths.schema_dir, paths.snapshot_dir, paths.changelog_dir]
    folders += [paths.tag_dir, paths.consumer_dir, paths.manifest_dir, paths.statistics_dir]
    if paths.branch != MAIN_BRANCH:
        folders += [paths.branches_dir, paths.branch_root]
    refuse_links(paths, folders)


def refuse_links(paths: TablePaths, folders: Iterable[str]) -> None:
    """Refuse to remove what lies in some folders of a table if they are links that leave it.

    Raises:
        StorageError: there is such a link; nothing was removed.
    """
    for folder in folders:
        if is_link(folder) and resolves_outside(folder, paths.root):
            raise StorageError(
                "remove files of",
                folder,
                "it is a link that leads out of the table",
                hint="Nothing was removed. Move the files into the table's folder, or mount them.",
            )


def inside(paths: TablePaths, files: Iterable[str]) -> list[str]:
    """The files of a table that no linked folder puts elsewhere, in order."""
    outside: dict[str, bool] = {}
    found: list[str] = []
    for path in files:
        folder = parent(path)
        if folder not in outside:
            outside[folder] = resolves_outside(folder, paths.root)
        if not outside[folder]:
            found.append(path)
    return found
