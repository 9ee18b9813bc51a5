"""Warning about Iceberg metadata, which Java writes with each commit and this package does not.

Spec: iceberg/append-table, iceberg/primary-key-table; option `metadata.iceberg.storage`.
"""

import re
import threading
import warnings

from paimon_explore.errors import IcebergMetadataWarning, MissingFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.options.table_options import ICEBERG_STORAGE, TableOptions

DISABLED = "disabled"
_METADATA_FILE = re.compile(r"v([0-9]{1,18})\.metadata\.json")
"""Metadata files of Java, numbered by snapshot id."""

_warned: set[str] = set()
_lock = threading.Lock()


def has_iceberg_metadata(options: TableOptions) -> bool:
    """Return whether the table has Iceberg metadata enabled."""
    return options.value(ICEBERG_STORAGE).strip().lower() not in ("", DISABLED)


def newest_iceberg_snapshot(file_io: FileIO, root: str) -> int | None:
    """Return the latest snapshot id of the Iceberg metadata in the table's folder.

    Returns:
        None if the folder has no Iceberg metadata, for example if a catalog stores it.
    """
    try:
        files = file_io.list(f"{root}/metadata")
    except MissingFileError:
        return None
    matches = (_METADATA_FILE.fullmatch(status.path.rpartition("/")[2]) for status in files)
    return max((int(match[1]) for match in matches if match is not None), default=None)


def warn_of_stale_iceberg_metadata(root: str, options: TableOptions) -> None:
    """Warn that Iceberg readers do not see a commit, once per process and table.

    Args:
        root: the folder of the table.
        options: the effective options.
    """
    if not has_iceberg_metadata(options):
        return
    with _lock:
        if root in _warned:
            return
        _warned.add(root)
    setting = f"{ICEBERG_STORAGE.key} = {options.value(ICEBERG_STORAGE)}"
    warnings.warn(
        f"Commits of paimon_explore to {root} do not update the Iceberg metadata of the table "
        f"({setting}): Iceberg readers return old rows until the next commit by Java Paimon.",
        IcebergMetadataWarning,
        stacklevel=2,
    )
