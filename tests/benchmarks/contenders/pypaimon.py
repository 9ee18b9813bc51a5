"""pypaimon with its default options."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pypaimon import CatalogFactory

Found = dict[str, Any]


def versions() -> Mapping[str, str]:
    return {"pypaimon": version("pypaimon"), "pyarrow": pa.__version__}


def _table(warehouse: str, name: str) -> Any:  # noqa: ANN401 - no types
    return CatalogFactory.create({"warehouse": warehouse}).get_table(f"db.{name}")


def _builder(
    warehouse: str,
    table: str,
    *,
    columns: list[str] | None = None,
    equal: Sequence[Any] | None = None,
    between: Sequence[Any] | None = None,
) -> Any:  # noqa: ANN401 - no types
    builder = _table(warehouse, table).new_read_builder()
    predicates = builder.new_predicate_builder()
    parts = [] if equal is None else [predicates.equal(*equal)]
    if between is not None:
        parts.append(predicates.between(*between))
    if columns:
        builder = builder.with_projection(columns)
    if parts:
        whole = parts[0] if len(parts) == 1 else predicates.and_predicates(parts)
        builder = builder.with_filter(whole)
    return builder


def plan(
    warehouse: str,
    table: str,
    equal: Sequence[Any] | None = None,
    between: Sequence[Any] | None = None,
) -> Found:
    splits = _builder(warehouse, table, equal=equal, between=between).new_scan().plan().splits()
    return {"splits": len(splits), "rows": sum(split.row_count for split in splits)}


def files(warehouse: str, table: str, to: str) -> Found:
    builder = _builder(warehouse, f"{table}$files")
    found = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    return {"rows": len(found.to_pandas()) if to == "pandas" else found.num_rows}


def read(
    warehouse: str,
    table: str,
    columns: list[str] | None = None,
    between: Sequence[Any] | None = None,
    add_up: str = "v1",
) -> Found:
    builder = _builder(warehouse, table, columns=columns, between=between)
    found = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    return {"rows": found.num_rows, "sum": pc.sum(found.column(add_up)).as_py()}


def first_batch(warehouse: str, table: str) -> Found:
    builder = _builder(warehouse, table)
    splits = builder.new_scan().plan().splits()
    batch = next(iter(builder.new_read().to_arrow_batch_reader(splits)))
    return {"columns": len(batch.schema.names)}


def prepare_write(warehouse: str, rows: str, **_: object) -> pa.Table:
    with pa.memory_map(f"{warehouse}/{rows}") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def write(warehouse: str, table: str, rows: str, prepared: pa.Table) -> Found:
    del rows
    _commit(_table(warehouse, table).new_batch_write_builder(), prepared)
    return {}


def one_row_commits(warehouse: str, table: str) -> Callable[[int], None]:
    """A function that commits one row."""
    opened = _table(warehouse, table)
    schema = pa.schema((pa.field("id", pa.int64()), pa.field("v", pa.string())))

    def commit(number: int) -> None:
        row = pa.table({"id": [number], "v": [f"x{number}"]}, schema=schema)
        _commit(opened.new_batch_write_builder(), row)

    return commit


def _commit(builder: Any, rows: pa.Table) -> None:  # noqa: ANN401 - no types
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(rows)
    commit.commit(writer.prepare_commit())
    writer.close()
    commit.close()
