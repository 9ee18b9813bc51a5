"""Repair of the hint EARLIEST of a table whose snapshot files have a gap.

Java finds the earliest snapshot by the hint, and fails on a gap between it and the latest snapshot,
which an interrupted expiry or a lost file leaves. This package reads the snapshots after the last
gap in any case.

Spec: spark procedures, repair_earliest_snapshot.
"""

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.store.table_store import TableStore


def repair_earliest_snapshot(store: TableStore, snapshot_id: int) -> int:
    """Set the hint EARLIEST to a snapshot after a gap.

    Args:
        store: the table and branch.
        snapshot_id: the first snapshot after the gap.

    Returns:
        The earliest snapshot before: the one of the hint if it exists, else the lowest id.

    Raises:
        NotFoundError: the table has no snapshots, or one from the id to the latest is missing.
        InvalidInputError: the id is out of range, or does not follow a gap.
    """
    snapshots = store.snapshots
    ids = snapshots.ids()
    if not ids:
        message = f"Table {store.paths.root} has no snapshots."
        raise NotFoundError("snapshot", snapshot_id, store.paths.root, message=message)
    hint, latest = snapshots.earliest_hint(), ids[-1]
    previous = hint if hint in ids else ids[0]
    if not previous <= snapshot_id <= latest:
        raise InvalidInputError(
            f"Snapshot {snapshot_id} is not between the earliest snapshot {previous} and the "
            f"latest snapshot {latest}."
        )
    known = frozenset(ids)
    missing = [number for number in range(snapshot_id, latest + 1) if number not in known]
    if missing:
        start = snapshots.history()[0]
        hint_text = f"The snapshots {start} to {latest} are complete: pass {start}."
        raise NotFoundError("snapshot", missing[0], store.paths.root, hint=hint_text)
    if snapshot_id != previous and snapshot_id - 1 in known:
        raise InvalidInputError(
            f"Snapshot {snapshot_id} does not follow a gap: snapshot {snapshot_id - 1} exists.",
            hint="To remove complete snapshots, expire them.",
        )
    snapshots.write_earliest_hint(snapshot_id)
    return previous
