"""What statements need of an engine: it runs queries over tables, and writes a query's rows."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from paimon_explore.data_types.definitions import DataField
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.sql_statements.merge_clause import SqlClause
from paimon_explore.sql_statements.outcome import QueryRows
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table

if TYPE_CHECKING:
    from paimon_explore.sql_statements.copy_into.file_format import FileFormat
    from paimon_explore.sql_statements.copy_into.file_load import FileLoad, LoadResult, SourceFile

Args: TypeAlias = Mapping[str, object] | Sequence[object] | None
"""The values of parameter markers."""
TARGET_VIEW = "_paimon_target"
"""The name of the changed table in the query of a `RowUpdate`."""

OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
"""The setting that decides what INSERT OVERWRITE replaces: STATIC or DYNAMIC.

As in Paimon's Spark connector it takes precedence over the option `dynamic-partition-overwrite` of
the table, which writes from Python and Flink follow.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows:
    """The rows of a table that a query reads.

    Attributes:
        table: the table, or the rows of a system table.
        system: name of a system table of `table`; None for its rows.
        columns: the columns that the query may need; None for all.
        where: a condition that all rows fulfil which the query needs; None for none.
        hidden: columns that `*` leaves out.
        fields: the table's columns among those of rows with metadata columns.
    """

    table: Table | RowSource
    system: str | None = None
    columns: Sequence[str] | None = None
    where: Term | None = None
    hidden: Sequence[str] = ()
    fields: Sequence[DataField] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowUpdate:
    """An UPDATE or DELETE.

    Attributes:
        table: the table.
        alias: the name by which expressions qualify its columns.
        values: new values as SQL text, by column or member of a struct column; empty to delete.
        condition: which rows; None for all.
        query: selects the matching rows of `TARGET_VIEW`, whose alias is `alias`: its columns, and
            the new values as `_new_0`, `_new_1`, …; other tables are replaced by views.
        pruned: the part of the condition that can prune files.
    """

    table: Table
    alias: str
    values: Mapping[str, str]
    condition: str | None
    query: str
    pruned: Term | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMerge:
    """A MERGE.

    Attributes:
        table: the table.
        source: the rows to merge.
        on: the join condition.
        clauses: in order.
        target_alias: alias of the table in conditions.
        source_alias: alias of the source in conditions.
        evolves: whether new columns of the source are added to the table.
    """

    table: Table
    source: QueryRows
    on: str
    clauses: tuple[SqlClause, ...]
    target_alias: str
    source_alias: str
    evolves: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTable:
    """A table that belongs to the engine, or a folder of Parquet files.

    Attributes:
        rows: its rows.
        partition_by: its partition columns.
        name: its name; empty for a folder.
    """

    rows: QueryRows
    partition_by: tuple[str, ...]
    name: str = ""


class Engine(Protocol):
    """Runs queries, and writes their rows."""

    @property
    def name(self) -> str:
        """Its name, for errors."""

    @property
    def has_own_tables(self) -> bool:
        """Whether it has tables and views beside the catalog, and runs statements on them."""

    def evaluate(self, text: str) -> object:
        """Return the value of a constant expression.

        Raises:
            InvalidInputError: it is not a constant; the message is that of the engine.
        """

    def constant(self, text: str, field: DataField) -> object:
        """Return the value of a constant expression, converted to the type of a column.

        Raises:
            InvalidInputError: as for `evaluate`, or the value does not fit the column.
        """

    def query(self, text: str, args: Args = None) -> QueryRows:
        """Run a query whose tables are replaced by views; or a statement of the engine's own."""

    def explain(self, mode: str, text: str) -> QueryRows:
        """Return the plan of a query.

        Args:
            mode: the word after EXPLAIN, or "".
            text: the query, whose tables are replaced by views.
        """

    def viewed(self, rows: TableRows | QueryRows) -> AbstractContextManager[str]:
        """Create a temporary view of rows for the context; yields its name."""

    def update(self, change: RowUpdate) -> Snapshot | None:
        """Update or delete rows, in one commit."""

    def merge(self, change: RowMerge) -> Snapshot | None:
        """Merge rows, in one commit."""

    def compact(
        self,
        table: Table,
        *,
        full: bool = True,
        partitions: Sequence[Mapping[str, object]] | None = None,
        buckets: Sequence[int] | None = None,
    ) -> None:
        """Compact a table."""

    def has_database(self, name: str) -> bool:
        """Return whether the engine itself has a database."""

    def has_table(self, name: str) -> bool:
        """Return whether the engine itself has a table or temporary view."""

    def temporary_views(self) -> list[str]:
        """Return the names of the temporary views."""

    def create_temporary_view(
        self, name: str, rows: QueryRows, *, replaces: bool, is_global: bool
    ) -> None:
        """Create a temporary view."""

    def drop_temporary_view(self, name: str) -> None:
        """Drop a temporary view."""

    def use(self, database: str) -> None:
        """Make a database that of unqualified names."""

    def settings(self) -> Mapping[str, str]:
        """Return the settings of the session that statements on Paimon tables follow."""

    def change_setting(self, key: str, value: str | None) -> None:
        """Set one of these settings, or remove it; "" removes all that the user has set."""

    def list_files(self, folder: str) -> "list[SourceFile]":
        """List the files directly in a folder, by name, without hidden ones.

        Raises:
            InvalidInputError: there is no such folder or file.
        """

    def load_files(self, load: "FileLoad", files: "Sequence[SourceFile]") -> "list[LoadResult]":
        """Load files into a table, in one commit; return what became of each."""

    def export_files(
        self, rows: QueryRows, made: "FileFormat", folder: str, *, overwrite: bool
    ) -> int:
        """Write rows to files of a folder; return their number.

        Raises:
            InvalidInputError: the folder exists and is not replaced.
        """

    def foreign_table(self, path: tuple[str, ...]) -> ForeignTable:
        """Return a table of the engine by its name, or a folder of Parquet files by its path.

        Raises:
            NotFoundError: there is no such table.
            InvalidInputError: the folder contains no Parquet files.
        """

    def foreign_tables(self, database: str) -> list[str]:
        """Return the names of the tables of a database of the engine.

        Raises:
            NotFoundError: there is no such database.
        """

    def drop_foreign_table(self, table: ForeignTable) -> None:
        """Drop a table of the engine."""
