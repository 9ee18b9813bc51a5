"""`Table.maintenance`: schema changes, tags, branches, rollback, expiry, statistics and checks."""

from datetime import timedelta

from paimon_explore.arguments import boolean, integer, optional_string, string
from paimon_explore.commit.iceberg.reference_updates import update_iceberg_tags
from paimon_explore.errors import NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.changelog_expiry import (
    changelog_retention,
    expire_changelogs,
    expire_consumers,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    ExpiryReport,
    Retention,
    snapshot_retention,
)
from paimon_explore.maintenance.references import branch_operations, rollback, tag_operations
from paimon_explore.metadata.schema.schema_change import SetComment
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.tag import Tag
from paimon_explore.table.operations.common_operations import CommonOperations
from paimon_explore.table.operations.maintenance_arguments import (
    Age,
    RetentionArguments,
    tag_request,
    time_before,
)
from paimon_explore.table.operations.rewrites import RewriteOperations


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Maintenance(CommonOperations, RewriteOperations):
    """Maintenance of one branch of a table; `Table` has the common ones of these methods, too."""

    def set_comment(self, comment: str | None) -> TableSchema:
        """Set the comment of the table.

        Args:
            comment: the comment; None removes it.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").maintenance.set_comment("What people wrote").comment
        'What people wrote'
        """
        return self.alter(SetComment(comment=optional_string("comment", comment)))

    def replace_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> Tag:
        """Move an existing tag to another snapshot; the arguments are those of `create_tag`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.replace_tag("before", 2).snapshot.id
        2
        """
        request = tag_request(name, snapshot, retained)
        return tag_operations.create_tag(self.store, self.options, request, replaces=True)

    def rename_tag(self, name: str, new_name: str) -> Tag:
        """Rename a tag.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.rename_tag("before", "start").name
        'start'
        """
        tag = tag_operations.rename_tag(
            self.store, string("name", name), string("new_name", new_name)
        )
        update_iceberg_tags(self.store, self.options)
        return tag

    def expire_tags(self, *, older_than: Age | None = None) -> list[str]:
        """Delete the tags whose retention time has passed, and return their names.

        Args:
            older_than: also delete the tags that were created before this age or time; of tags
                without a retention time, the time of their file counts.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.expire_tags()
        []
        >>> pe.demo().table("demo.trips").maintenance.expire_tags(older_than="0 s")
        ['before']
        """
        before_ms = None if older_than is None else time_before(older_than)
        return tag_operations.expire_tags(self.store, self.options, before_ms=before_ms)

    def rename_branch(self, name: str, new_name: str) -> None:
        """Rename a branch.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.maintenance.rename_branch("draft", "plan")
        >>> list(t.branches)
        ['plan']
        """
        branch_operations.rename_branch(
            self.store, string("name", name), string("new_name", new_name)
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
        rollback.rollback_schema(self.store, integer("schema_id", schema_id, minimum=0))
        return self.store.schemas.load(schema_id)

    def snapshot_retention(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: Age | None = None,
        limit: int | None = None,
    ) -> Retention:
        """Return which snapshots are kept: the options, overridden by the arguments.

        The arguments are those of `Table.expire_snapshots`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.parcels").maintenance.snapshot_retention(limit=5).retain_min
        20
        """
        given = RetentionArguments(retain_min, retain_max, older_than, limit)
        return given.over(snapshot_retention(self.options))

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
        `Table.expire_snapshots`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.events").maintenance.expire_changelogs().expired
        ()
        """
        given = RetentionArguments(retain_min, retain_max, older_than, limit)
        retention = given.over(changelog_retention(self.options))
        boolean("dry_run", dry_run)
        return expire_changelogs(self.store, self.options, retention, dry_run=dry_run)

    def delete_consumer(self, consumer_id: str) -> None:
        """Remove a consumer, so that the snapshots it still had to read may expire.

        Raises:
            NotFoundError: there is no such consumer.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.parcels")
        >>> t.maintenance.delete_consumer("labels")
        >>> list(t.consumers)
        []
        """
        consumers = self.store.consumers
        known = consumers.ids()
        if string("consumer_id", consumer_id) not in known:
            hint = f"Consumers: {choices(known)}."
            raise NotFoundError("consumer", consumer_id, self.store.paths.root, hint=hint)
        consumers.delete(consumer_id)

    def expire_consumers(self) -> list[str]:
        """Remove consumers without progress for `consumer.expiration-time`, and return their ids.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.parcels").maintenance.expire_consumers()
        []
        """
        return expire_consumers(self.store, self.options)
