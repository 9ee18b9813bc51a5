"""The least that can be done with the same bytes: no rule of Paimon, what pyarrow alone takes.

Merge reads are compared with reading all files unmerged, so its check is its own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

Found = dict[str, Any]


def versions() -> Mapping[str, str]:
    return {"pyarrow": pa.__version__}


def read(
    warehouse: str,
    table: str,
    columns: list[str] | None = None,
    between: Sequence[Any] | None = None,
    add_up: str = "v1",
) -> Found:
    paths = sorted(map(str, Path(f"{warehouse}/db.db/{table}").glob("bucket-*/*.parquet")))
    where = None
    if between is not None:
        where = (ds.field(between[0]) >= between[1]) & (ds.field(between[0]) <= between[2])
    found = ds.dataset(paths, format="parquet").to_table(columns=columns, filter=where)
    return {"rows": found.num_rows, "sum": pc.sum(found.column(add_up)).as_py()}


def first_batch(warehouse: str, table: str) -> Found:
    path = next(Path(f"{warehouse}/db.db/{table}").glob("bucket-*/*.parquet"))
    return {"columns": len(next(pq.ParquetFile(path).iter_batches()).schema.names)}


def prepare_write(warehouse: str, rows: str, **_: object) -> pa.Table:
    with pa.memory_map(f"{warehouse}/{rows}") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def write(warehouse: str, table: str, rows: str, prepared: pa.Table) -> Found:
    del rows
    pq.write_table(prepared, f"{warehouse}/db.db/{table}/limit.parquet", compression="zstd")
    return {}
