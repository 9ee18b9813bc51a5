"""Tags as partitions in the catalog of a table (`metastore.tag-to-partition`).

The tag exists by then, so that a failure is a warning.
"""

import warnings

from paimon_explore.errors import CatalogSyncWarning, PaimonError
from paimon_explore.metadata.options.table_options import METASTORE_TAG_TO_PARTITION, TableOptions
from paimon_explore.store.catalog_environment import PartitionEnvironment
from paimon_explore.store.table_store import TableStore


def tag_created(store: TableStore, name: str) -> None:
    """Add the partition of a new tag to the catalog."""
    _tell(store, name, added=True)


def tag_deleted(store: TableStore, name: str) -> None:
    """Remove the partition of a deleted tag from the catalog."""
    _tell(store, name, added=False)


def _tell(store: TableStore, name: str, *, added: bool) -> None:
    environment = store.environment
    if not isinstance(environment, PartitionEnvironment):
        return
    try:
        schema = store.schemas.latest()
        column = TableOptions(schema.options if schema else {}).value(METASTORE_TAG_TO_PARTITION)
        if column is not None:
            tell = environment.add_partitions if added else environment.drop_partitions
            tell([{column: name}])
    except PaimonError as error:
        what = "created" if added else "deleted"
        warnings.warn(
            f"Tag {name!r} is {what}, but the catalog was not told: {error}",
            CatalogSyncWarning,
            stacklevel=3,
        )
