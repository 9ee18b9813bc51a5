"""This library. Nothing that was decoded before is used again, as if each run were the first."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import paimon_explore as pe
from benchmarks.contenders.sql_rows import added_up, check_rows
from paimon_explore.metadata.manifest.manifest_codec import decode_entries
from paimon_explore.store.manifests import shared_cache

if TYPE_CHECKING:
    from benchmarks.data.far_table import FarStore

Found = dict[str, Any]


def versions() -> Mapping[str, str]:
    return {"pyarrow": pa.__version__}


def _table(warehouse: str, name: str) -> pe.Table:
    shared_cache().clear()
    return pe.open_table(f"{warehouse}/db.db/{name}")


def _where(equal: Sequence[Any] | None, between: Sequence[Any] | None) -> str | None:
    parts = [] if equal is None else [f"{equal[0]} = {equal[1]!r}"]
    if between is not None:
        parts.append(f"{between[0]} between {between[1]!r} and {between[2]!r}")
    return " and ".join(parts) or None


def plan(
    warehouse: str,
    table: str,
    equal: Sequence[Any] | None = None,
    between: Sequence[Any] | None = None,
) -> Found:
    plan = _table(warehouse, table).scan(where=_where(equal, between)).plan()
    return {"splits": len(plan.splits), "rows": sum(split.row_count for split in plan.splits)}


def decode(warehouse: str, file: str) -> Found:
    data = Path(f"{warehouse}/{file}").read_bytes()
    return {"records": len(decode_entries([(file, data)])[0])}


def files(warehouse: str, table: str, to: str) -> Found:
    found = _table(warehouse, table).inspect.files()
    return {"rows": len(found.to_pandas()) if to == "pandas" else found.num_rows}


def read(
    warehouse: str,
    table: str,
    columns: list[str] | None = None,
    between: Sequence[Any] | None = None,
    add_up: str = "v1",
) -> Found:
    found = _table(warehouse, table).scan(columns=columns, where=_where(None, between)).to_arrow()
    return {"rows": found.num_rows, "sum": added_up(found.column(add_up))}


def stream(warehouse: str, table: str, add_up: str = "v1") -> Found:
    rows = total = 0
    for batch in _table(warehouse, table).scan().to_batches():
        rows += batch.num_rows
        total += added_up(batch.column(add_up)) or 0
    return {"rows": rows, "sum": total}


def first_batch(warehouse: str, table: str) -> Found:
    batch = next(iter(pe.open_table(f"{warehouse}/db.db/{table}").scan().to_batches()))
    return {"columns": len(batch.schema.names)}


def prepare_write(warehouse: str, rows: str, **_: object) -> pa.Table:
    with pa.memory_map(f"{warehouse}/{rows}") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def write(warehouse: str, table: str, rows: str, prepared: pa.Table) -> Found:
    del rows
    opened = pe.open_table(f"{warehouse}/db.db/{table}")
    (opened.upsert if opened.schema.primary_keys else opened.append)(prepared)
    return {}


def prepare_far(warehouse: str, **_: object) -> object:
    del warehouse
    from benchmarks.data.far_table import far_store  # noqa: PLC0415 - needs a server

    return far_store()


def far(warehouse: str, work: str, delay_ms: float, is_first: bool, prepared: "FarStore") -> Found:  # noqa: FBT001 - by name
    del warehouse
    from benchmarks.data.far_table import measure  # noqa: PLC0415 - as above

    return measure(prepared, work, delay_ms, is_first=is_first)


def one_row_commits(warehouse: str, table: str) -> Callable[[int], None]:
    """A function that commits one row."""
    opened = pe.open_table(f"{warehouse}/db.db/{table}")
    schema = pa.schema((pa.field("id", pa.int64()), pa.field("v", pa.string())))

    def commit(number: int) -> None:
        opened.append(pa.table({"id": [number], "v": [f"x{number}"]}, schema=schema))

    return commit


@cache
def _catalog(warehouse: str, database: str) -> pe.Catalog:
    catalog = pe.Catalog(warehouse)
    catalog.sql(f"USE {database}")
    return catalog


def sql(warehouse: str, query: str, ordered: bool, database: str = "db") -> Found:  # noqa: FBT001 - by name
    """A query in a catalog that stays open, as an application does."""
    return {"rows": _catalog(warehouse, database).sql(query).to_arrow(), "ordered": ordered}


def check_sql(rows: pa.Table, ordered: bool) -> Found:  # noqa: FBT001 - by name
    return check_rows(rows, ordered=ordered)


def first_row(warehouse: str, query: str) -> Found:
    return {"rows": pe.Catalog(warehouse).sql(query).to_arrow().num_rows}
