"""SQL conditions on data files: partition columns and file properties.

The properties are bucket, level, rows, size, schema, created, added, removed and file. If a
partition column has the same name, the property is called `file_<name>`. Sizes may have a unit:
`size < 1 MB`.
"""

import re

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    bool_values,
    build_fixed,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.inspection.history.file_lifetimes import FileLifetimes
from paimon_explore.inspection.history.timeline import Timeline
from paimon_explore.metadata.manifest.manifest_table import Chunks
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.sql_parser import parse_where

_INT = AtomicType(root=TypeRoot.INT)
_LONG = AtomicType(root=TypeRoot.BIGINT)
_TIME = AtomicType(root=TypeRoot.TIMESTAMP, precision=3)
_TEXT = AtomicType(root=TypeRoot.VARCHAR, length=2**31 - 1)

PROPERTIES = {
    "bucket": _INT,
    "level": _INT,
    "rows": _LONG,
    "size": _LONG,
    "schema": _LONG,
    "created": _TIME,
    "added": _LONG,
    "removed": _LONG,
    "file": _TEXT,
}
"""The file properties that a condition may use. `added` and `removed` are snapshot ids."""

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_TOKEN = re.compile(r"'(?:[^']|'')*'|`[^`]*`|\"[^\"]*\"|\b(\d+(?:\.\d+)?)\s*([kKMGT]?B)\b")


def without_units(text: str) -> str:
    """The condition with sizes converted to bytes.

    >>> without_units("size < 1.5 MB and dt = '3 MB'")
    "size < 1500000 and dt = '3 MB'"
    """
    return _TOKEN.sub(_plain, text)


def _plain(found: re.Match[str]) -> str:
    number, unit = found.groups()
    return found.group() if number is None else str(round(float(number) * _UNITS[unit.upper()]))


def matching_files(
    lifetimes: FileLifetimes, timeline: Timeline, partition_type: RowType, text: str
) -> Bools:
    """The files that match a condition.

    Args:
        lifetimes: n files.
        timeline: gives the snapshot ids of `added` and `removed`.
        partition_type: types of the partition columns.
        text: the condition; empty for all files.

    Returns:
        n booleans; False where the condition is NULL.

    Raises:
        InvalidInputError: the condition is invalid; the message has the position.
    """
    if not text.strip():
        return np.ones(len(lifetimes), np.bool_)
    parsed = parse_where(without_units(text))
    row_type = _row_type(partition_type if lifetimes.partitions.columns is not None else None)
    bound = bind(parsed, row_type)
    truth = evaluate(bound, _table(lifetimes, timeline, row_type), row_type)
    combined: Column = truth.combine_chunks() if isinstance(truth, pa.ChunkedArray) else truth
    return bool_values(combined) & valid_mask(combined)


def _row_type(partition_type: RowType | None) -> RowType:
    partition = () if partition_type is None else partition_type.fields
    taken = {field.name for field in partition}
    names = {n: f"file_{n}" if n in taken else n for n in PROPERTIES}
    own = [
        DataField(id=-1 - i, name=names[n], type=t) for i, (n, t) in enumerate(PROPERTIES.items())
    ]
    return RowType(fields=(*partition, *own))


def _table(lifetimes: FileLifetimes, timeline: Timeline, row_type: RowType) -> pa.Table:
    codes = lifetimes.partitions.codes
    partition: list[Column | Chunks] = [
        take_rows(column, codes) for column in lifetimes.partitions.columns or ()
    ]
    files = lifetimes.files
    own: list[Column | Chunks] = [
        files.column("bucket"),
        files.column("level"),
        files.column("row_count"),
        files.column("file_size"),
        files.column("schema_id"),
        files.column("creation_time").cast(pa.timestamp("ms")),
        snapshot_ids(lifetimes.added, timeline),
        snapshot_ids(lifetimes.removed, timeline),
        files.column("file_name"),
    ]
    return pa.Table.from_arrays([*partition, *own], names=list(row_type.names))


def snapshot_ids(positions: Ints, timeline: Timeline) -> Column:
    """Snapshot ids of `added` or `removed`; null for expired snapshots and live files."""
    ids = np.array([0, *(mark.snapshot_id for mark in timeline.marks), 0], np.int64)
    valid = (positions > 0) & (positions <= len(timeline))
    return build_fixed(pa.int64(), ids[positions], valid)
