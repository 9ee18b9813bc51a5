"""The figures of one table in a list of tables; reads little of its metadata."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from paimon_explore.data_types.arrow_buffers import Column, fixed_values
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explorer.table_properties import table_chips
from paimon_explore.inspection.history.file_history import live_slim
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore

MAX_ENTRIES = 200_000
"""Maximum number of manifest entries that are read for the size of a table."""
RECENT_SNAPSHOTS = 20
"""Number of the latest snapshots whose commit users are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """The figures of a table at its latest snapshot.

    Attributes:
        snapshot: the latest snapshot; None for a table without snapshots.
        snapshots: number of snapshots.
        rows: rows of all data files before merging; None if the snapshot does not tell.
        files: number of data files.
        size: bytes of the data files; None if there are too many manifest entries to read.
        writers: commit users of the latest `RECENT_SNAPSHOTS` snapshots, most recent first.
        comment: the comment of the table.
        chips: main properties of the table as short labels.
    """

    snapshot: Snapshot | None
    snapshots: int
    rows: int | None
    files: int
    size: int | None
    writers: tuple[str, ...]
    comment: str
    chips: tuple[str, ...]


def table_summary(view: TableView) -> TableSummary:
    """Read the figures of a table.

    Raises:
        PaimonError: a metadata file is missing or cannot be read.
    """
    store = view.store
    ids = store.snapshots.ids()
    latest = store.snapshots.latest() if ids else None
    files, size = (0, 0) if latest is None else _files_and_size(view, latest)
    return TableSummary(
        snapshot=latest,
        snapshots=len(ids),
        rows=0 if latest is None else latest.total_record_count,
        files=files,
        size=size,
        writers=_writers(store, ids[-RECENT_SNAPSHOTS:]),
        comment="" if view.schema is None else view.schema.comment or "",
        chips=table_chips(view.schema),
    )


def _files_and_size(view: TableView, snapshot: Snapshot) -> tuple[int, int | None]:
    """The number of live files and their bytes; very many entries are counted, but not read."""
    manifests = view.store.manifests.all(snapshot)
    added, deleted = (_total(manifests, f"num_{kind}_files") for kind in ("added", "deleted"))
    if added + deleted > MAX_ENTRIES:
        return added - deleted, None
    live = live_slim(view, snapshot)
    sizes: Column = live.column("file_size").combine_chunks()
    return len(live), int(fixed_values(sizes, np.int64).sum())


def _total(manifests: ManifestFiles, name: str) -> int:
    counts: Column = manifests.table.column(name).combine_chunks()
    return int(fixed_values(counts, np.int64).sum())


def _writers(store: TableStore, ids: Sequence[int]) -> tuple[str, ...]:
    """The commit users of snapshots, most recent first; snapshots that just expired are skipped."""
    calls = [partial(store.snapshots.find, number) for number in reversed(ids)]
    found = at_once(store.file_io, calls)
    return tuple(dict.fromkeys(one.commit_user for one in found if one is not None))
