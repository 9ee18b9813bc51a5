"""Manifest entries made of what matters to a test."""

from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries

EMPTY_ROW = bytes(12)
"""A binary row without fields, with its arity."""


def entry(name: str, **values: object) -> dict[str, object]:
    """A row of a manifest entry frame; what is not given is plain."""
    return {
        "kind": FileKind.ADD.value,
        "partition": EMPTY_ROW,
        "bucket": 0,
        "total_buckets": -1,
        "file_name": name,
        "file_size": 100,
        "row_count": 1,
        "min_key": EMPTY_ROW,
        "max_key": EMPTY_ROW,
        "key_min": EMPTY_ROW,
        "key_max": EMPTY_ROW,
        "key_null_counts": [],
        "value_min": EMPTY_ROW,
        "value_max": EMPTY_ROW,
        "value_null_counts": [],
        "min_sequence_number": 0,
        "max_sequence_number": 0,
        "schema_id": 0,
        "level": 0,
        "extra_files": [],
        "delete_row_count": 0,
        "file_source": 0,
        **values,
    }


def entries(*rows: dict[str, object]) -> ManifestEntries:
    """A frame of entries."""
    return ManifestEntries.from_rows(rows)


def manifest(name: str) -> dict[str, object]:
    """One record of a manifest list by column name."""
    return {
        "file_name": name,
        "file_size": 100,
        "num_added_files": 1,
        "num_deleted_files": 0,
        "partition_min": EMPTY_ROW,
        "partition_max": EMPTY_ROW,
        "partition_null_counts": [],
        "schema_id": 0,
    }


def names(frame: ManifestEntries) -> list[str]:
    """`+name` of every addition and `-name` of every deletion, in order."""
    return [f"{'+-'[int(str(row['kind']))]}{row['file_name']}" for row in frame.rows()]


def index_row(name: str, **values: object) -> dict[str, object]:
    """A row of an index frame; what is not given is plain."""
    return {
        "kind": FileKind.ADD.value,
        "partition": EMPTY_ROW,
        "bucket": 0,
        "index_type": "HASH",
        "file_name": name,
        "file_size": 4,
        "row_count": 1,
        **values,
    }


def index(*rows: dict[str, object]) -> IndexEntries:
    """A frame of index files."""
    return IndexEntries.from_rows(rows)


def vector_row(name: str, *data_files: str, **values: object) -> dict[str, object]:
    """A deletion vector file for some data files."""
    ranges = [{"data_file": f, "offset": 1, "length": 4, "cardinality": 1} for f in data_files]
    return index_row(name, index_type="DELETION_VECTORS", dv_ranges=ranges, **values)


def int_row(value: int) -> bytes:
    """The binary row of one INT, with its arity."""
    return (1).to_bytes(4, "big") + bytes(8) + value.to_bytes(8, "little")
