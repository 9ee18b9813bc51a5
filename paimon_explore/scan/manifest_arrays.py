"""Conversion between columns of manifest tables and NumPy arrays, without importing pandas.

Pruning stages: the mask of the files that a criterion keeps, and its counts.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Numbers,
    as_python,
    build_fixed,
    build_values,
    fixed_values,
    int64_values,
    list_offsets,
    true_mask,
    valid_mask,
)
from paimon_explore.data_types.definitions import DataType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import as_array

Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"
Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
"""Row numbers, or values of an integer column."""

Dictionary: TypeAlias = "pa.DictionaryArray[pa.DataType, pa.DataType]"

_BITS_PER_BYTE = 8


def column(table: pa.Table, name: str) -> Column:
    """A column of a table as one array."""
    return as_array(table.column(name))


def as_binary(values: Column) -> pa.BinaryArray:
    """Narrows the static type of an array to binary."""
    return values  # type: ignore[return-value]  # guaranteed by the caller


def byte_rows(values: Column) -> list[bytes]:
    """The values of a binary array without nulls."""
    return [value for value in as_python(values) if isinstance(value, bytes)]


def byte_array(values: Sequence[bytes]) -> pa.BinaryArray:
    """Bytes as a binary array."""
    return build_values(values, pa.binary())  # type: ignore[return-value]  # in stubs


def items_of(lists: Column) -> Column:
    """All items of a list array; `list_offsets` returns the bounds of each list."""
    return lists.values  # type: ignore[attr-defined,no-any-return]  # a list array


def members(structs: Column, names: Sequence[str]) -> list[Column]:
    """Fields of a struct array by name; the validity of the structs is not applied."""
    return [structs.field(name) for name in names]  # type: ignore[attr-defined]  # a struct array


def binary(table: pa.Table, name: str) -> pa.BinaryArray:
    """A binary column of a table as one array."""
    return as_binary(column(table, name))


def text(table: pa.Table, name: str) -> pa.StringArray:
    """A text column of a table as one array."""
    return column(table, name)  # type: ignore[return-value]  # by the table's schema


def numbers(table: pa.Table, name: str) -> Rows:
    """An integer column as int64; 0 where null."""
    return int64_values(column(table, name))


def _raw_numbers(values: Column) -> Numbers:
    """Integers in their own width; values at nulls are arbitrary."""
    return fixed_values(values, f"i{values.type.bit_width // _BITS_PER_BYTE}")


def true_rows(values: "Column | Chunks") -> Mask:
    """Where a boolean column is true: neither false nor null."""
    whole: Column = as_array(values) if isinstance(values, pa.ChunkedArray) else values
    return true_mask(whole)


def row_array(rows: Rows, valid: Mask | None = None) -> pa.Int64Array:
    """Row numbers as an Arrow array; null where not valid."""
    return build_fixed(pa.int64(), rows.astype(np.int64), valid)  # type: ignore[return-value]  # in stubs


def element(lists: Column, index: int) -> pa.Int64Array:
    """Element `index` of each list of integers; null where the list is null or shorter."""
    offsets = list_offsets(lists)
    at = offsets[:-1] + index
    inside = (at < offsets[1:]) & valid_mask(lists)
    values = items_of(lists)
    if not len(values):
        return row_array(np.zeros(len(lists), np.int64), np.zeros(len(lists), np.bool_))
    at = np.where(inside, at, 0)
    if values.null_count:
        inside &= valid_mask(values)[at]
    return row_array(_raw_numbers(values)[at].astype(np.int64), inside)


def distinct(values: Column) -> tuple[Column, Rows]:
    """Dictionary-encodes an array: distinct values in order of appearance, and a code per row."""
    encoded: Dictionary = pc.call_function("dictionary_encode", [values])
    return encoded.dictionary, int64_values(encoded.indices)


def codes_of(values: Chunks) -> Rows:
    """Dictionary code of each row, in order of appearance; chunks are not concatenated."""
    encoded: list[Dictionary] = pc.call_function("dictionary_encode", [values]).chunks
    parts = [int64_values(chunk.indices) for chunk in encoded]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def group_numbers(table: pa.Table, *, by_bucket: bool = True) -> Rows:
    """A number per row that is equal for rows of the same partition (and bucket)."""
    partitions = codes_of(table.column("partition"))
    return partitions * 2**32 + numbers(table, "bucket") if by_bucket else partitions


def bucket_numbers(table: pa.Table) -> Rows:
    """A bucket number per row; buckets are numbered in order of appearance."""
    groups = group_numbers(table)
    steps = np.diff(groups)
    if (steps >= 0).all():
        return np.cumsum(np.concatenate(([False], steps > 0))[: len(groups)])
    return distinct(row_array(groups))[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Counts of one pruning stage.

    Attributes:
        name: the criterion.
        unit: `manifests` or `files`.
        total: number of items before.
        kept: number of items after.
    """

    name: str
    unit: str
    total: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStage:
    """A pruning stage applied to files.

    Attributes:
        name: the criterion.
        before: the files before the stage.
        mask: True for the files to keep.
    """

    name: str
    before: ManifestEntries
    mask: Mask

    @property
    def kept(self) -> ManifestEntries:
        """The files after the stage."""
        return self.before if self.mask.all() else self.before.filter(self.mask)


def trimmed_minimum(bounds: Column, data_type: DataType) -> Column:
    """Lower bounds of values as read: Java's ORC writer pads CHAR, its reader trims it."""
    if not is_root(data_type, TypeRoot.CHAR):
        return bounds
    trimmed: Column = pc.call_function("utf8_rtrim", [bounds], pc.TrimOptions(" "))
    return trimmed
