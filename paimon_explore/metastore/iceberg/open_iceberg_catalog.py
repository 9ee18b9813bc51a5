"""Selects the Iceberg catalog of a table by its options; each kind is imported on first use."""

from paimon_explore.errors import InvalidInputError, needs_extra
from paimon_explore.fileio.paths import name, parent
from paimon_explore.metadata.options.iceberg_options import (
    ICEBERG_DATABASE,
    ICEBERG_STORAGE,
    ICEBERG_TABLE,
)
from paimon_explore.metadata.options.option_enums import IcebergStorage
from paimon_explore.metastore.filesystem_metastore import SUFFIX
from paimon_explore.metastore.identifier import Identifier, parse_identifier
from paimon_explore.store.iceberg_catalog import ExportedTable, IcebergCatalog


def open_iceberg_catalog(table: ExportedTable) -> IcebergCatalog:
    """Open the Iceberg catalog of a table; it is connected to by its first registration.

    Raises:
        InvalidInputError: an option is missing or wrong.
        UnsupportedFeatureError: the options ask for another client, or a package is missing.
    """
    wanted = _name_in_catalog(table)
    if table.options.value(ICEBERG_STORAGE) is IcebergStorage.REST_CATALOG:
        from paimon_explore.metastore.iceberg.rest_iceberg_catalog import (  # noqa: PLC0415
            RestIcebergCatalog,
        )

        return RestIcebergCatalog(table, wanted)
    with needs_extra("hive", "registration in a Hive metastore"):
        from paimon_explore.metastore.iceberg.hive_iceberg_catalog import (  # noqa: PLC0415
            HiveIcebergCatalog,
        )
    return HiveIcebergCatalog(table, wanted)


def _name_in_catalog(table: ExportedTable) -> Identifier:
    """Return the name of the Iceberg table: by options that of the table in its own catalog."""
    if table.name is not None:
        own = parse_identifier(table.name)
        database, found = own.database, own.table
    else:
        folder = name(parent(table.root))
        database = folder.removesuffix(SUFFIX) if folder.endswith(SUFFIX) else ""
        found = name(table.root)
    database = table.options.value(ICEBERG_DATABASE) or database
    if not database:
        raise InvalidInputError(
            f"The table in {table.root} cannot be registered in an Iceberg catalog: its folder is "
            f"not below that of a database, <name>{SUFFIX}.",
            hint=f"Set the option {ICEBERG_DATABASE.key!r} to the name of a database.",
        )
    return Identifier(database=database, table=table.options.value(ICEBERG_TABLE) or found)
