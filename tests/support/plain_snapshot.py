"""A snapshot that no table has."""

from paimon_explore.metadata.snapshot import CommitKind, Snapshot


def plain_snapshot(snapshot_id: int = 1) -> Snapshot:
    """An append without rows."""
    return Snapshot(
        id=snapshot_id,
        schema_id=0,
        base_manifest_list="base",
        delta_manifest_list="delta",
        commit_user="u",
        commit_identifier=1,
        commit_kind=CommitKind.APPEND,
        time_millis=1,
        total_record_count=0,
        delta_record_count=0,
    )
