"""Symbolic links of the local disk: detects links that point outside of a folder.

Reads follow links; deletions must not, because the target may belong to somebody else. Other
storages have no links.
"""

from pathlib import Path

from paimon_explore.fileio.local import local_path
from paimon_explore.fileio.paths import scheme


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
