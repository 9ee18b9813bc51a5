"""Symbolic links of the local disk: whether one leads out of a folder.

Reading follows links. Removing must not: behind a link lies what somebody else keeps there. Other
storages have no links.
"""

from pathlib import Path

from paimon_explore.fileio.local import local_path
from paimon_explore.fileio.paths import scheme


def leads_elsewhere(path: str, folder: str) -> bool:
    """Whether a path below a folder really lies outside of it, for a link leads there.

    The folder itself may be a link.

    Args:
        path: a file or folder whose path begins with that of the folder.
        folder: the folder.
    """
    if scheme(path) not in ("", "file"):
        return False
    real = Path(local_path(path)).resolve()
    return not real.is_relative_to(Path(local_path(folder)).resolve())


def is_link(path: str) -> bool:
    """Whether a path is a symbolic link."""
    return scheme(path) in ("", "file") and Path(local_path(path)).is_symlink()
