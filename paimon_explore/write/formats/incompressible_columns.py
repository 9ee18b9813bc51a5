"""Finds columns whose values do not compress, such as random floating-point numbers and hashes.

Compressing and decompressing such values costs several times what Arrow needs to encode and decode
them, and saves almost nothing. Parquet has a codec per column chunk, so they are stored
uncompressed. A sample decides: its bytes are as a page stores them (PLAIN encoding).
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_buffer, fixed_values

MIN_ROWS = 4096
"""Number of rows from which on the sample costs less than compressing the column would."""
_MIN_SAVED = 1 / 8
"""Share of the size that compression must save."""
_MIN_SAMPLE, _MAX_SAMPLE = 8 << 10, 128 << 10
_SAMPLE_SHARE = 8
"""A sample has one of this many parts of a column, within these limits, in bytes."""
_MIN_BITS = 32


def incompressible(
    columns: Sequence[Column], widths: Sequence[int], level: int | None
) -> list[bool]:
    """For each column whether compression with zstd would save less than an eighth of its size.

    Args:
        columns: columns of the same length.
        widths: bits of a value of each column; 0 if the width varies.
        level: the level of zstd; None for the default.
    """
    if not columns or len(columns[0]) < MIN_ROWS:
        return [False] * len(columns)
    codec = pa.Codec("zstd", level)
    return [
        width >= _MIN_BITS and not column.null_count and _is_incompressible(column, width, codec)
        for column, width in zip(columns, widths, strict=True)
    ]


def _is_incompressible(column: Column, width: int, codec: pa.Codec) -> bool:
    values = fixed_values(column, np.dtype(f"<u{width // 8}"))
    size = min(max(values.nbytes // _SAMPLE_SHARE, _MIN_SAMPLE), _MAX_SAMPLE)
    sample = values[: size // values.itemsize]
    return codec.compress(as_buffer(sample)).size > sample.nbytes * (1 - _MIN_SAVED)
