"""Updates Iceberg metadata after changes that are no commits: tags, rollbacks, fast-forwards.

The table has changed by then, so that a failure is a warning.
"""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from paimon_explore.commit.iceberg.settings import has_iceberg_metadata
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import IcebergMetadataWarning, PaimonError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.commit.iceberg.metadata_writer import IcebergWriter


def update_iceberg_tags(store: TableStore, options: TableOptions) -> None:
    """Write the tags of the table to its Iceberg metadata."""
    _update(store, options, lambda writer, _: writer.write_tags())


def follow_iceberg_rollback(store: TableStore, options: TableOptions) -> None:
    """Write the Iceberg metadata of the latest snapshot, after a rollback or a fast-forward."""
    _update(store, options, lambda writer, latest: writer.write(latest, rolled_back=True))


def _update(
    store: TableStore, options: TableOptions, act: "Callable[[IcebergWriter, Snapshot], None]"
) -> None:
    if not has_iceberg_metadata(options) or store.paths.branch != MAIN_BRANCH:
        return
    from paimon_explore.commit.iceberg.metadata_writer import iceberg_writer  # noqa: PLC0415 - for tables with Iceberg metadata

    try:
        snapshot, schema = store.snapshots.latest(), store.schemas.latest()
        if snapshot is not None and schema is not None:
            act(iceberg_writer(store, schema, options, system_clock), snapshot)
    except PaimonError as error:
        warnings.warn(
            f"The table {store.paths.root} has changed, but its Iceberg metadata could not be "
            f"written: {error} The next commit writes it again.",
            IcebergMetadataWarning,
            stacklevel=3,
        )
