"""Selects the metastore of a catalog by its options; each kind is imported on first use."""

from collections.abc import Mapping

from paimon_explore.errors import (
    InvalidInputError,
    needs_extra,
    suggestion,
)
from paimon_explore.metastore.catalog_options import CatalogOptions
from paimon_explore.metastore.metastore import Metastore

KINDS = ("filesystem", "hive", "jdbc", "rest")
"""The values of the option `metastore`."""


def open_metastore(options: CatalogOptions, storage: Mapping[str, object]) -> Metastore:
    """Open the metastore that the option `metastore` selects; `filesystem` by default.

    Args:
        options: the options of the catalog.
        storage: settings and secrets of the storage, in addition to those in the options.

    Raises:
        InvalidInputError: an unknown kind, or a missing or wrong option.
    """
    kind = options.get("metastore", "filesystem")
    match kind:
        case "filesystem":
            from paimon_explore.fileio.resolve import resolve  # noqa: PLC0415
            from paimon_explore.metastore.filesystem_metastore import (  # noqa: PLC0415
                FilesystemMetastore,
            )

            file_io, warehouse = resolve(
                options.required("warehouse"), {**options.storage(), **storage}
            )
            return FilesystemMetastore(file_io, warehouse)
        case "jdbc":
            from paimon_explore.metastore.jdbc.jdbc_metastore import (  # noqa: PLC0415
                open_jdbc_metastore,
            )

            return open_jdbc_metastore(options, storage)
        case "hive":
            return _hive(options, storage)
        case "rest":
            from paimon_explore.metastore.rest.rest_metastore import (  # noqa: PLC0415
                RestMetastore,
            )

            return RestMetastore(options, storage)
        case _:
            known = ", ".join(map(repr, KINDS))
            raise InvalidInputError(
                f"Option 'metastore' must be one of {known}, not {kind!r}.",
                hint=suggestion(kind, KINDS),
            )


def _hive(options: CatalogOptions, storage: Mapping[str, object]) -> Metastore:
    with needs_extra("hive", "a catalog with metastore='hive'"):
        from paimon_explore.metastore.hive.hive_metastore import (  # noqa: PLC0415
            open_hive_metastore,
        )
    return open_hive_metastore(options, storage)
