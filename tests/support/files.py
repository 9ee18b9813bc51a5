"""Small data files made on the spot."""

import io
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.data_file_reader import StoredColumn


def parquet_bytes(
    columns: Mapping[str, Column], rows_per_group: int = 1_000, rows_per_page: int | None = None
) -> bytes:
    """A Parquet file; its pages have a MiB, or so many rows."""
    out = io.BytesIO()
    table = pa.table(list(columns.values()), names=list(columns))
    pq.write_table(
        table,
        out,
        row_group_size=rows_per_group,
        store_schema=False,
        data_page_size=rows_per_page and 1,
        write_batch_size=rows_per_page,
    )
    return out.getvalue()


def orc_bytes(columns: Mapping[str, Column], stripe_bytes: int = 64 << 20) -> bytes:
    """An ORC file."""
    out = io.BytesIO()
    table = pa.table(list(columns.values()), names=list(columns))
    po.write_table(table, out, stripe_size=stripe_bytes, batch_size=512)
    return out.getvalue()


def stored(name: str, data_type: object) -> StoredColumn:
    """A column to read, its type as in a schema file."""
    return StoredColumn(name=name, type=parse_type(data_type, "test"))
