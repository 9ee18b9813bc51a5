"""Rows of append tables brought in the order of some columns, so that statistics tell more.

| strategy | rows are ordered by |
| --- | --- |
| order | the columns, one after the other, nulls first |
| zorder, hilbert | their place on that curve through the space of the columns |
| auto | order for one column, zorder for up to four, else hilbert |

All rows of a partition are sorted at once, in memory. The files are replaced in an OVERWRITE commit
which fails if one of them is gone by then; what others append meanwhile stays.

With `clustering.incremental` a compaction sorts too: the files that it takes become a sorted run on
a level above 0, and only what is new since then is sorted the next time (commit kind COMPACT).

Spec: append-table, sort compaction and incremental clustering.
Seen in: golden java200/clustering_incremental.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, empty_array
from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.space_filling_curves import (
    by_hilbert,
    by_z_order,
    ordered_words,
)
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.numpy_columns import int64_array
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

STRATEGIES = ("order", "zorder", "hilbert", "auto")
_MOST_Z_ORDER = 4
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrder:
    """How rows are ordered.

    Attributes:
        strategy: order, zorder or hilbert.
        columns: by which columns.
    """

    strategy: str
    columns: tuple[DataField, ...]

    def sorted_batches(self, batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """The rows in this order; rows that are alike keep theirs."""
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
            words = [
                ordered_words(part, field.type)
                for part, field in zip(parts, self.columns, strict=True)
            ]
            order = by_z_order(words) if self.strategy == "zorder" else by_hilbert(words)
        return rows.take(int64_array(order))


def row_order(
    schema: TableSchema, options: TableOptions, strategy: str | None, columns: Sequence[str]
) -> RowOrder:
    """The order that the caller asks for, or else the table's options.

    Raises:
        InvalidInputError: an unknown strategy or column, or no column at all.
        UnsupportedFeatureError: a column has no order.
    """
    names = tuple(columns) or options.value(opt.CLUSTERING_COLUMNS)
    wanted = (strategy or options.value(opt.CLUSTERING_STRATEGY)).lower().replace("-", "")
    if wanted not in STRATEGIES:
        raise InvalidInputError(
            f"Unknown strategy {strategy!r}.", hint=f"Strategies: {choices(STRATEGIES)}."
        )
    if not names:
        raise InvalidInputError(
            "Sorting needs columns.",
            hint=f"Pass columns=[…], or set {opt.CLUSTERING_COLUMNS.key!r}.",
        )
    unknown = [name for name in names if schema.field(name) is None]
    if unknown:
        raise InvalidInputError(
            f"The table has no column {unknown[0]!r}.",
            hint=f"Its columns: {choices(schema.row_type.names)}.",
        )
    fields = schema.project(names).fields
    for field in fields:
        ordered_words(empty_array(to_arrow(field.type)), field.type)
    if wanted == "auto":
        wanted = "order" if len(names) == 1 else "zorder"
        wanted = "hilbert" if len(names) > _MOST_Z_ORDER else wanted
    return RowOrder(strategy=wanted, columns=fields)
