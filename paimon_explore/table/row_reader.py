"""Read-only rows that are computed on request: system tables, changes between snapshots."""

from collections.abc import Callable

import pyarrow as pa

from paimon_explore.data_types import data_frames
from paimon_explore.errors import choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSource:
    """Rows computed from a table's files; read-only.

    Attributes:
        name: what the rows are, such as `database.table$files`.
        schema: the columns.
        load: computes the rows, again at each call.
    """

    name: str
    schema: pa.Schema
    load: Callable[[], pa.RecordBatchReader]

    def to_batches(self) -> pa.RecordBatchReader:
        """Read all rows as a stream of record batches.

        >>> import paimon_explore as pe
        >>> rows = pe.demo().table("demo.orders").inspect.system_table("files")
        >>> sum(batch.num_rows for batch in rows.to_batches())
        15
        """
        return self.load()

    def to_arrow(self) -> pa.Table:
        """Read all rows into an Arrow table.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.system_table("snapshots").to_arrow().num_rows
        5
        """
        return self.load().read_all()

    def to_pandas(self) -> "data_frames.DataFrame":
        """Read all rows into a pandas DataFrame.

        >>> import paimon_explore as pe
        >>> len(pe.demo().table("demo.orders").inspect.system_table("snapshots").to_pandas())
        5
        """
        return self.to_arrow().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows through Arrow's C stream interface."""
        return self.load().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def __repr__(self) -> str:
        """Return name and columns."""
        return sanitized(f"rows of {self.name}; columns {choices(self.schema.names, limit=8)}")
