"""Partition statistics of manifests: bounds and null counts of partition columns.

Bounds are exact, per partition column. A column has no bounds if all values are null, or if it has
a NaN, which has no order.

Spec: concepts/spec/manifest, manifest list.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import Column, valid_mask
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.encoding.binary_row.decoder import decode_rows, null_fields
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles

_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_WHERE = "_PARTITION_STATS"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRange:
    """Bounds and null counts of partition columns.

    Attributes:
        low: binary row of the minima, with arity.
        high: binary row of the maxima, with arity.
        null_counts: number of entries with null, per partition column.
    """

    low: bytes
    high: bytes
    null_counts: tuple[int, ...]


def range_of_entries(entries: ManifestEntries, partition_type: RowType) -> PartitionRange:
    """Return the partition range of at least one entry."""
    if not len(partition_type):
        return PartitionRange(low=EMPTY_ROW, high=EMPTY_ROW, null_counts=())
    known = entries.partitions
    if len(known) == 1 and not any(map(_is_float, _types(partition_type))):
        (only,) = known  # minimum and maximum
        nulls = tuple(len(entries) * is_null for is_null in null_fields(only, len(partition_type)))
        return PartitionRange(low=only, high=only, null_counts=nulls)
    counted = (
        entries.table.select(["partition"]).group_by("partition").aggregate([([], "count_all")])
    )
    weights = np.array(counted.column("count_all").to_pylist(), np.int64)
    rows = pa.array([row.as_py() for row in counted.column("partition")], pa.binary())
    columns = decode_rows(rows, _types(partition_type), where="_PARTITION")
    nulls = tuple(int(weights[~valid_mask(column)].sum()) for column in columns)
    return _range(columns, columns, nulls, partition_type, [False] * len(columns))


def range_of_manifests(manifests: ManifestFiles, partition_type: RowType) -> PartitionRange | None:
    """Return the partition range of several manifests; None if statistics are missing."""
    if not len(partition_type):
        return PartitionRange(low=EMPTY_ROW, high=EMPTY_ROW, null_counts=())
    rows = list(manifests.rows())
    counts = [row["partition_null_counts"] for row in rows]
    nulls: list[Sequence[int]] = []
    for found in counts:
        if not isinstance(found, list) or len(found) != len(partition_type) or None in found:
            return None
        nulls.append(found)
    types = _types(partition_type)
    low, high = (
        decode_rows(pa.array([row[name] for row in rows], pa.binary()), types, where=_WHERE)
        for name in ("partition_min", "partition_max")
    )
    by_column = np.array(nulls, np.int64)
    sizes = np.array([_size(row) for row in rows], np.int64)
    unknown = [
        bool((~valid_mask(column) & (by_column[:, i] < sizes)).any())
        for i, column in enumerate(low)
    ]
    return _range(low, high, tuple(by_column.sum(axis=0).tolist()), partition_type, unknown)


def _size(row: dict[str, object]) -> int:
    added, deleted = row["num_added_files"], row["num_deleted_files"]
    return (added if isinstance(added, int) else 0) + (deleted if isinstance(deleted, int) else 0)


def _is_float(data_type: DataType) -> bool:
    """Return whether values may be NaN."""
    return isinstance(data_type, AtomicType) and data_type.root in _FLOATS


def _types(partition_type: RowType) -> list[DataType]:
    return [with_nullable(field.type, nullable=True) for field in partition_type]


def _range(
    lows: Sequence[Column],
    highs: Sequence[Column],
    nulls: tuple[int, ...],
    partition_type: RowType,
    unknown: Sequence[bool],
) -> PartitionRange:
    bounds = [
        _bounds(low, high, unknown=is_unknown)
        for low, high, is_unknown in zip(lows, highs, unknown, strict=True)
    ]
    minimum, maximum = row_images(bounds, _types(partition_type))
    return PartitionRange(low=minimum, high=maximum, null_counts=nulls)


def _bounds(low: Column, high: Column, *, unknown: bool) -> Column:
    """Return an array of minimum and maximum of one column."""
    if unknown or (pa.types.is_floating(low.type) and _has_nan(low)):
        nothing: Column = pa.nulls(2, low.type)  # type: ignore[call-overload]  # stubs list single types
        return nothing
    ends = (pc.min_max(low)["min"], pc.min_max(high)["max"])
    return pa.concat_arrays([pa.repeat(end, 1) for end in ends])  # type: ignore[call-overload]  # stubs list single types


def _has_nan(column: Column) -> bool:
    return bool(pc.any(pc.is_nan(column)).as_py())
