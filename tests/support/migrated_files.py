"""Data files of Hive, as `migrate_table` of Paimon keeps them: names and columns.

Their names may be the same in several partitions, and they have no partition columns.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import pyarrow.parquet as pq
import pytest

import paimon_explore as pe


@contextmanager
def equal_names() -> Iterator[None]:
    """Inside the context, every write begins with the same file name."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("paimon_explore.write.write_target.uuid4", lambda: UUID(int=7))
        yield


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
