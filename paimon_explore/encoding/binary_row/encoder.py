"""Encoder of binary rows, in which Paimon stores, hashes and compares partitions and keys.

A row consists of a header (row kind, null bits), a fixed part of 8 bytes per field and a variable
part, all little-endian. In manifests it is preceded by its arity (number of fields) as big-endian
int32.

Spec: concepts/spec/manifest, binary row. Seen in: golden java200/all_types_pk_parquet.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.binary_row.nested_encoder import encode_cells, pack_rows
from paimon_explore.encoding.binary_row.row_layout import ARITY_BYTES
from paimon_explore.encoding.binary_row.single_row_encoder import MAX_ROWS, encode_single_rows


def encode_rows(
    columns: Sequence[Column],
    types: Sequence[DataType],
    *,
    reserve_nulls: bool = True,
    count: int | None = None,
) -> pa.BinaryArray:
    """Encode rows without arity.

    Args:
        columns: k columns of n values each, exactly in `to_arrow(type)`.
        types: the k types.
        reserve_nulls: whether nulls of wide decimals and timestamps reserve space; True for
            partitions, keys and bucket keys, and for statistics since release 1.2.
        count: n, required without columns.

    Returns:
        n rows, row kind +I, none null.

    >>> from paimon_explore.data_types.definitions import AtomicType, TypeRoot
    >>> rows = encode_rows([pa.array([1], pa.int32())], [AtomicType(root=TypeRoot.INT)])
    >>> rows[0].as_py().hex()
    '00000000000000000100000000000000'
    """
    size = len(columns[0]) if columns else (count or 0)
    few = encode_single_rows(columns, types, size) if reserve_nulls and size <= MAX_ROWS else None
    if few is not None:
        offsets = nb.offsets_from_sizes(np.array([len(image) for image in few], np.int64))
        return nb.build_binary(offsets, nb.as_bytes(b"".join(few)), np.ones(size, np.bool_))
    cells = [
        encode_cells(column, data_type, reserve=reserve_nulls)
        for column, data_type in zip(columns, types, strict=True)
    ]
    offsets, data = pack_rows(cells, size)
    return nb.build_binary(offsets, data)


def row_images(
    columns: Sequence[Column], types: Sequence[DataType], *, count: int | None = None
) -> list[bytes]:
    """Encode rows with arity, as in manifests, to Python bytes.

    Args:
        columns: as for `encode_rows`.
        types: as for `encode_rows`.
        count: number of rows, required without columns.
    """
    size = len(columns[0]) if columns else (count or 0)
    few = encode_single_rows(columns, types, size) if size <= MAX_ROWS else None
    if few is None:
        few = [row.as_py() or b"" for row in encode_rows(columns, types, count=size)]
    head = len(types).to_bytes(ARITY_BYTES, "big")
    return [head + image for image in few]
