"""Row-level changes for delete, update and merge, applied in Spark tasks with one commit.

A change is a row of a DataFrame: all columns of the table, the action (`_paimon_act`), and the file
and position of the old row. Tables with a primary key get records: `-D`, or the new row. In other
tables the files of the changed rows are rewritten.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.supported_operations import check_delete, check_update
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.row_level.file_rewrite import (
    PLACE,
    PlacedRows,
    placed_rows,
    removals,
    rows_that_stay,
)
from paimon_explore.spark.row_level.struct_members import targets_by_column
from paimon_explore.spark.writes.write_table import written
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.write_targets import write_target
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, point_of, store_of
from paimon_explore.write.input.row_kinds import ROW_KIND

ACT = "_paimon_act"
INSERT, UPDATE, DELETE = "I", "U", "D"
_KINDS = {INSERT: "+I", UPDATE: "+U", DELETE: "-D"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTarget:
    """The target table of row-level changes.

    Attributes:
        table: the table.
        schema: its latest schema.
        rows: its rows, with file and position if it has no primary key.
        placed: the plan, if it has no primary key.
    """

    table: Table
    schema: TableSchema
    rows: DataFrame
    placed: PlacedRows | None

    @property
    def identity(self) -> tuple[str, ...]:
        """Return the columns that identify a row."""
        return self.schema.primary_keys if self.placed is None else PLACE

    @property
    def fixed(self) -> tuple[str, ...]:
        """Return the columns that cannot change: primary key and partition columns."""
        return (*self.schema.primary_keys, *self.schema.partition_keys)

    @property
    def place(self) -> tuple[str, ...]:
        """Return the columns of `rows` that do not belong to the table."""
        return () if self.placed is None else PLACE

    def check_update(self, names: Collection[str]) -> None:
        """Check that the table accepts an update of some columns, or members of struct columns.

        Raises:
            InvalidInputError: an unknown, key or partition column, or a merge engine that does not
                accept updates.
            UnsupportedFeatureError: the table uses a feature that cannot be updated here.
        """
        columns = list(targets_by_column(names, self.schema.row_type))
        check_update(self.schema, self._options, columns)
        moved = [name for name in columns if name in self.schema.partition_keys]
        if moved and self.placed is None:
            msg = (
                f"Column {moved[0]!r} is a partition column; rows of a primary-key table cannot "
                "move to another partition."
            )
            raise InvalidInputError(msg, hint="Delete the rows, then write them again.")

    def check_delete(self) -> None:
        """Check that the table accepts deletes.

        Raises:
            InvalidInputError: a merge engine that does not accept deletes.
            UnsupportedFeatureError: the table uses a feature that prevents deletes here.
        """
        check_delete(self.schema, self._options)

    @property
    def _options(self) -> TableOptions:
        return TableOptions({**self.schema.options, **dynamic_options_of(self.table)})

    def apply(self, changes: DataFrame, *, once: bool = False) -> Snapshot | None:
        """Apply changes, in one commit.

        Args:
            changes: the table's columns, `ACT`, and the columns of `place`; read several times.
            once: reject two changes of one row.

        Returns:
            The snapshot; None if there were no changes.

        Raises:
            InvalidInputError: two changes of one row.
            CommitConflictError: a concurrent commit replaced the files of a changed row; plan the
                change again.
        """
        with _kept(changes) as rows:
            if once:
                self._refuse_twice(rows)
            return self._upsert(rows) if self.placed is None else self._rewrite(rows, self.placed)

    def _refuse_twice(self, changes: DataFrame) -> None:
        old = changes.filter(f.col(ACT) != INSERT)
        twice = old.groupBy(*map(quoted, self.identity)).count().filter("count > 1").limit(1)
        found = twice.collect()
        if found:
            key = {} if self.placed is not None else found[0].asDict()
            key.pop("count", None)
            raise InvalidInputError(
                "More than one row of the source matches a row of the table"
                + (f", for example the row with {key}." if key else "."),
                hint="Keep one row of the source for each value of the ON columns.",
            )

    def _upsert(self, changes: DataFrame) -> Snapshot | None:
        target = write_target(self.table, replaces=False)
        kind: Column = reduce(
            lambda made, act: made.when(f.col(ACT) == act, _KINDS[act]),
            (UPDATE, DELETE),
            f.when(f.col(ACT) == INSERT, _KINDS[INSERT]),
        )
        columns = [f.col(quoted(name)) for name in self.schema.row_type.names]
        return written(changes.select(*columns, kind.alias(ROW_KIND)), target, None)

    def _rewrite(self, changes: DataFrame, placed: PlacedRows) -> Snapshot | None:
        target = write_target(self.table, replaces=False)
        old = changes.filter(f.col(ACT) != INSERT)
        new = changes.filter(f.col(ACT) != DELETE).select(
            *[f.col(quoted(name)) for name in self.schema.row_type.names]
        )
        if not placed.keeps_files:
            new = rows_that_stay(placed, old).unionByName(new)
        return written(new, target, None, lambda: removals(placed, old))


def change_target(spark: SparkSession, table: Table, where: Where | None = None) -> ChangeTarget:
    """Return the target of row-level changes in a table.

    Args:
        spark: the session.
        table: the table.
        where: restricts the rows to read; other rows may still be read.

    Raises:
        UnsupportedFeatureError: its rows cannot be changed with Spark.
        InvalidInputError: the table is opened with time travel.
    """
    if point_of(table).given:
        write_target(table, replaces=False)
    schema = latest_schema(store_of(table))
    if schema.primary_keys:
        rows = read(spark, table, where=where)
        return ChangeTarget(table=table, schema=schema, rows=rows, placed=None)
    placed = placed_rows(spark, table, where)
    return ChangeTarget(table=table, schema=schema, rows=placed.frame(), placed=placed)


@contextmanager
def _kept(changes: DataFrame) -> Iterator[DataFrame]:
    """Cache the changes inside the context, so that they are computed once."""
    rows = changes.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield rows
    finally:
        rows.unpersist()
