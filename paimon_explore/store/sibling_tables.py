"""What a table knows of the other tables of its catalog."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from paimon_explore.encoding.blob.blob_view import BlobView


class SiblingTables(Protocol):
    """The tables of a catalog; can be pickled."""

    def blobs(self, views: Sequence[BlobView], *, as_descriptor: bool) -> Mapping[BlobView, object]:
        """Return the BLOBs that references refer to, or their descriptors.

        Raises:
            NotFoundError: there is no such table, column or row.
        """
