"""Warnings of what the Iceberg metadata of a table lacks, once per process and table."""

import threading
import warnings
from collections.abc import Iterator

from paimon_explore.commit.iceberg.settings import IcebergSettings
from paimon_explore.errors import IcebergMetadataWarning, PaimonError
from paimon_explore.metadata.options.iceberg_options import ICEBERG_FORMAT_VERSION, ICEBERG_STORAGE
from paimon_explore.metadata.options.table_options import (
    DELETION_VECTORS_BITMAP64,
    DELETION_VECTORS_ENABLED,
    TableOptions,
)

_warned: set[str] = set()
_lock = threading.Lock()


def warn_of_limits(
    root: str, settings: IcebergSettings, options: TableOptions, problem: PaimonError | None
) -> None:
    """Warn of a catalog that is not called, and of deletion vectors that readers do not see.

    Args:
        root: the folder of the table.
        settings: the settings of the Iceberg metadata.
        options: the effective options.
        problem: why the catalog cannot be called, if it should be.
    """
    limits = [*_limits(settings, options, problem)]
    if not limits:
        return
    with _lock:
        if root in _warned:
            return
        _warned.add(root)
    for limit in limits:
        warnings.warn(f"Iceberg metadata of {root}: {limit}", IcebergMetadataWarning, stacklevel=2)


def _limits(
    settings: IcebergSettings, options: TableOptions, problem: PaimonError | None
) -> Iterator[str]:
    if problem is not None:
        yield (
            f"{ICEBERG_STORAGE.key} = {settings.storage.value} asks for registration in a catalog. "
            f"Commits write the metadata files to {settings.folder}, but do not register them: "
            f"{problem}"
        )
    if options.value(DELETION_VECTORS_ENABLED) and not settings.with_vectors:
        yield (
            "Iceberg readers return rows that deletion vectors delete. They see the vectors with "
            f"{ICEBERG_FORMAT_VERSION.key} = 3 and {DELETION_VECTORS_BITMAP64.key} = true."
        )
