"""`Table.maintenance`: schema changes, tags, branches, rollback, expiry, statistics and checks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

from paimon_explore.arguments import (
    boolean,
    instance,
    integer,
    invalid_argument,
    mapping,
    names,
    optional_duration,
    optional_integer,
    optional_string,
    string,
)
from paimon_explore.commit.commit_timing import system_clock
from paimon_explore.commit.iceberg.reference_updates import (
    follow_iceberg_rollback,
    update_iceberg_tags,
)
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.analyze import analyze_table
from paimon_explore.maintenance.checks.findings import FsckReport
from paimon_explore.maintenance.expiry.changelog_expiry import (
    changelog_retention,
    expire_changelogs,
    expire_consumers,
)
from paimon_explore.maintenance.expiry.file_removal import Removal
from paimon_explore.maintenance.expiry.orphan_files import OrphanReport, remove_orphan_files
from paimon_explore.maintenance.expiry.partition_expiry import expire_partitions, expiry_of
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    ExpiryReport,
    Retention,
    expire_snapshots,
    snapshot_retention,
)
from paimon_explore.maintenance.references import branch_operations, rollback, tag_operations
from paimon_explore.maintenance.references.tag_operations import TagRequest
from paimon_explore.maintenance.schema_commit import alter_schema
from paimon_explore.metadata.options.option_definition import UnreadableValueError, parse_duration
from paimon_explore.metadata.schema.schema_change import (
    AddColumn,
    ChangeType,
    ColumnPath,
    DropColumn,
    Move,
    Position,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetComment,
    SetOption,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.scan.time_travel import epoch_ms, parse_epoch_ms
from paimon_explore.table.operations.rewrites import RewriteOperations
from paimon_explore.table.table_definition import OptionValue, option_texts

Age = timedelta | datetime | str
"""How long ago (as text `1 d`), or a point in time (text is ISO, local without a zone)."""
_AGES = "an age (a timedelta, or '1 d') or a time (a datetime, or '2026-11-20 10:00')"
_ALTER = "Call a method of the table instead, such as add_column() or set_options()."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Maintenance(RewriteOperations):
    """Maintenance of one branch of a table; `Table` has the common ones of these methods, too."""

    def alter(self, *changes: SchemaChange, check: bool = True) -> TableSchema:
        """Change the schema by several changes at once; see `Table.alter`.

        >>> import paimon_explore as pe
        >>> from paimon_explore.metadata.schema.schema_change import SetComment
        >>> pe.demo().table("demo.notes").maintenance.alter(SetComment(comment="Notes")).comment
        'Notes'
        """
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
        """Add a nullable column; see `Table.add_column`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.empty").maintenance.add_column("name", "STRING").row_type.names
        ('id', 'name')
        """
        optional_string("comment", comment)
        optional_string("after", after)
        move = None if after is None else Move(position=Position.AFTER, reference=after)
        kind = _type_argument(type_text)
        return self.alter(AddColumn(column=self._path(name), type=kind, comment=comment, move=move))

    def rename_column(self, name: str, new_name: str) -> TableSchema:
        """Rename a column; see `Table.rename_column`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.empty").maintenance.rename_column("id", "key").row_type.names
        ('key',)
        """
        return self.alter(RenameColumn(column=self._path(name), name=string("new_name", new_name)))

    def drop_column(self, name: str) -> TableSchema:
        """Remove a column from the schema; see `Table.drop_column`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").maintenance.drop_column("text").row_type.names
        ('id', 'stars')
        """
        return self.alter(DropColumn(column=self._path(name)))

    def alter_column_type(self, name: str, type_text: str, *, check: bool = True) -> TableSchema:
        """Change the type of a column; see `Table.alter_column_type`.

        >>> import paimon_explore as pe
        >>> upkeep = pe.demo().table("demo.empty").maintenance
        >>> upkeep.alter_column_type("id", "DECIMAL(20, 0)").field("id").type.precision
        20
        """
        kind = _type_argument(type_text)
        change = ChangeType(column=self._path(name), type=kind, keep_nullability=True)
        return self.alter(change, check=check)

    def set_options(self, options: Mapping[str, OptionValue]) -> TableSchema:
        """Set table options; see `Table.set_options`.

        >>> import paimon_explore as pe
        >>> upkeep = pe.demo().table("demo.empty").maintenance
        >>> dict(upkeep.set_options({"write-only": True}).options)
        {'write-only': 'true'}
        """
        texts = option_texts(mapping("options", options))  # type: ignore[arg-type]  # by values
        return self.alter(*[SetOption(key=key, value=value) for key, value in texts.items()])

    def unset_options(self, keys: str | Sequence[str]) -> TableSchema:
        """Reset table options to their defaults; see `Table.unset_options`.

        >>> import paimon_explore as pe
        >>> upkeep = pe.demo().table("demo.empty").maintenance
        >>> schema = upkeep.set_options({"write-only": True})
        >>> dict(upkeep.unset_options("write-only").options)
        {}
        """
        return self.alter(*[RemoveOption(key=key) for key in names("keys", keys)])

    def set_comment(self, comment: str | None) -> TableSchema:
        """Set the comment of the table.

        Args:
            comment: the comment; None removes it.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").maintenance.set_comment("What people wrote").comment
        'What people wrote'
        """
        return self.alter(SetComment(comment=optional_string("comment", comment)))

    def create_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> Tag:
        """Create a tag; see `Table.create_tag`.

        >>> import paimon_explore as pe
        >>> from datetime import timedelta
        >>> upkeep = pe.demo().table("demo.orders").maintenance
        >>> upkeep.create_tag("v1", retained=timedelta(days=7)).time_retained
        datetime.timedelta(days=7)
        """
        request = _tag_request(name, snapshot, retained)
        return tag_operations.create_tag(self.store, self.options, request)

    def replace_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> Tag:
        """Move an existing tag to another snapshot; the arguments are those of `create_tag`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.replace_tag("before", 2).snapshot.id
        2
        """
        request = _tag_request(name, snapshot, retained)
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

    def delete_tag(self, name: str) -> Removal:
        """Delete a tag; see `Table.delete_tag`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> removed = t.maintenance.delete_tag("before")
        >>> list(t.tags)
        []
        """
        return tag_operations.delete_tag(self.store, self.options, string("name", name))

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

    def create_branch(self, name: str, tag: str | None = None) -> None:
        """Create a branch; see `Table.create_branch`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.maintenance.create_branch("trial")
        >>> list(t.branches)
        ['trial']
        """
        branch_operations.create_branch(
            self.store, string("name", name), optional_string("tag", tag)
        )

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

    def delete_branch(self, name: str) -> None:
        """Delete a branch; see `Table.delete_branch`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.maintenance.delete_branch("draft")
        >>> len(t.branches)
        0
        """
        branch_operations.delete_branch(self.store, string("name", name))

    def fast_forward(self, branch: str) -> None:
        """Replace the main branch by a branch; see `Table.fast_forward`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.maintenance.fast_forward("draft")
        >>> t.count()
        3
        """
        branch_operations.fast_forward(self.store, string("branch", branch))
        follow_iceberg_rollback(self.store, self.options)

    def rollback_to(
        self,
        point: int | str | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """Make an earlier snapshot the latest one; see `Table.rollback_to`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").maintenance.rollback_to("before").id
        1
        """
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
            return self._rolled_back(rollback.rollback_to_snapshot(self.store, snapshot))
        if tag is not None and snapshot is None:
            return self._rolled_back(rollback.rollback_to_tag(self.store, tag))
        if tag is None:
            raise InvalidInputError("rollback_to() requires a snapshot or a tag.")
        raise InvalidInputError("rollback_to() accepts either a snapshot or a tag, not both.")

    def _rolled_back(self, snapshot: Snapshot) -> Snapshot:
        follow_iceberg_rollback(self.store, self.options)
        return snapshot

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

    def expire_snapshots(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: Age | None = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> ExpiryReport:
        """Remove old snapshots and the files that only they need; see `Table.expire_snapshots`.

        >>> import paimon_explore as pe
        >>> upkeep = pe.demo().table("demo.orders").maintenance
        >>> upkeep.expire_snapshots(retain_max=1, dry_run=True).expired
        (1, 2, 3, 4)
        """
        retention = self.snapshot_retention(
            retain_min=retain_min, retain_max=retain_max, older_than=older_than, limit=limit
        )
        boolean("dry_run", dry_run)
        return expire_snapshots(self.store, self.options, retention, dry_run=dry_run)

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
        given = _RetentionArguments(retain_min, retain_max, older_than, limit)
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
        given = _RetentionArguments(retain_min, retain_max, older_than, limit)
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

    def expire_partitions(
        self, older_than: timedelta | None = None, *, dry_run: bool = False
    ) -> list[dict[str, object]]:
        """Drop the partitions whose time is older than an age; see `Table.expire_partitions`.

        >>> import paimon_explore as pe
        >>> from datetime import timedelta
        >>> pe.demo().table("demo.orders").maintenance.expire_partitions(timedelta(days=30_000))
        []
        """
        options = self.options
        boolean("dry_run", dry_run)
        expiry = expiry_of(options, optional_duration("older_than", older_than))
        return expire_partitions(self.store, options, expiry, dry_run=dry_run)

    def remove_orphan_files(
        self,
        *,
        older_than: Age = timedelta(days=1),
        external: bool = False,
        dry_run: bool = True,
    ) -> OrphanReport:
        """Remove files that nothing refers to; see `Table.remove_orphan_files`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").maintenance.remove_orphan_files(older_than="2 d").dry_run
        True
        """
        boolean("external", external)
        boolean("dry_run", dry_run)
        before_ms = time_before(older_than)
        dry_run, external = boolean("dry_run", dry_run), boolean("external", external)
        return remove_orphan_files(
            self.store, self.options, before_ms, external=external, dry_run=dry_run
        )

    def analyze(self) -> Snapshot:
        """Collect statistics for query planners; see `Table.analyze`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.maintenance.analyze().id, t.inspect.statistics()["mergedRecordCount"].to_pylist()
        (6, [30])
        """
        return analyze_table(self.store, self.options)

    def fsck(
        self, *, read_rows: bool = False, cross_check_records: int | None = 100_000
    ) -> FsckReport:
        """Check that the files of the table are complete and consistent; see `Table.fsck`.

        >>> import paimon_explore as pe
        >>> len(pe.demo().table("demo.parcels").maintenance.fsck(read_rows=True))
        0
        """
        from paimon_explore.maintenance.checks.fsck import check_table

        return check_table(
            self.store,
            self.options,
            read_rows=boolean("read_rows", read_rows),
            cross_check_records=optional_integer(
                "cross_check_records", cross_check_records, minimum=0
            ),
        )

    def _path(self, name: str) -> ColumnPath:
        """The path of a column; dots lead into ROW columns unless a column has that very name."""
        string("name", name)
        schema = self.store.schemas.latest()
        name = string("name", name)
        is_whole = schema is not None and any(field.name == name for field in schema.fields)
        return (name,) if is_whole else tuple(name.split("."))


@dataclass(frozen=True, slots=True)
class _RetentionArguments:
    """Arguments that override the table's options."""

    retain_min: int | None
    retain_max: int | None
    older_than: Age | None
    limit: int | None

    def over(self, retention: Retention) -> Retention:
        for name in ("retain_min", "retain_max", "limit"):
            optional_integer(name, getattr(self, name), minimum=1)
        low = retention.retain_min if self.retain_min is None else self.retain_min
        high = retention.retain_max if self.retain_max is None else self.retain_max
        if self.retain_max is not None and self.retain_min is None:
            low = min(low, high)
        older = self.older_than
        return replace(
            retention,
            retain_min=low,
            retain_max=high,
            keep_after_ms=retention.keep_after_ms if older is None else time_before(older),
            limit=retention.limit if self.limit is None else self.limit,
        )


def _tag_request(name: str, snapshot: int | None, retained: timedelta | None) -> TagRequest:
    return TagRequest(
        name=string("name", name),
        snapshot_id=optional_integer("snapshot", snapshot),
        retained=optional_duration("retained", retained),
    )


def _type_argument(text: str) -> DataType:
    return parse_type_text(string("type_text", text, hint="Pass a type such as 'DECIMAL(10, 2)'."))


def time_before(age: Age) -> int:
    """Return a time, or the time an age ago, in epoch milliseconds.

    Raises:
        InvalidInputError: a negative age, or text that is neither an age nor a time.
    """
    if isinstance(age, str):
        return _time_in(age)
    if isinstance(age, datetime):
        return epoch_ms(age)
    age = instance("older_than", age, timedelta, _AGES)
    if age < timedelta(0):
        raise InvalidInputError(f"older_than must not be negative, but {age} was given.")
    return system_clock() - age // timedelta(milliseconds=1)


def _time_in(text: str) -> int:
    """A time, or the time a duration ago, in epoch milliseconds."""
    moment = parse_epoch_ms(text)
    if moment is not None:
        return moment
    try:
        if not text.strip()[-1:].isalpha():
            raise invalid_argument("older_than", text, _AGES)
        return system_clock() - parse_duration(text)
    except UnreadableValueError as error:
        raise invalid_argument("older_than", text, _AGES) from error
