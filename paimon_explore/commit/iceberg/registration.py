"""Registers Iceberg metadata in a catalog, after it was written.

The table has changed by then, so that a failure is a warning. What is registered is always the
newest metadata: thus the next commit makes up for a failure, and of two commits at the same time
the later registration is not the older state.
"""

import warnings

from paimon_explore.commit.iceberg.metadata_folder import MetadataFolder
from paimon_explore.commit.iceberg.settings import IcebergSettings
from paimon_explore.commit.iceberg.table_metadata import parse_metadata
from paimon_explore.errors import IcebergMetadataWarning, PaimonError, UnsupportedFeatureError
from paimon_explore.fileio.paths import join, name, parent
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.iceberg_catalog import ExportedTable, IcebergCatalog
from paimon_explore.store.table_store import TableStore


def open_catalog(
    store: TableStore, schema: TableSchema, options: TableOptions, settings: IcebergSettings
) -> IcebergCatalog | None:
    """Return the catalog of a table, if its options ask for registration.

    Raises:
        PaimonError: the options do not describe a catalog that this package can use.
    """
    if not settings.registers:
        return None
    if store.open_iceberg_catalog is None:
        raise UnsupportedFeatureError("registration in a catalog", "this access to the table")
    environment = store.environment
    table = ExportedTable(
        root=store.paths.root,
        name=None if environment is None else environment.identifier,
        folder=settings.folder,
        schema=schema,
        options=options,
    )
    return store.open_iceberg_catalog(table)


def register_newest(folder: MetadataFolder, catalog: IcebergCatalog | None, root: str) -> bool:
    """Register the newest metadata.

    Args:
        folder: the folder of the metadata.
        catalog: the catalog; None for a table that is registered nowhere.
        root: the folder of the table.

    Returns:
        Whether no reader of the catalog needs older metadata.
    """
    if catalog is None:
        return True
    try:
        _register(folder, catalog)
    except PaimonError as error:
        warnings.warn(
            f"The table {root} has changed and its Iceberg metadata is written, but it could not "
            f"be registered as {catalog.place}: {error} Readers of that catalog return older "
            "rows; the next commit registers the newest metadata.",
            IcebergMetadataWarning,
            stacklevel=2,
        )
        return False
    return True


def _register(folder: MetadataFolder, catalog: IcebergCatalog) -> None:
    version = folder.hint()
    data = None if version is None else folder.data(version)
    if version is None or data is None:
        return  # another commit or a rollback is at work, which registers
    path = folder.file(version)
    lists = parent(parse_metadata(data, path).current.manifest_list)
    catalog.register(join(lists, name(path)), data)
