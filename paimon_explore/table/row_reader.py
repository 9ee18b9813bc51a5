"""Rows that are made when they are asked for: system tables, changes between snapshots."""

from collections.abc import Callable

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized
from paimon_explore.table import lazy_types as types


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSource:
    """Rows made from a table's files; read-only.

    Attributes:
        name: what it is, as `database.table$files`.
        schema: its columns.
        load: makes its rows, anew at each call.
    """

    name: str
    schema: pa.Schema
    load: Callable[[], pa.RecordBatchReader]

    def to_batches(self) -> pa.RecordBatchReader:
        """All rows as a stream of record batches."""
        return self.load()

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""
        return self.load().read_all()

    def to_pandas(self) -> "types.DataFrame":
        """All rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows through Arrow's C stream interface."""
        return self.load().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def __repr__(self) -> str:
        """Name and columns."""
        columns = "\n".join(sanitized(f"  {field.name}: {field.type}") for field in self.schema)
        return f"{sanitized(self.name)}\n{columns}"
