"""A scan as a source of a Polars LazyFrame, which pushes columns, filters and limits into it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl
from polars.io.plugins import register_io_source

from paimon_explore.table.engine_scans.lazy_scan import LazyScan, narrowed
from paimon_explore.table.engine_scans.polars_filter import polars_condition

if TYPE_CHECKING:
    import pyarrow as pa


def polars_lazy_frame(scan: LazyScan) -> pl.LazyFrame:
    """Return a LazyFrame that reads a scan when it is collected."""

    def source(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        rows: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        where = None if predicate is None else polars_condition(predicate, scan.row_type)
        found = narrowed(scan, columns, where)
        if rows is not None and predicate is None:
            found = found.limit(rows)
        for batch in found.to_batches():
            frame = _frame(batch)
            yield frame if predicate is None else frame.filter(predicate)

    empty = _frame(scan.schema.empty_table())
    return register_io_source(source, schema=empty.schema)


def _frame(rows: "pa.RecordBatch | pa.Table") -> pl.DataFrame:
    found = pl.from_arrow(rows)
    return found if isinstance(found, pl.DataFrame) else found.to_frame()
