"""Paths in Iceberg metadata: with the prefix that the metadata of the table already has.

Java writes paths as the table was opened, for example `file:/wh/db.db/t`. Java and this package
recognize files of earlier commits by their paths, so that all writers have to write one prefix.
"""

from paimon_explore.commit.iceberg.table_metadata import IcebergMetadata
from paimon_explore.fileio.paths import join, parent, scheme
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPrefixes:
    """Prefixes of paths in the storage and in the metadata.

    Attributes:
        root: the folder of the table in the storage.
        location: the folder of the table in the metadata.
        metadata: the folder of the Iceberg metadata in the metadata.
    """

    root: str
    location: str
    metadata: str

    def written(self, path: str) -> str:
        """Return the path of a file of the table as the metadata has it."""
        if self.root == self.location or not path.startswith(f"{self.root.rstrip('/')}/"):
            return path
        return join(self.location, path[len(self.root.rstrip("/")) :])


def path_prefixes(root: str, folder: str, base: IcebergMetadata | None) -> PathPrefixes:
    """Return the prefixes of a table.

    Args:
        root: the folder of the table.
        folder: the folder of its Iceberg metadata.
        base: the previous metadata, if any.
    """
    if base is None or plain_path(base.location) != plain_path(root):
        return PathPrefixes(root=root, location=root, metadata=folder)
    lists = parent(base.current.manifest_list)
    metadata = lists if plain_path(lists) == plain_path(folder) else folder
    return PathPrefixes(root=root, location=base.location.rstrip("/"), metadata=metadata)


def plain_path(path: str) -> str:
    """Return a path without scheme and without empty parts: writers may use different schemes.

    >>> plain_path("file:///w//t/"), plain_path("file:/w/t"), plain_path("s3a://b//t")
    ('/w/t', '/w/t', '/b/t')
    """
    kind = scheme(path)
    rest = path[len(kind) + 1 :] if kind else path
    return "/" + "/".join(part for part in rest.split("/") if part)
