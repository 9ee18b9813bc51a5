"""Updates Iceberg metadata after changes that are no commits: tags, rollbacks, fast-forwards.

The table has changed by then, so that a failure is a warning.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

from paimon_explore.commit.iceberg.settings import has_iceberg_metadata, iceberg_folder
from paimon_explore.errors import IcebergMetadataWarning, PaimonError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore


def update_iceberg_tags(store: TableStore, options: TableOptions) -> None:
    """Write the tags of the table to its Iceberg metadata."""
    _update(store, options, _write_tags)


def follow_iceberg_rollback(store: TableStore, options: TableOptions) -> None:
    """Write the Iceberg metadata of the latest snapshot, after a rollback or a fast-forward."""
    _update(store, options, _write_latest)


def _update(
    store: TableStore, options: TableOptions, act: Callable[[TableStore, TableOptions], None]
) -> None:
    if not has_iceberg_metadata(options) or store.paths.branch != MAIN_BRANCH:
        return
    try:
        act(store, options)
    except PaimonError as error:
        warnings.warn(
            f"The table {store.paths.root} has changed, but its Iceberg metadata could not be "
            f"written: {error} The next commit writes it again.",
            IcebergMetadataWarning,
            stacklevel=3,
        )


def _write_tags(store: TableStore, options: TableOptions) -> None:
    from paimon_explore.commit.iceberg.metadata_folder import MetadataFolder  # noqa: PLC0415 - for tables with Iceberg metadata

    folder = MetadataFolder(store.file_io, iceberg_folder(store.paths.root, options))
    version = folder.hint()
    metadata = None if version is None else folder.find(version)
    if version is None or metadata is None:
        return
    known = {snapshot.id for snapshot in metadata.snapshots}
    tags = {tag.name: tag.snapshot.id for tag in store.tags.list() if tag.snapshot.id in known}
    if tags != metadata.tags:
        folder.replace(version, replace(metadata, tags=tags), _now_ms())


def _write_latest(store: TableStore, options: TableOptions) -> None:
    from paimon_explore.commit.iceberg.metadata_writer import iceberg_writer  # noqa: PLC0415 - for tables with Iceberg metadata

    snapshot, schema = store.snapshots.latest(), store.schemas.latest()
    if snapshot is not None and schema is not None:
        iceberg_writer(store, schema, options, _now_ms).write(snapshot)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
