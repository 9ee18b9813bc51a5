"""The methods of a table that change its schema, tags and branches, or remove old files."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.table import lazy_types as types
from paimon_explore.table.table_definition import OptionValue
from paimon_explore.table.table_inspect import ExplorableTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MaintainableTable(ExplorableTable):
    """A table with its schema changes, tags, branches and expiry; `maintenance` has the rest."""

    @property
    def maintenance(self) -> "types.Maintenance":
        """All schema changes, tags, branches, rollback, expiry and checks, also the rarer ones.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.rename_tag("before", "start").name
        'start'
        """
        from paimon_explore.table.maintenance import Maintenance

        return Maintenance(store=self.store, dynamic_options=self.dynamic_options)

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
        return self.maintenance.alter(*changes, check=check)

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
        return self.maintenance.add_column(name, type_text, comment=comment, after=after)

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
        return self.maintenance.drop_column(name)

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
        return self.maintenance.rename_column(name, new_name)

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
        return self.maintenance.alter_column_type(name, type_text, check=check)

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
        return self.maintenance.set_options(options)

    def unset_options(self, keys: str | Sequence[str]) -> TableSchema:
        """Reset table options to their defaults.

        Args:
            keys: one key, or several.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.parcels")
        >>> "snapshot.num-retained.min" in t.unset_options("snapshot.num-retained.min").options
        False
        """
        return self.maintenance.unset_options(keys)

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
        return self.maintenance.create_tag(name, snapshot, retained=retained)

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
        return self.maintenance.delete_tag(name)

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
        self.maintenance.create_branch(name, tag)

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
        self.maintenance.delete_branch(name)

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
        self.maintenance.fast_forward(branch)

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
        return self.maintenance.rollback_to(point, snapshot=snapshot, tag=tag)

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
        return self.maintenance.expire_snapshots(
            retain_min=retain_min,
            retain_max=retain_max,
            older_than=older_than,
            limit=limit,
            dry_run=dry_run,
        )

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
        return self.maintenance.expire_partitions(older_than, dry_run=dry_run)

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
        return self.maintenance.remove_orphan_files(
            older_than=older_than, external=external, dry_run=dry_run
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
        return self.maintenance.analyze()

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
        return self.maintenance.fsck(read_rows=read_rows, cross_check_records=cross_check_records)
