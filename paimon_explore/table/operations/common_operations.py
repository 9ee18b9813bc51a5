"""The common operations of `Table` and `Table.maintenance`: schema, tags, branches, old files.

The modules that do the work are imported on first use, so that opening a table stays fast.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import get_args

from paimon_explore.arguments import (
    boolean,
    invalid_argument,
    mapping,
    names,
    optional_duration,
    optional_integer,
    optional_string,
    string,
)
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.latest_schema import latest_options
from paimon_explore.table.operations import operation_types as types
from paimon_explore.table.table_definition import OptionValue, option_texts

_ALTER = "Call a method of the table instead, such as add_column() or set_options()."


class CommonOperations:
    """The common operations on a branch, which `Table` and `Table.maintenance` both have.

    Attributes:
        store: the table's files.
        dynamic_options: options of this object that override those of the schema.
    """

    __slots__ = ()

    store: TableStore
    dynamic_options: Mapping[str, str]

    @property
    def _latest_options(self) -> TableOptions:
        return latest_options(self.store, self.dynamic_options)

    def alter(self, *changes: "types.SchemaChange", check: bool = True) -> TableSchema:
        """Change the schema by several changes at once: all of them or none.

        Args:
            changes: values of `paimon_explore.metadata.schema.schema_change`.
            check: reject a new type that stored values do not fit, and NOT NULL where there are
                nulls; files are read if their statistics do not decide it.

        Raises:
            InvalidInputError: a rule forbids a change, or stored values do not fit.
            NotFoundError: a column does not exist.
            AlreadyExistsError: the new name of a column is taken.

        >>> import paimon_explore as pe
        >>> from paimon_explore.metadata.schema.schema_change import DropColumn, SetComment
        >>> t = pe.demo().table("demo.notes")
        >>> t.alter(DropColumn(column=("stars",)), SetComment(comment="Notes")).comment
        'Notes'
        """
        from paimon_explore.maintenance.schema_commit import alter_schema
        from paimon_explore.metadata.schema.schema_change import SchemaChange

        for change in changes:
            if not isinstance(change, get_args(SchemaChange)):
                raise invalid_argument(
                    "A change",
                    change,
                    "a SchemaChange, such as SetComment",
                    hint=_ALTER,
                )
        return alter_schema(self.store, changes, check=boolean("check", check))

    def add_column(
        self, name: str, type_text: str, *, comment: str | None = None, after: str | None = None
    ) -> TableSchema:
        """Add a nullable column.

        Args:
            name: the column, or `row.field` for a field of a ROW column.
            type_text: its type, such as `DECIMAL(10, 2)`.
            comment: its comment.
            after: the column to put it after; None adds it at the end.

        Raises:
            AlreadyExistsError: the table has such a column.
            InvalidInputError: not a type.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").add_column("author", "STRING", after="id").row_type.names
        ('id', 'author', 'text', 'stars')
        """
        from paimon_explore.metadata.schema.schema_change import AddColumn, Move, Position

        optional_string("comment", comment)
        optional_string("after", after)
        move = None if after is None else Move(position=Position.AFTER, reference=after)
        kind = _type_argument(type_text)
        return self.alter(AddColumn(column=self._path(name), type=kind, comment=comment, move=move))

    def drop_column(self, name: str) -> TableSchema:
        """Remove a column from the schema; files keep its values.

        Args:
            name: the column, or `row.field` for a field of a ROW column.

        Raises:
            NotFoundError: there is no such column.
            InvalidInputError: the column belongs to a key or the partition.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").drop_column("stars").row_type.names
        ('id', 'text')
        """
        from paimon_explore.metadata.schema.schema_change import DropColumn

        return self.alter(DropColumn(column=self._path(name)))

    def rename_column(self, name: str, new_name: str) -> TableSchema:
        """Rename a column; files are not rewritten.

        Args:
            name: the column, or `row.field` for a field of a ROW column.
            new_name: the new name, without the names of the rows around it.

        Raises:
            NotFoundError: there is no such column.
            AlreadyExistsError: the new name is taken.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").rename_column("text", "body").row_type.names
        ('id', 'body', 'stars')
        """
        from paimon_explore.metadata.schema.schema_change import RenameColumn

        return self.alter(RenameColumn(column=self._path(name), name=string("new_name", new_name)))

    def alter_column_type(self, name: str, type_text: str, *, check: bool = True) -> TableSchema:
        """Change the type of a column; stored values are cast on read, nullability stays.

        Args:
            name: the column, or `row.field` for a field of a ROW column.
            type_text: its new type, such as `DECIMAL(10, 2)`.
            check: reject a type that stored values do not fit: that would truncate them, overflow
                or make them null. Files are read if types and statistics do not decide it.

        Raises:
            InvalidInputError: there is no such cast, or stored values do not fit; the message
                counts them and shows one.

        >>> import paimon_explore as pe
        >>> schema = pe.demo().table("demo.notes").alter_column_type("stars", "BIGINT")
        >>> schema.field("stars").type.root.value
        'BIGINT'
        """
        from paimon_explore.metadata.schema.schema_change import ChangeType

        kind = _type_argument(type_text)
        change = ChangeType(column=self._path(name), type=kind, keep_nullability=True)
        return self.alter(change, check=check)

    def set_options(self, options: Mapping[str, OptionValue]) -> TableSchema:
        """Set table options.

        Args:
            options: values by key, such as `{"snapshot.time-retained": "2 h"}`.

        Raises:
            InvalidInputError: an unknown option, a value that cannot be read, or an option that
                cannot be changed.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> t.set_options({"snapshot.num-retained.min": 5}).options["snapshot.num-retained.min"]
        '5'
        """
        from paimon_explore.metadata.schema.schema_change import SetOption

        texts = option_texts(mapping("options", options))  # type: ignore[arg-type]  # by values
        return self.alter(*[SetOption(key=key, value=value) for key, value in texts.items()])

    def unset_options(self, keys: str | Sequence[str]) -> TableSchema:
        """Reset table options to their defaults.

        Args:
            keys: one key, or several.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.parcels")
        >>> "snapshot.num-retained.min" in t.unset_options("snapshot.num-retained.min").options
        False
        """
        from paimon_explore.metadata.schema.schema_change import RemoveOption

        return self.alter(*[RemoveOption(key=key) for key in names("keys", keys)])

    def create_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> "types.Tag":
        """Create a tag: a name for a snapshot, which keeps its files.

        Args:
            name: the tag.
            snapshot: the snapshot's id; None for the latest.
            retained: how long the tag is kept; None for the option `tag.default-time-retained`, or
                for ever without it.

        Raises:
            AlreadyExistsError: there is a tag of that name.
            NotFoundError: there is no such snapshot.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").create_tag("v1", 3).snapshot.id
        3
        """
        from paimon_explore.maintenance.references import tag_operations
        from paimon_explore.table.operations.maintenance_arguments import tag_request

        request = tag_request(name, snapshot, retained)
        return tag_operations.create_tag(self.store, self._latest_options, request)

    def delete_tag(self, name: str) -> "types.Removal":
        """Delete a tag, and the files that no snapshot and no other tag needs.

        Raises:
            NotFoundError: there is no such tag.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> removed = t.delete_tag("before")
        >>> "before" in t.tags
        False
        """
        from paimon_explore.maintenance.references import tag_operations

        return tag_operations.delete_tag(self.store, self._latest_options, string("name", name))

    def create_branch(self, name: str, tag: str | None = None) -> None:
        """Create a branch, from the snapshot of a tag or empty.

        Args:
            name: the branch.
            tag: where it starts; None for a branch with the schema and without rows.

        Raises:
            AlreadyExistsError: there is a branch of that name.
            NotFoundError: there is no such tag.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.create_branch("trial", "before")
        >>> sorted(t.branches)
        ['draft', 'trial']
        """
        from paimon_explore.maintenance.references import branch_operations

        branch_operations.create_branch(
            self.store, string("name", name), optional_string("tag", tag)
        )

    def delete_branch(self, name: str) -> None:
        """Delete a branch; `remove_orphan_files` removes files that only it needed.

        Raises:
            NotFoundError: there is no such branch.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.delete_branch("draft")
        >>> list(t.branches)
        []
        """
        from paimon_explore.maintenance.references import branch_operations

        branch_operations.delete_branch(self.store, string("name", name))

    def fast_forward(self, branch: str) -> None:
        """Replace the main branch by a branch; snapshots that main got since then are removed.

        Raises:
            NotFoundError: there is no such branch.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.fast_forward("draft")
        >>> [row["place"] for row in t.to_arrow().to_pylist()]
        ['Oslo', 'Lyon', 'Zürich']
        """
        from paimon_explore.commit.iceberg.reference_updates import follow_iceberg_rollback
        from paimon_explore.maintenance.references import branch_operations

        branch_operations.fast_forward(self.store, string("branch", branch))
        follow_iceberg_rollback(self.store, self._latest_options)

    def rollback_to(
        self,
        point: int | str | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """Make an earlier snapshot the latest one; all later snapshots and their tags are removed.

        Consumers keep their positions: reset those that have read removed snapshots with
        `table.consumers.reset`, or they skip the commits that take the place of these.
        To keep all snapshots, write the rows of that snapshot as a new one instead:

            table.overwrite(table.at(snapshot=5), partition={})

        Args:
            point: a snapshot id, or the name of a tag.
            snapshot: the same, as a snapshot id.
            tag: the same, as the name of a tag.

        Raises:
            InvalidInputError: not exactly one of the arguments is given.
            NotFoundError: there is no such snapshot or tag.
            SnapshotExpiredError: the snapshot expired meanwhile; nothing was removed.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.rollback_to(3).id, [s.id for s in t.snapshots]
        (3, [1, 2, 3])
        """
        from paimon_explore.commit.iceberg.reference_updates import follow_iceberg_rollback
        from paimon_explore.maintenance.references import rollback

        if point is not None:
            if snapshot is not None or tag is not None:
                raise InvalidInputError(
                    "rollback_to() accepts either a snapshot or a tag, not both."
                )
            if isinstance(point, str):
                tag = point
            else:
                snapshot = point
        optional_integer("snapshot", snapshot)
        optional_string("tag", tag)
        if snapshot is not None and tag is None:
            made = rollback.rollback_to_snapshot(self.store, snapshot)
        elif tag is not None and snapshot is None:
            made = rollback.rollback_to_tag(self.store, tag)
        elif tag is None:
            raise InvalidInputError("rollback_to() requires a snapshot or a tag.")
        else:
            raise InvalidInputError("rollback_to() accepts either a snapshot or a tag, not both.")
        follow_iceberg_rollback(self.store, self._latest_options)
        return made

    def expire_snapshots(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: "types.Age | None" = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> "types.ExpiryReport":
        """Remove old snapshots and the files that only they need.

        Arguments that are left out have the values of the table's `snapshot.…` options.

        Args:
            retain_min: keep at least so many of the newest snapshots.
            retain_max: keep at most so many.
            older_than: between these numbers, remove the snapshots older than this: an age
                (a timedelta, or text such as `1 d`) or a time.
            limit: remove at most so many at once.
            dry_run: report what would be removed, and remove nothing.

        Raises:
            InvalidInputError: the arguments contradict each other.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> report = t.expire_snapshots(retain_max=2)
        >>> [s.id for s in t.snapshots]
        [4, 5]
        """
        from paimon_explore.maintenance.expiry import snapshot_expiry
        from paimon_explore.table.operations.maintenance_arguments import RetentionArguments

        options = self._latest_options
        given = RetentionArguments(retain_min, retain_max, older_than, limit)
        retention = given.over(snapshot_expiry.snapshot_retention(options))
        boolean("dry_run", dry_run)
        return snapshot_expiry.expire_snapshots(self.store, options, retention, dry_run=dry_run)

    def expire_partitions(
        self, older_than: timedelta | None = None, *, dry_run: bool = False
    ) -> list[dict[str, object]]:
        """Drop the partitions whose time is older than an age.

        Args:
            older_than: the age; None for the option `partition.expiration-time`.
            dry_run: report which would be dropped, and drop nothing.

        Returns:
            The dropped partitions: their values by column.

        Raises:
            InvalidInputError: no age is given, or the table is not partitioned.

        >>> import paimon_explore as pe
        >>> from datetime import timedelta
        >>> pe.demo().table("demo.orders").expire_partitions(timedelta(days=30_000), dry_run=True)
        []
        """
        from paimon_explore.maintenance.expiry.partition_expiry import expire_partitions, expiry_of

        options = self._latest_options
        boolean("dry_run", dry_run)
        expiry = expiry_of(options, optional_duration("older_than", older_than))
        return expire_partitions(self.store, options, expiry, dry_run=dry_run)

    def remove_orphan_files(
        self,
        *,
        older_than: "types.Age" = timedelta(days=1),
        external: bool = False,
        dry_run: bool = True,
    ) -> "types.OrphanReport":
        """Remove files that no snapshot, tag or branch refers to; by default only report them.

        Args:
            older_than: only files that were last changed before this age or time; it must be longer
                than any commit takes.
            external: also search external paths, which no other table may use then.
            dry_run: report what would be removed, and remove nothing.

        >>> import paimon_explore as pe
        >>> len(pe.demo().table("demo.orders").remove_orphan_files().files)
        0
        """
        from paimon_explore.maintenance.expiry.orphan_files import remove_orphan_files
        from paimon_explore.table.operations.maintenance_arguments import time_before

        boolean("external", external)
        boolean("dry_run", dry_run)
        before_ms = time_before(older_than)
        dry_run, external = boolean("dry_run", dry_run), boolean("external", external)
        return remove_orphan_files(
            self.store, self._latest_options, before_ms, external=external, dry_run=dry_run
        )

    def analyze(self) -> Snapshot:
        """Collect statistics of all rows and columns for query planners, and commit them.

        Returns:
            The snapshot that refers to the statistics.

        Raises:
            NotFoundError: the table has no snapshot.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").analyze().commit_kind.value
        'ANALYZE'
        """
        from paimon_explore.maintenance.analyze import analyze_table

        return analyze_table(self.store, self._latest_options)

    def fsck(
        self, *, read_rows: bool = False, cross_check_records: int | None = 100_000
    ) -> "types.FsckReport":
        """Check that the files of the table, in all branches, are complete and consistent.

        Args:
            read_rows: also read every data file.
            cross_check_records: how many records of Avro metadata files are also decoded by
                fastavro and compared, smallest files first; 0 for none, None for all. A record
                takes about 40 µs.

        Returns:
            A list of the problems, empty for a table in order. Its attribute `avro` has the number
            of records that were compared.

        >>> import paimon_explore as pe
        >>> list(pe.demo().table("demo.orders").fsck())
        []
        """
        from paimon_explore.maintenance.checks.fsck import check_table

        return check_table(
            self.store,
            self._latest_options,
            read_rows=boolean("read_rows", read_rows),
            cross_check_records=optional_integer(
                "cross_check_records", cross_check_records, minimum=0
            ),
        )

    def _path(self, name: str) -> tuple[str, ...]:
        """The path of a column; dots lead into ROW columns unless a column has that very name."""
        string("name", name)
        schema = self.store.schemas.latest()
        name = string("name", name)
        is_whole = schema is not None and any(field.name == name for field in schema.fields)
        return (name,) if is_whole else tuple(name.split("."))


def _type_argument(text: str) -> DataType:
    return parse_type_text(string("type_text", text, hint="Pass a type such as 'DECIMAL(10, 2)'."))
