"""Data files without partition columns, as Hive writes them and `migrate_table` of Paimon keeps."""

from pathlib import Path

import pyarrow.parquet as pq

import paimon_explore as pe


def drop_partition_columns(table: pe.Table, keys: list[str]) -> int:
    """Remove the partition columns from all data files; each keeps its size.

    Returns:
        The number of files.
    """
    paths = sorted(Path(table.path).rglob("data-*.parquet"))
    for path in paths:
        _write_without(path, keys, path.stat().st_size)
    return len(paths)


def _write_without(path: Path, keys: list[str], size: int) -> None:
    """Write a file again; a text in its metadata fills it up to a size."""
    rows = pq.read_table(path, partitioning=None).drop_columns(keys)
    fill = 0
    for _ in range(10):
        with pq.ParquetWriter(path, rows.schema, store_schema=False) as writer:
            writer.write_table(rows)
            writer.add_key_value_metadata({"fill": "x" * fill})
        missing = size - path.stat().st_size
        if missing == 0:
            return
        fill += missing
    raise AssertionError((path, size, path.stat().st_size))
