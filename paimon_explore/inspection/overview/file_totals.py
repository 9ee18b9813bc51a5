"""Totals of the live files of one snapshot, from what has been read or from the manifest lists."""

import numpy as np

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_lifetimes import FileLifetimes
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTotals:
    """Totals of the live files; None where the manifests have not been read.

    Attributes:
        files: number of files.
        bytes: total size.
        rows: stored rows before merging.
        partitions: number of partitions.
        buckets: number of buckets of all partitions.
        level_0: number of files in level 0.
        manifests: number of manifests that a read opens.
        manifest_bytes: total size of these manifests.
    """

    files: int
    bytes: int | None = None
    rows: int | None = None
    partitions: int | None = None
    buckets: int | None = None
    level_0: int | None = None
    manifests: int
    manifest_bytes: int


def file_totals(inspector: Inspector, snapshot: Snapshot, *, quick: bool) -> FileTotals:
    """The totals of a snapshot.

    Args:
        inspector: the table at the snapshot.
        snapshot: the snapshot.
        quick: only count files if the manifests have not been read.

    Raises:
        PaimonError: a manifest list or a manifest cannot be read.
    """
    listed = inspector.view.store.manifests.all(snapshot).table
    manifests = listed.num_rows
    size = int(numbers(listed, "file_size").sum())
    known = inspector.known_files()
    if known is None and quick:
        added, deleted = (
            int(numbers(listed, f"num_{kind}_files").sum()) for kind in ("added", "deleted")
        )
        return FileTotals(files=added - deleted, manifests=manifests, manifest_bytes=size)
    files = inspector.current_files() if known is None else known
    return _summed(files, inspector.timeline().position_of(snapshot.id), manifests, size)


def _summed(lifetimes: FileLifetimes, position: int, manifests: int, size: int) -> FileTotals:
    rows = lifetimes.live_at(position)
    files, codes = lifetimes.files, lifetimes.partitions.codes[rows]
    levels, buckets = (numbers(files, name)[rows] for name in ("level", "bucket"))
    return FileTotals(
        files=len(rows),
        bytes=int(numbers(files, "file_size")[rows].sum()),
        rows=int(numbers(files, "row_count")[rows].sum()),
        partitions=len(np.unique(codes)),
        buckets=np.unique(np.stack([codes, buckets]), axis=1).shape[1] if len(rows) else 0,
        level_0=int((levels == 0).sum()),
        manifests=manifests,
        manifest_bytes=size,
    )
