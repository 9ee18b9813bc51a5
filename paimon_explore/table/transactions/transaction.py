"""`Transaction`: several writes to a table that become visible in one snapshot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, Self

from paimon_explore.commit.overwrite import WHOLE_TABLE, Overwrite
from paimon_explore.errors import (
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import NewValue
from paimon_explore.maintenance.row_level.merge_into import MergeSpec
from paimon_explore.maintenance.row_level.merge_join import On
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven
from paimon_explore.store.query_authorization import query_authorization
from paimon_explore.table.merge_builder import Merge
from paimon_explore.table.scan import Scan
from paimon_explore.table.table_definition import ColumnType
from paimon_explore.table.table_write import TableWriter, check_keyed, commit_note
from paimon_explore.table.transactions.staged_operations import StagedOperations
from paimon_explore.table.transactions.staged_table import StagedTable
from paimon_explore.write.input.cast_policy import CastPolicy, cast_policy
from paimon_explore.write.input.table_batches import Rows


class Transaction(StagedOperations):
    """Several writes to one table that become visible at once; `Table.transaction` creates it.

    The writes see the rows of earlier writes of the transaction, and so does `scan`; other readers
    see none of them before the commit. Rows that other commits add meanwhile are not seen.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.notes")
    >>> with t.transaction() as tx:
    ...     schema = tx.add_column("author", "STRING")
    ...     tx.append([{"id": 9, "text": "new", "author": "Ada"}])
    ...     before = t.count("id = 9")
    >>> before, t.count("id = 9"), tx.snapshot.id == t.snapshot.id
    (0, 1, True)

    Attributes:
        snapshot: the snapshot of the transaction; None before the commit, and if nothing changed.
    """

    def __repr__(self) -> str:
        """Return the table, the operations and whether they are committed."""
        names = ", ".join(name for name, _ in self._operations) or "none yet"
        state = self._outcome or "open"
        return sanitized(f"Transaction on {self._name} ({state}); operations: {names}")

    def __enter__(self) -> Self:
        """Start the block of the transaction."""
        self._check_open("transaction")
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Commit; roll back if the block raised."""
        if self._outcome:
            return
        if kind is None:
            self.commit()
        else:
            self._roll_back()

    # ------------------------------------------------------------ writes

    def append(self, data: Rows, *, cast: str = "safe", merge_schema: bool = False) -> None:
        """Add rows; see `Table.append`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     tx.append([{"id": 8}])
        ...     tx.append([{"id": 9}])
        >>> tx.snapshot.delta_record_count
        2
        """
        self._run("append", _Insert(data, cast_policy(cast), merge_schema), data)

    def upsert(self, data: Rows, *, cast: str = "safe", merge_schema: bool = False) -> None:
        """Insert or update rows of a table with a key; see `Table.upsert`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> with t.transaction() as tx:
        ...     tx.upsert([{"id": 1, "city": "Rome"}])
        ...     tx.delete("city = 'Rome'")
        >>> t.count("id = 1")
        0
        """
        writer = self._staged.writer
        check_keyed(writer.schema, writer.options, self._name)
        self._run(
            "upsert", _Insert(data, cast_policy(cast), merge_schema, TableWriter.upsert), data
        )

    def delete(self, where: Where) -> None:
        """Delete the rows that match a condition; see `Table.delete`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with t.transaction() as tx:
        ...     tx.delete("id < 200")
        ...     tx.delete("id >= 300")
        >>> t.count()
        6
        """
        self._run("delete", lambda table: table.writer.delete(where))

    def update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002  # as `Table.update`
        where: Where | NotGiven = NOT_GIVEN,
    ) -> None:
        """Update columns of the rows that match a condition; see `Table.update`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with t.transaction() as tx:
        ...     tx.update({"city": "'Rome'"}, where="id = 1")
        ...     tx.update({"city": "upper(city)"}, where="id = 1")
        >>> t.scan(["city"], "id = 1").to_arrow().to_pylist()
        [{'city': 'ROME'}]
        """
        self._run("update", lambda table: table.writer.update(set, where))

    def merge(
        self,
        source: Rows,
        on: On,
        *,
        source_alias: str | None = None,
        target_alias: str | None = None,
    ) -> Merge:
        """Start a merge of source rows; see `Table.merge`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> with t.transaction() as tx:
        ...     merge = tx.merge([{"id": 1, "city": "Rome"}], on="id")
        ...     merge.when_matched_update_all().execute()
        >>> t.scan(["city"], "id = 1").to_arrow().to_pylist()
        [{'city': 'Rome'}]
        """

        def run(spec: MergeSpec) -> None:
            self._run("merge", lambda table: table.writer.merge(spec), source)

        self._check_open("merge")
        merge = self._staged.writer.start_merge(source, on, (source_alias, target_alias))
        return replace(merge, run=run)

    def overwrite(
        self,
        data: Rows,
        partition: Mapping[str, object] | NotGiven | None = NOT_GIVEN,
        *,
        cast: str = "safe",
        merge_schema: bool = False,
    ) -> None:
        """Replace rows; see `Table.overwrite`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with t.transaction() as tx:
        ...     tx.overwrite([{"id": 7}], partition={"dt": "2026-01-01"})
        ...     tx.append([{"id": 8, "dt": "2026-01-01"}], cast="parse")
        >>> t.count("dt = '2026-01-01'")
        2
        """
        policy = cast_policy(cast)

        def work(table: StagedTable) -> None:
            rows = table.evolve(data) if merge_schema else data
            writer = table.writer_with(policy)
            given = writer.partition_argument(partition)
            self._note_overwrite(writer.replaced(given), writer.overwrite(rows, given))

        self._run("overwrite", work, data)

    def truncate(self) -> None:
        """Remove all rows; see `Table.truncate`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     tx.truncate()
        ...     tx.append([{"id": 1}])
        >>> t.count()
        1
        """

        def work(table: StagedTable) -> None:
            self._note_overwrite(WHOLE_TABLE, table.writer.drop([{}]))

        self._run("truncate", work)

    def drop_partitions(
        self, *partitions: Mapping[str, object] | Sequence[Mapping[str, object]]
    ) -> None:
        """Remove all rows of one or several partitions; see `Table.drop_partitions`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> with t.transaction() as tx:
        ...     tx.drop_partitions({"dt": "2026-01-01"})
        ...     tx.drop_partitions({"dt": "2026-01-02"})
        >>> t.count()
        10
        """

        def work(table: StagedTable) -> None:
            writer = table.writer
            specs = writer.dropped(partitions)
            self._note_overwrite(Overwrite(specs=tuple(specs)), writer.drop(specs))

        self._run("drop_partitions", work)

    def compact(self) -> NoReturn:
        """Refuse: a snapshot has one commit kind, so writes and compactions need two.

        Raises:
            UnsupportedFeatureError: always.

        >>> import paimon_explore as pe
        >>> with pe.demo().table("demo.notes").transaction() as tx:  # doctest: +ELLIPSIS
        ...     tx.compact()
        Traceback (most recent call last):
        paimon_explore.errors.UnsupportedFeatureError: A compaction in a transaction is not ...
        """
        raise UnsupportedFeatureError(
            "a compaction in a transaction",
            hint="Call compact() of the table after the transaction.",
        )

    # ------------------------------------------------------------ schema changes

    def alter(self, *changes: SchemaChange, check: bool = True) -> TableSchema:
        """Change the schema by several changes at once; see `Table.alter`.

        >>> import paimon_explore as pe
        >>> from paimon_explore.metadata.schema.schema_change import SetComment
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     schema = tx.alter(SetComment(comment="Notes"))
        >>> t.schema.comment
        'Notes'
        """
        return self._alter(lambda table: table.schema.alter(*changes, check=check))

    def add_column(
        self,
        name: str,
        data_type: ColumnType,
        *,
        comment: str | None = None,
        after: str | None = None,
    ) -> TableSchema:
        """Add a nullable column; see `Table.add_column`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     schema = tx.add_column("author", "STRING")
        ...     tx.append([{"id": 9, "author": "Ada"}])
        >>> t.count("author = 'Ada'")
        1
        """
        return self._alter(
            lambda table: table.schema.add_column(name, data_type, comment=comment, after=after)
        )

    def drop_column(self, name: str) -> TableSchema:
        """Remove a column from the schema; see `Table.drop_column`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     schema = tx.drop_column("stars")
        >>> t.schema.row_type.names
        ('id', 'text')
        """
        return self._alter(lambda table: table.schema.drop_column(name))

    def rename_column(self, name: str, new_name: str) -> TableSchema:
        """Rename a column; see `Table.rename_column`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     schema = tx.rename_column("text", "body")
        ...     tx.append([{"id": 9, "body": "new"}])
        >>> t.count("body = 'new'")
        1
        """
        return self._alter(lambda table: table.schema.rename_column(name, new_name))

    def alter_column_type(
        self, name: str, data_type: ColumnType, *, check: bool = True
    ) -> TableSchema:
        """Change the type of a column; see `Table.alter_column_type`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     schema = tx.alter_column_type("stars", "BIGINT")
        ...     tx.append([{"id": 9, "stars": 5_000_000_000}])
        >>> t.count("stars > 4000000000")
        1
        """
        return self._alter(
            lambda table: table.schema.alter_column_type(name, data_type, check=check)
        )

    # ------------------------------------------------------------ reads

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
    ) -> Scan:
        """Describe a read that sees the changes of the transaction; see `Table.scan`.

        A transaction that has read rows is not repeated after a conflict with another commit.

        Raises:
            UnsupportedFeatureError: rows of the transaction are visible only after a compaction
                (`merge-engine` = `first-row`).

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     tx.append([{"id": 9}])
        ...     seen = tx.scan(where="id = 9").count()
        >>> seen
        1
        """
        self._check_open("scan")
        engine = self._staged.options.value(opt.MERGE_ENGINE)
        if self._operations and engine is MergeEngine.FIRST_ROW:
            raise UnsupportedFeatureError(
                "reading rows of a transaction in a table with 'merge-engine' = 'first-row'",
                hint="A compaction makes them visible: commit the transaction, call compact() of "
                "the table, and read it.",
            )
        self._can_repeat, self._has_read = False, True
        return self._staged.reader.scan(columns, where, limit)

    @property
    def schema(self) -> TableSchema:
        """The schema with the changes of the transaction."""
        self._check_open("schema")
        return self._staged.reader.schema

    # ------------------------------------------------------------ the end

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Add texts by key that are stored in the snapshot.

        Args:
            properties: the texts; those of earlier calls and of `Table.transaction` remain.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction(properties={"job": "nightly"}) as tx:
        ...     tx.append([{"id": 9}])
        ...     tx.set_properties({"rows": "1"})
        >>> t.snapshot.properties
        {'job': 'nightly', 'rows': '1'}
        """
        self._check_open("set_properties")
        self._note = commit_note({**self._note.properties, **commit_note(properties).properties})

    def commit(self) -> Snapshot | None:
        """Make the changes visible; the end of the `with` block calls it.

        Returns:
            The snapshot; None if no rows changed.

        Raises:
            CommitConflictError: another commit changed the same rows, partitions or schema;
                nothing is committed, and the files are removed.
            CommitError: the commit failed; the same.
            CommitOutcomeUnknownError: the storage did not answer; check the table before running
                the transaction again.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> tx = t.transaction()
        >>> tx.append([{"id": 9}])
        >>> tx.commit().delta_record_count
        1
        """
        self._check_open("commit")
        return self._commit_all()

    def rollback(self) -> None:
        """Give up the changes, and delete the files of the transaction.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> with t.transaction() as tx:
        ...     tx.truncate()
        ...     tx.rollback()
        >>> t.count()
        4
        """
        self._check_open("rollback")
        self._roll_back()


@dataclass(frozen=True, slots=True)
class _Insert:
    """Adds or merges rows.

    Attributes:
        data: the rows.
        cast: how values are converted.
        merge_schema: whether to add new columns and to widen types.
        write: writes the rows.
    """

    data: Rows
    cast: CastPolicy
    merge_schema: bool
    write: Callable[[TableWriter, Rows], Snapshot | None] = TableWriter.insert

    def __call__(self, table: StagedTable) -> None:
        """Write the rows."""
        rows = table.evolve(self.data) if self.merge_schema else self.data
        self.write(table.writer_with(self.cast), rows)


def begin_transaction(name: str, writer: TableWriter, options: Mapping[str, str]) -> Transaction:
    """Start a transaction; see `Table.transaction`.

    Args:
        name: the name of the table.
        writer: the writer of the table, with the properties of the commit.
        options: the dynamic options of the table.
    """
    if query_authorization(writer.store.environment, writer.options) is not None:
        raise UnsupportedFeatureError(
            "a transaction on a table with 'query-auth.enabled' = 'true'",
            hint="Write to the table in single operations.",
        )
    return Transaction(name, writer, options)
