"""Folders of Parquet files, with partitions as folders, as Spark reads them."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.engine import ForeignTable

_PARTITION = re.compile(r"([^/=]+)=([^/]*)/")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_LOCAL = pa.timestamp("us", "UTC")
_PARTITION_TYPES = (pa.int32(), pa.int64(), pa.float64(), pa.date32(), pa.string())
"""Types of partition columns: the first to which all values can be cast."""


def parquet_folder(file_io: FileIO, folder: str) -> ForeignTable:
    """Return the rows of a folder of Parquet files, without hidden files and folders.

    Raises:
        InvalidInputError: the folder contains no Parquet files, or others.
    """
    below = [status.path[len(folder) :] for status in file_io.walk(folder)]
    names = sorted(name for name in below if not re.search(r"/[_.]", name))
    try:
        files = [(name, file_io.open(folder + name)) for name in names]
        first = pq.ParquetFile(files[0][1])
    except (pa.ArrowInvalid, IndexError) as error:
        why = f"{names[0][1:]!r} is none." if names else "it does not exist or is empty."
        raise InvalidInputError(f"{folder!r} is not a folder of Parquet files: {why}") from error
    values = [dict(_PARTITION.findall(name)) for name in names]
    keys = tuple(values[0])
    columns = {key: _column([unquote(one[key]) for one in values]) for key in keys}
    stored = [
        (field.name, _LOCAL if field.name in _int96(first) else field.type)
        for field in first.schema_arrow
        if field.name not in columns
    ]
    schema = pa.schema([*stored, *((key, column.type) for key, column in columns.items())])
    form = ds.ParquetFileFormat(coerce_int96_timestamp_unit="us")
    fragments = [
        form.make_fragment(file, partition_expression=_partition(columns, at))  # type: ignore[arg-type]  # a stream
        for at, (_, file) in enumerate(files)
    ]
    dataset = ds.FileSystemDataset(fragments, schema, form)
    return ForeignTable(rows=DuckRows("SELECT * FROM files", {"files": dataset}), partition_by=keys)


def _int96(file: pq.ParquetFile) -> set[str]:
    """Return the timestamps that Spark writes with local time zone."""
    found = [file.schema.column(at) for at in range(len(file.schema))]
    return {one.path for one in found if one.physical_type == "INT96"}


def _column(texts: list[str]) -> Column:
    given = pa.array([None if text == _NULL else text for text in texts], pa.string())
    for kind in _PARTITION_TYPES:
        try:
            return given.cast(kind)
        except pa.ArrowInvalid:
            continue
    return given


def _partition(columns: Mapping[str, Column], at: int) -> ds.Expression:
    """Return the values of the partition columns of a file."""
    made = ds.scalar(True)  # noqa: FBT003 - the constant
    for key, column in columns.items():
        value, field = column[at], ds.field(key)
        made &= (field == value) if value.is_valid else field.is_null()
    return made
