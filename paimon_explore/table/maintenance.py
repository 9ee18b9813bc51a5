"""`Table.maintenance`: expiry, orphan files, checks, statistics, and rarer changes of tags."""

from collections.abc import Sequence
from datetime import timedelta

from paimon_explore.arguments import (
    boolean,
    integer,
    optional_integer,
    optional_names,
    optional_string,
    string,
)
from paimon_explore.commit.iceberg.reference_updates import update_iceberg_tags
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.analyze import analyze_table
from paimon_explore.maintenance.checks.findings import FsckReport
from paimon_explore.maintenance.checks.fsck import check_table
from paimon_explore.maintenance.expiry import orphan_files, partition_expiry, snapshot_expiry
from paimon_explore.maintenance.expiry.changelog_expiry import (
    changelog_retention,
    expire_changelogs,
    expire_consumers,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    ExpiryReport,
    Retention,
)
from paimon_explore.maintenance.references import branch_operations, rollback, tag_operations
from paimon_explore.maintenance.schema_commit import alter_schema
from paimon_explore.metadata.schema.schema_change import SetComment
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.table.operations.maintenance_arguments import (
    Age,
    Duration,
    RetentionArguments,
    optional_duration,
    tag_request,
    time_before,
)
from paimon_explore.table.operations.rewrites import RewriteOperations
from paimon_explore.table.references import ConsumerListing, consumers
from paimon_explore.table.table_base import TAG_HINT


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Maintenance(RewriteOperations):
    """Maintenance of one branch of a table: what is done more rarely than `compact`.

    That of a view of the past refuses all but `fsck`, `snapshot_retention` and the reading of
    `consumers`, which concern the whole branch, as do those of the table itself.
    """

    def set_comment(self, comment: str | None) -> TableSchema:
        """Set the comment of the table.

        Args:
            comment: the comment; None removes it.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").maintenance.set_comment("What people wrote").comment
        'What people wrote'
        """
        change = SetComment(comment=optional_string("comment", comment))
        return alter_schema(self._store, (change,))

    def replace_tag(
        self, name: str, snapshot: int | None = None, *, retained: Duration | None = None
    ) -> Tag:
        """Move an existing tag to another snapshot; the arguments are those of `create_tag`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.replace_tag("before", 2).snapshot.id
        2
        """
        request = tag_request(name, snapshot, retained)
        store = self._changeable(hint=TAG_HINT)
        return tag_operations.create_tag(store, self._options, request, replaces=True)

    def rename_tag(self, name: str, new_name: str) -> Tag:
        """Rename a tag.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.rename_tag("before", "start").name
        'start'
        """
        tag = tag_operations.rename_tag(
            self._store, self._options, string("name", name), string("new_name", new_name)
        )
        update_iceberg_tags(self._store, self._options)
        return tag

    def expire_tags(self, *, older_than: Age | None = None) -> list[str]:
        """Delete the tags whose retention time has passed, and return their names.

        Args:
            older_than: also delete the tags that were created before this age or time; of tags
                without a retention time, the time of their file counts.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.expire_tags()
        []
        >>> pe.demo().table("demo.trips").maintenance.expire_tags(older_than="2100-01-01")
        ['before']
        """
        before_ms = None if older_than is None else time_before(older_than)
        return tag_operations.expire_tags(self._store, self._options, before_ms=before_ms)

    def rename_branch(self, name: str, new_name: str) -> None:
        """Rename a branch.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.maintenance.rename_branch("draft", "plan")
        >>> list(t.branches)
        ['plan']
        """
        branch_operations.rename_branch(
            self._store, string("name", name), string("new_name", new_name)
        )

    def rollback_schema(self, schema_id: int) -> TableSchema:
        """Make an earlier schema the latest one; later schemas are removed.

        Args:
            schema_id: the id of the schema.

        Raises:
            NotFoundError: there is no such schema.
            InvalidInputError: a snapshot, tag or changelog uses a later schema.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.empty")
        >>> schema = t.add_column("name", "STRING")
        >>> t.maintenance.rollback_schema(0).row_type.names
        ('id',)
        """
        rollback.rollback_schema(self._store, integer("schema_id", schema_id, minimum=0))
        return self._store.schemas.load(schema_id)

    def snapshot_retention(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: Age | None = None,
        limit: int | None = None,
    ) -> Retention:
        """Return which snapshots are kept: the options, overridden by the arguments.

        The arguments are those of `expire_snapshots`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.parcels").maintenance.snapshot_retention(limit=5).retain_min
        20
        """
        given = RetentionArguments(retain_min, retain_max, older_than, limit)
        return given.over(snapshot_expiry.snapshot_retention(self._options))

    def expire_snapshots(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: Age | None = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> ExpiryReport:
        """Remove old snapshots and the files that only they need.

        Arguments that are left out have the values of the table's `snapshot.…` options.

        Args:
            retain_min: keep at least so many of the newest snapshots.
            retain_max: keep at most so many.
            older_than: between these numbers, remove the snapshots older than this: an age
                (a timedelta, or text such as `1 d`) or a time.
            limit: remove at most so many at once; by default the option `snapshot.expire.limit`
                (50), so that after many commits several calls are needed.
            dry_run: report what would be removed, and remove nothing.

        Raises:
            InvalidInputError: the arguments contradict each other.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> report = t.maintenance.expire_snapshots(retain_max=2)
        >>> [s.id for s in t.snapshots]
        [4, 5]
        """
        retention = self.snapshot_retention(
            retain_min=retain_min, retain_max=retain_max, older_than=older_than, limit=limit
        )
        boolean("dry_run", dry_run)
        return snapshot_expiry.expire_snapshots(
            self._store, self._options, retention, dry_run=dry_run
        )

    def expire_partitions(
        self, older_than: Duration | None = None, *, dry_run: bool = False
    ) -> list[dict[str, object]]:
        """Drop the partitions whose time is older than an age.

        The time is the text of their values in the format `partition.timestamp-formatter`. Those
        without one are kept: as in Java, a DATE is none, which needs the option
        `partition.expiration-strategy` = `update-time`. One call drops at most
        `partition.expiration-max-num` (100) partitions.

        In each chain of a chain table, the newest whole partition that is old enough is kept, and
        so are the changes since.

        Args:
            older_than: the age, such as `30 d`; None for the option `partition.expiration-time`.
            dry_run: report which would be dropped, and drop nothing.

        Returns:
            The dropped partitions: their values by column.

        Raises:
            InvalidInputError: no age is given, or the table is not partitioned.

        >>> import paimon_explore as pe
        >>> upkeep = pe.demo().table("demo.orders").maintenance
        >>> upkeep.expire_partitions("30000 d", dry_run=True)
        []
        """
        options = self._options
        boolean("dry_run", dry_run)
        expiry = partition_expiry.expiry_of(options, optional_duration("older_than", older_than))
        return partition_expiry.expire_partitions(self._store, options, expiry, dry_run=dry_run)

    def remove_orphan_files(
        self, *, older_than: Age = timedelta(days=1), external: bool = False, dry_run: bool = True
    ) -> orphan_files.OrphanReport:
        """Remove files that no snapshot, tag or branch refers to; by default only report them.

        Args:
            older_than: only files that were last changed before this age or time; it must be longer
                than any commit takes.
            external: also search external paths, which no other table may use then.
            dry_run: report what would be removed, and remove nothing.

        >>> import paimon_explore as pe
        >>> len(pe.demo().table("demo.orders").maintenance.remove_orphan_files().files)
        0
        """
        before_ms = time_before(older_than)
        dry_run, external = boolean("dry_run", dry_run), boolean("external", external)
        return orphan_files.remove_orphan_files(
            self._store, self._options, before_ms, external=external, dry_run=dry_run
        )

    def analyze(self, columns: str | Sequence[str] | None = None) -> Snapshot:
        """Collect statistics of all rows for query planners, and commit them.

        Args:
            columns: a column, or several, to collect statistics of; None for all.

        Returns:
            The snapshot that refers to the statistics.

        Raises:
            NotFoundError: the table has no snapshot, or no such column.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").maintenance.analyze().commit_kind.value
        'ANALYZE'
        """
        return analyze_table(self._store, self._options, optional_names("columns", columns))

    def fsck(
        self, *, read_rows: bool = False, cross_check_records: int | None = 100_000
    ) -> FsckReport:
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
        >>> list(pe.demo().table("demo.orders").maintenance.fsck())
        []
        """
        return check_table(
            self._readable,
            self._options,
            read_rows=boolean("read_rows", read_rows),
            cross_check_records=optional_integer(
                "cross_check_records", cross_check_records, minimum=0
            ),
        )

    def expire_changelogs(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: Age | None = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> ExpiryReport:
        """Remove changelogs that have outlived their snapshots long enough.

        Snapshots count among the retained ones. The arguments are those of
        `expire_snapshots`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.events").maintenance.expire_changelogs().expired
        ()
        """
        given = RetentionArguments(retain_min, retain_max, older_than, limit)
        retention = given.over(changelog_retention(self._options))
        boolean("dry_run", dry_run)
        return expire_changelogs(self._store, self._options, retention, dry_run=dry_run)

    @property
    def consumers(self) -> ConsumerListing:
        """The consumers, by id, with `reset` and `delete`.

        >>> import paimon_explore as pe
        >>> list(pe.demo().table("demo.parcels").maintenance.consumers.keys())
        ['labels']
        """
        return consumers(self._readable, self._changeable)

    def expire_consumers(self) -> list[str]:
        """Remove consumers without progress for `consumer.expiration-time`, and return their ids.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.parcels").maintenance.expire_consumers()
        []
        """
        return expire_consumers(self._store, self._options)
