"""Sort compaction of append tables, which makes column statistics more selective.

| strategy | sort order |
| --- | --- |
| order | lexicographic by the columns, nulls first |
| zorder, hilbert | the position on this space-filling curve |
| auto | order for one column, zorder for up to four, else hilbert |

All rows of a partition are sorted in memory. An OVERWRITE commit replaces the files; it fails if
one of them has been removed in the meantime, and keeps rows that others appended.

With `clustering.incremental` a normal compaction sorts: its files become a sorted run on a level
above 0, and the next compaction only sorts newer files (commit kind COMPACT).

Spec: append-table, sort compaction and incremental clustering.
Seen in: golden java200/clustering_incremental.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, empty_array
from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.space_filling_curves import (
    hilbert_order,
    sort_keys,
    z_order,
)
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.numpy_columns import int64_array
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

STRATEGIES = ("order", "zorder", "hilbert", "auto")
_MAX_Z_ORDER_COLUMNS = 4
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrder:
    """The sort order of rows.

    Attributes:
        strategy: order, zorder or hilbert.
        columns: the columns to sort by.
    """

    strategy: str
    columns: tuple[DataField, ...]

    def sorted_batches(self, batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """Sort rows; equal rows keep their order."""
        unsorted = list(batches)
        if not unsorted:
            return []
        rows = pa.Table.from_batches(unsorted).combine_chunks()
        return self._sorted(rows).to_batches(max_chunksize=_BATCH_ROWS)

    def _sorted(self, rows: pa.Table) -> pa.Table:
        parts: list[Column] = [rows.column(field.name).chunk(0) for field in self.columns]  # type: ignore[misc]  # stubs: a chunk is chunked
        if self.strategy == "order":
            order = np.argsort(ranks(parts, count=len(rows)), kind="stable")
        else:
            keys = [
                sort_keys(part, field.type) for part, field in zip(parts, self.columns, strict=True)
            ]
            order = z_order(keys) if self.strategy == "zorder" else hilbert_order(keys)
        return rows.take(int64_array(order))


def row_order(
    schema: TableSchema, options: TableOptions, strategy: str | None, columns: Sequence[str]
) -> RowOrder:
    """Return the sort order given by the caller, or else by the table's options.

    Raises:
        InvalidInputError: the strategy or a column is unknown, or there are no columns.
        UnsupportedFeatureError: a column's type has no order.
    """
    names = tuple(columns) or options.value(opt.CLUSTERING_COLUMNS)
    name = (strategy or options.value(opt.CLUSTERING_STRATEGY)).lower().replace("-", "")
    if name not in STRATEGIES:
        raise InvalidInputError(
            f"Unknown sort strategy {name!r}.", hint=f"Use one of {choices(STRATEGIES)}."
        )
    if not names:
        raise InvalidInputError(
            "Sorting a table requires at least one column.",
            hint=f"Pass columns=[…], or set the option {opt.CLUSTERING_COLUMNS.key!r}.",
        )
    unknown = [name for name in names if schema.field(name) is None]
    if unknown:
        raise InvalidInputError(
            f"The table has no column {unknown[0]!r}.",
            hint=f"Columns: {choices(schema.row_type.names)}.",
        )
    fields = schema.project(names).fields
    for field in fields:
        try:
            sort_keys(empty_array(to_arrow(field.type)), field.type)
        except UnsupportedFeatureError as error:
            raise UnsupportedFeatureError(
                f"sorting rows by column {field.name!r} of type {type_text(field.type)}",
                hint="Sort by columns of other types.",
            ) from error
    if name == "auto":
        name = "order" if len(names) == 1 else "zorder"
        name = "hilbert" if len(names) > _MAX_Z_ORDER_COLUMNS else name
    return RowOrder(strategy=name, columns=fields)
