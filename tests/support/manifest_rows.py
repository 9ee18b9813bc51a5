"""Manifest entries for tests, with defaults for what a test does not care about."""

from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries

NO_ROW = bytes(12)
"""A binary row without fields, with its arity."""


def entry(name: str, **changes: object) -> dict[str, object]:
    """One entry by column name."""
    return {
        "kind": 0,
        "partition": NO_ROW,
        "bucket": 0,
        "total_buckets": 1,
        "file_name": name,
        "file_size": 100,
        "row_count": 10,
        "min_key": NO_ROW,
        "max_key": NO_ROW,
        "key_min": NO_ROW,
        "key_max": NO_ROW,
        "value_min": NO_ROW,
        "value_max": NO_ROW,
        "min_sequence_number": 0,
        "max_sequence_number": 9,
        "schema_id": 0,
        "level": 0,
        "extra_files": [],
        **changes,
    }


def manifest(name: str) -> dict[str, object]:
    """One record of a manifest list by column name."""
    return {
        "file_name": name,
        "file_size": 100,
        "num_added_files": 1,
        "num_deleted_files": 0,
        "partition_min": NO_ROW,
        "partition_max": NO_ROW,
        "partition_null_counts": [],
        "schema_id": 0,
    }


def entries(*rows: dict[str, object]) -> ManifestEntries:
    """A frame of entries."""
    return ManifestEntries.from_rows(rows)
