"""Arrow's reader of Parquet files, without `pyarrow.parquet`.

`pyarrow.parquet` imports the clients of all stores, which takes as long as the rest of Arrow, and
its `ParquetFile` lists the paths of all columns of each file. `ParquetReader` is what it wraps.
"""

from collections.abc import Sequence

import pyarrow as pa
from pyarrow._parquet import (
    ColumnChunkMetaData,
    FileMetaData,
    ParquetReader,
    RowGroupMetaData,
)

__all__ = [
    "ColumnChunkMetaData",
    "FileMetaData",
    "ParquetReader",
    "RowGroupMetaData",
    "open_reader",
]


def open_reader(
    file: pa.NativeFile,
    *,
    metadata: FileMetaData | None = None,
    buffer_size: int = 0,
    pre_buffer: bool = False,
    coded: Sequence[str] = (),
) -> ParquetReader:
    """Open a file.

    Args:
        file: opened for random access.
        metadata: its footer, if it is known.
        buffer_size: size of a read; 0 to read whole column chunks.
        pre_buffer: whether the wanted chunks of row groups are requested together.
        coded: names of the columns to read as dictionary arrays.

    Raises:
        pa.ArrowException, OSError: the file is damaged.
    """
    reader = ParquetReader()
    reader.open(
        file,
        metadata=metadata,
        buffer_size=buffer_size,
        pre_buffer=pre_buffer,
        read_dictionary=list(coded) or None,
    )
    return reader
