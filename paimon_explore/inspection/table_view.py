"""The table as the views of this layer see it; built by the facade.

>>> from paimon_explore.fileio.memory import MemoryFileIO
>>> from paimon_explore.metadata.table_paths import TablePaths
>>> store = TableStore(MemoryFileIO(), TablePaths("/wh/default.db/orders"))
>>> TableView(store=store, schema=None, name="default.orders").short_name
'orders'
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.time_travel import pinned_options
from paimon_explore.store.table_store import TableStore


class QueryRows(Protocol):
    """The rows of a query."""

    @property
    def note(self) -> str:
        """A sentence about how the rows were computed; empty for none."""

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows in batches."""

    def history(self, last: int) -> "QueryRows":
        """Return the result at each of the last snapshots."""

    def interrupt(self) -> None:
        """Stop what reads the rows, or their history, from another thread."""


class TableSql(Protocol):
    """SQL statements on the table."""

    def written(self, text: str) -> str:
        """Return the first word of a statement that writes to the table; "" for queries."""

    def read(self, text: str, point: Mapping[str, int | str]) -> QueryRows:
        """Run a query on the table at a point: the arguments of `Table.at`."""

    def write(self, text: str) -> QueryRows:
        """Run a statement that writes to the table; it is complete on return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """One branch of a table.

    Attributes:
        store: the metadata files of the branch.
        schema: the latest schema; None if no schema can be read.
        name: `database.table`.
        expression: name of the table variable in code snippets.
        dynamic_options: options that override those of the schema.

        sql: returns what runs SQL; None for a view that was not made from a table.
    """

    store: TableStore
    schema: TableSchema | None
    name: str
    expression: str = "t"
    dynamic_options: Mapping[str, str] = field(default_factory=dict)

    sql: Callable[[], TableSql] | None = field(default=None, compare=False)

    @property
    def short_name(self) -> str:
        """The table name without the database."""
        return self.name.partition(".")[2] or self.name

    @property
    def database(self) -> str:
        """The database name; empty if the name has none."""
        database, dot, _ = self.name.partition(".")
        return database if dot else ""

    @property
    def location(self) -> str:
        """The location of the table."""
        return self.store.paths.root

    @property
    def branch(self) -> str:
        """The branch name."""
        return self.store.paths.branch

    @property
    def keys(self) -> RowType:
        """The trimmed primary key columns; empty without a primary key or a readable schema."""
        names = () if self.schema is None else self.schema.trimmed_primary_keys
        fields = {} if self.schema is None else {one.name: one for one in self.schema.fields}
        return RowType(fields=tuple(fields[name] for name in names if name in fields))

    @property
    def options(self) -> TableOptions:
        """The effective options; empty if no schema can be read."""
        stored = {} if self.schema is None else self.schema.options
        return TableOptions({**stored, **self.dynamic_options})

    def target(self, snapshot: Snapshot | None, *, travelled: bool = True) -> ScanTarget:
        """The scan target of a snapshot.

        Args:
            snapshot: None for a table without snapshots.
            travelled: read with the schema of the snapshot instead of the latest one.

        Raises:
            NotFoundError: the table has no schema.
            PaimonError: the schema cannot be read.
        """
        schema = self.schema
        if travelled and snapshot is not None:
            schema = self.store.schemas.load(snapshot.schema_id)
        if schema is None:
            raise NotFoundError("schema", "", message=f"Table {self.location} has no schema.")
        options = pinned_options(self.store, schema) if travelled else schema.options
        return ScanTarget(
            store=self.store,
            schema=schema,
            options=TableOptions({**options, **self.dynamic_options}),
            snapshot=snapshot,
            travelled=travelled,
        )
