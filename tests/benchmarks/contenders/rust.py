"""pypaimon-rust, the faster one of its two interfaces for each operation."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import pyarrow as pa
from pypaimon_rust.datafusion import PaimonCatalog, SQLContext

from benchmarks.contenders.sql_rows import added_up, check_rows

Found = dict[str, Any]


def versions() -> Mapping[str, str]:
    return {"pypaimon-rust": version("pypaimon-rust"), "pyarrow": pa.__version__}


def _table(warehouse: str, name: str) -> Any:  # noqa: ANN401 - a class of the extension
    return PaimonCatalog({"warehouse": warehouse}).get_table(f"db.{name}")


def _builder(
    warehouse: str,
    table: str,
    *,
    columns: list[str] | None = None,
    equal: Sequence[Any] | None = None,
    between: Sequence[Any] | None = None,
) -> Any:  # noqa: ANN401 - a class of the extension
    builder = _table(warehouse, table).new_read_builder()
    if columns:
        builder = builder.with_projection(columns)
    parts = []
    if equal is not None:
        parts.append({"method": "equal", "field": equal[0], "literals": [equal[1]]})
    if between is not None:
        parts.append({"method": "between", "field": between[0], "literals": list(between[1:])})
    if parts:
        whole = parts[0] if len(parts) == 1 else {"method": "and", "children": parts}
        builder = builder.with_filter(whole)
    return builder


def plan(
    warehouse: str,
    table: str,
    equal: Sequence[Any] | None = None,
    between: Sequence[Any] | None = None,
) -> Found:
    splits = _builder(warehouse, table, equal=equal, between=between).new_scan().plan().splits()
    return {"splits": len(splits), "rows": sum(split.row_count() for split in splits)}


def files(warehouse: str, table: str, to: str) -> Found:
    found = pa.Table.from_batches(_context(warehouse).sql(f'select * from "{table}$files"'))  # noqa: S608 - ours
    return {"rows": len(found.to_pandas()) if to == "pandas" else found.num_rows}


def read(
    warehouse: str,
    table: str,
    columns: list[str] | None = None,
    between: Sequence[Any] | None = None,
    add_up: str = "v1",
) -> Found:
    builder = _builder(warehouse, table, columns=columns, between=between)
    splits = builder.new_scan().plan().splits()
    found = pa.Table.from_batches(list(builder.new_read().read_arrow(splits)))
    return {"rows": found.num_rows, "sum": added_up(found.column(add_up))}


def stream(warehouse: str, table: str, add_up: str = "v1") -> Found:
    builder = _builder(warehouse, table)
    rows = total = 0
    for batch in builder.new_read().read_arrow(builder.new_scan().plan().splits()):
        rows += batch.num_rows
        total += added_up(batch.column(add_up)) or 0
    return {"rows": rows, "sum": total}


def first_batch(warehouse: str, table: str) -> Found:
    builder = _builder(warehouse, table)
    splits = builder.new_scan().plan().splits()
    batch = next(iter(builder.new_read().read_arrow(splits)))
    return {"columns": len(batch.schema.names)}


def prepare_write(warehouse: str, rows: str, **_: object) -> pa.Table:
    with pa.memory_map(f"{warehouse}/{rows}") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def write(warehouse: str, table: str, rows: str, prepared: pa.Table) -> Found:
    del rows
    builder = _table(warehouse, table).new_batch_write_builder()
    writer = builder.new_write()
    for batch in prepared.to_batches():
        writer.write_arrow(batch)
    builder.new_commit().commit(writer.prepare_commit())
    return {}


def one_row_commits(warehouse: str, table: str) -> Callable[[int], None]:
    """A function that commits one row."""
    opened = _table(warehouse, table)
    schema = pa.schema((pa.field("id", pa.int64()), pa.field("v", pa.string())))

    def commit(number: int) -> None:
        builder = opened.new_batch_write_builder()
        writer = builder.new_write()
        row = [{"id": number, "v": f"x{number}"}]
        writer.write_arrow(pa.RecordBatch.from_pylist(row, schema=schema))
        builder.new_commit().commit(writer.prepare_commit())

    return commit


def _context(warehouse: str, database: str = "db") -> SQLContext:
    context = SQLContext()
    context.register_catalog("p", {"warehouse": warehouse})
    context.set_current_catalog("p")
    context.set_current_database(database)
    return context


_kept_context = cache(_context)


def sql(warehouse: str, query: str, ordered: bool, database: str = "db") -> Found:  # noqa: FBT001 - by name
    """A query in a context that stays open, as an application does."""
    batches = _kept_context(warehouse, database).sql(query)
    return {"rows": pa.Table.from_batches(batches), "ordered": ordered}


def check_sql(rows: pa.Table, ordered: bool) -> Found:  # noqa: FBT001 - by name
    return check_rows(rows, ordered=ordered)


def first_row(warehouse: str, query: str) -> Found:
    return {"rows": pa.Table.from_batches(_context(warehouse).sql(query)).num_rows}
