"""The tables of a join, whose sizes DuckDB has to know to choose the order of the joins.

It takes a scan for one row, but knows the rows of an Arrow table. So small tables are read before
the join, once for all references with the same columns and conditions; together they take at most
about a quarter of the memory limit.
"""

from collections.abc import Mapping

import pyarrow as pa

from paimon_explore.limits import memory_limit
from paimon_explore.table.scan import Scan

_MAX_VALUES = 64_000_000
"""Maximum number of values of the tables that are read into memory ..."""
_BYTES_PER_VALUE = 64
"""... and bytes of the memory limit for each of them, four times what most take."""


def with_known_sizes(sources: Mapping[str, object]) -> dict[str, object]:
    """Return the sources of a join with scans read into memory, unless they are too large.

    Args:
        sources: by name: scans, and others that stay as they are.
    """
    read: list[tuple[Scan, pa.Table]] = []
    found = dict(sources)
    left = min(_MAX_VALUES, memory_limit() // _BYTES_PER_VALUE)
    scans = [(name, scan) for name, scan in sources.items() if isinstance(scan, Scan)]
    for name, scan in sorted(scans, key=lambda one: _values(one[1])):
        table = next((rows for other, rows in read if _is_same(other, scan)), None)
        if table is None:
            left -= _values(scan)
            if left < 0:
                break
            table = scan.to_arrow()
            read.append((scan, table))
        found[name] = table
    return found


def _values(scan: Scan) -> int:
    """The number of stored values that a scan may read."""
    snapshot = scan.target.snapshot
    rows = 0 if snapshot is None else snapshot.total_record_count
    return _MAX_VALUES + 1 if rows is None else rows * len(scan.columns)


def _is_same(one: Scan, other: Scan) -> bool:
    if one.increment is not None or other.increment is not None:
        return False
    left, right = one.target, other.target
    return (
        (one.columns, one.where, one.row_limit) == (other.columns, other.where, other.row_limit)
        and (left.store.paths, left.branch) == (right.store.paths, right.branch)
        and (left.snapshot, left.schema, left.options)
        == (right.snapshot, right.schema, right.options)
    )
