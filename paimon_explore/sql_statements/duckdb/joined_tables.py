"""The tables of a join, whose sizes DuckDB has to know to choose the order of the joins.

It takes a scan for one row, but knows the rows of an Arrow table. So tables that fit into memory
are read before the join, once for all references with the same columns and conditions.
"""

from collections.abc import Mapping

import pyarrow as pa

from paimon_explore.table.scan import Scan

_MAX_VALUES = 64_000_000
"""Maximum number of values of a table that is read into memory."""


def with_known_sizes(sources: Mapping[str, object]) -> dict[str, object]:
    """Return the sources of a join with scans read into memory, unless they are too large.

    Args:
        sources: by name: scans, and others that stay as they are.
    """
    read: list[tuple[Scan, pa.Table]] = []
    found = dict(sources)
    for name, scan in sources.items():
        if isinstance(scan, Scan) and _fits(scan):
            table = next((rows for other, rows in read if _is_same(other, scan)), None)
            if table is None:
                table = scan.to_arrow()
                read.append((scan, table))
            found[name] = table
    return found


def _fits(scan: Scan) -> bool:
    snapshot = scan.target.snapshot
    rows = None if snapshot is None else snapshot.total_record_count
    return rows is not None and rows * len(scan.columns) <= _MAX_VALUES


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
