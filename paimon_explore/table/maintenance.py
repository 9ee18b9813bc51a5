"""`Table.maintenance`: what changes or removes parts of a table other than its rows."""

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
from paimon_explore.commit.backoff import system_clock
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
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
from paimon_explore.metadata.options.table_options import TableOptions
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
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.table_definition import OptionValue, declared_options

Age = timedelta | datetime | str
"""How long ago (as text `1 d`), or a point in time (text is ISO, local without a zone)."""
_AGES = "an age (a timedelta, or '1 d') or a time (a datetime, or '2026-11-20 10:00')"
_ALTER = "Table.maintenance has a method for each change: add_column('x', 'INT'), set_options({…})."


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """The upkeep of one branch of a table.

    Attributes:
        store: the table's files.
        dynamic_options: options of this object alone, over those of the schema.
    """

    store: TableStore
    dynamic_options: Mapping[str, str]

    @property
    def options(self) -> TableOptions:
        """The options in force."""
        schema = self.store.schemas.latest()
        stored = {} if schema is None else schema.options
        return TableOptions({**stored, **self.dynamic_options})

    def alter(self, *changes: SchemaChange, check: bool = True) -> TableSchema:
        """Change the schema, by all changes or none.

        Args:
            changes: values of `paimon_explore.metadata.schema.schema_change`.
            check: refuse a new type that stored values do not fit, and NOT NULL where there are
                nulls; files are read if their statistics leave it open.

        Raises:
            InvalidInputError: a rule forbids a change, or stored values do not fit.
            NotFoundError: a column that does not exist.
            AlreadyExistsError: a new name is taken.
        """
        for change in changes:
            if not isinstance(change, get_args(SchemaChange)):
                raise invalid_argument(
                    "A change",
                    change,
                    "a value of paimon_explore.metadata.schema.schema_change",
                    hint=_ALTER,
                )
        return alter_schema(self.store, changes, check=boolean("check", check))

    def add_column(
        self, name: str, type_text: str, *, comment: str | None = None, after: str | None = None
    ) -> TableSchema:
        """Add a nullable column.

        Args:
            name: the column, `row.member` for a member of a row.
            type_text: its type, as `DECIMAL(10, 2)`.
            comment: its comment.
            after: the column before it; None to add it last.
        """
        optional_string("comment", comment)
        optional_string("after", after)
        move = None if after is None else Move(position=Position.AFTER, reference=after)
        kind = _type_argument(type_text)
        return self.alter(AddColumn(column=self._path(name), type=kind, comment=comment, move=move))

    def rename_column(self, name: str, new_name: str) -> TableSchema:
        """Give a column another name."""
        return self.alter(RenameColumn(column=self._path(name), name=string("new_name", new_name)))

    def drop_column(self, name: str) -> TableSchema:
        """Leave a column out from now on."""
        return self.alter(DropColumn(column=self._path(name)))

    def alter_column_type(self, name: str, type_text: str, *, check: bool = True) -> TableSchema:
        """Give a column another type, which its values are cast to; nullability stays.

        Args:
            name: the column, `row.member` for a member of a row.
            type_text: its new type, as `DECIMAL(10, 2)`.
            check: refuse a type that stored values do not fit, that would be cut, wrap around or
                become null. Files are read if the types and statistics leave it open.

        Raises:
            InvalidInputError: there is no such cast, or stored values do not fit; the message
                counts them and shows one.
        """
        kind = _type_argument(type_text)
        change = ChangeType(column=self._path(name), type=kind, keep_nullability=True)
        return self.alter(change, check=check)

    def set_options(self, options: Mapping[str, OptionValue]) -> TableSchema:
        """Set table options."""
        texts = declared_options(mapping("options", options))  # type: ignore[arg-type]  # by values
        return self.alter(*[SetOption(key=key, value=value) for key, value in texts.items()])

    def unset_options(self, keys: str | Sequence[str]) -> TableSchema:
        """Leave table options at their defaults; a single key may stand alone."""
        return self.alter(*[RemoveOption(key=key) for key in names("keys", keys)])

    def set_comment(self, comment: str | None) -> TableSchema:
        """Give the table another comment."""
        return self.alter(SetComment(comment=optional_string("comment", comment)))

    def create_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> Tag:
        """Give a snapshot a name, which keeps its files.

        Args:
            name: the tag.
            snapshot: the snapshot's id; None for the newest.
            retained: how long the tag lives; None for `tag.default-time-retained`, or for ever.

        Raises:
            AlreadyExistsError: there is a tag of that name.
            NotFoundError: there is no such snapshot.
        """
        request = _tag_request(name, snapshot, retained)
        return tag_operations.create_tag(self.store, self.options, request)

    def replace_tag(
        self, name: str, snapshot: int | None = None, *, retained: timedelta | None = None
    ) -> Tag:
        """Let an existing tag name another snapshot; see `create_tag`."""
        request = _tag_request(name, snapshot, retained)
        return tag_operations.create_tag(self.store, self.options, request, replaces=True)

    def rename_tag(self, name: str, new_name: str) -> Tag:
        """Give a tag another name."""
        return tag_operations.rename_tag(
            self.store, string("name", name), string("new_name", new_name)
        )

    def delete_tag(self, name: str) -> Removal:
        """Remove a tag, and the files that only it held."""
        return tag_operations.delete_tag(self.store, self.options, string("name", name))

    def expire_tags(self) -> list[str]:
        """Remove the tags that have outlived their time."""
        return tag_operations.expire_tags(self.store, self.options)

    def create_branch(self, name: str, tag: str | None = None) -> None:
        """Make a branch that begins with a tag's snapshot, or without rows."""
        branch_operations.create_branch(
            self.store, string("name", name), optional_string("tag", tag)
        )

    def rename_branch(self, name: str, new_name: str) -> None:
        """Give a branch another name."""
        branch_operations.rename_branch(
            self.store, string("name", name), string("new_name", new_name)
        )

    def delete_branch(self, name: str) -> None:
        """Remove a branch; files that only it needs are left to `remove_orphan_files`."""
        branch_operations.delete_branch(self.store, string("name", name))

    def fast_forward(self, branch: str) -> None:
        """Make main what a branch is; main's own snapshots since then are gone.

        Raises:
            NotFoundError: there is no such branch.
            InvalidInputError: the branch is main, or has no snapshot.
            CommitConflictError: snapshots of main or of the branch are being expired, or their
                expiry was interrupted; nothing was changed.
        """
        branch_operations.fast_forward(self.store, string("branch", branch))

    def rollback_to(
        self,
        point: int | str | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """Make an earlier snapshot, or the snapshot of a tag, the newest one; see `Table`."""
        if point is not None:
            if snapshot is not None or tag is not None:
                raise InvalidInputError("rollback_to() takes one snapshot or one tag.")
            if isinstance(point, str):
                tag = point
            else:
                snapshot = point
        optional_integer("snapshot", snapshot)
        optional_string("tag", tag)
        if snapshot is not None and tag is None:
            return rollback.rollback_to_snapshot(self.store, snapshot)
        if tag is not None and snapshot is None:
            return rollback.rollback_to_tag(self.store, tag)
        raise InvalidInputError("rollback_to() needs either a snapshot or a tag.")

    def rollback_schema(self, schema_id: int) -> TableSchema:
        """Make a schema the newest one again; newer ones, which nothing may use, are gone.

        Raises:
            NotFoundError: there is no such schema.
            InvalidInputError: a snapshot, tag or changelog has a newer one.
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
        """Remove old snapshots and the files that only they need.

        Args:
            retain_min: the newest that stay in any case.
            retain_max: the newest that may stay.
            older_than: between them, those older than this go.
            limit: most that go at once.
            dry_run: only tell what would go.

        Raises:
            InvalidInputError: the arguments contradict each other.
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
        """What of the snapshots stays, by the options and what is given over them.

        See `expire_snapshots` for the arguments.
        """
        given = _Given(retain_min, retain_max, older_than, limit)
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

        Snapshots count among what is retained; see `expire_snapshots` for the arguments.
        """
        given = _Given(retain_min, retain_max, older_than, limit)
        retention = given.over(changelog_retention(self.options))
        boolean("dry_run", dry_run)
        return expire_changelogs(self.store, self.options, retention, dry_run=dry_run)

    def expire_consumers(self) -> list[str]:
        """Remove the consumers that stood still for `consumer.expiration-time`."""
        return expire_consumers(self.store, self.options)

    def expire_partitions(
        self, older_than: timedelta | None = None, *, dry_run: bool = False
    ) -> list[dict[str, object]]:
        """Drop the partitions whose time is past.

        Args:
            older_than: the age; None for `partition.expiration-time`.
            dry_run: only tell which would go.

        Returns:
            Their values by column.

        Raises:
            InvalidInputError: no age is given, or the table has no partitions.
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
        """Remove files that nothing in any branch refers to; by default only tell which.

        Args:
            older_than: only files not touched for so long; it must be longer than any commit takes.
            external: look into external paths, too, which no other table may use then.
            dry_run: only tell what would go.
        """
        boolean("external", external)
        boolean("dry_run", dry_run)
        before_ms = time_before(older_than)
        dry_run, external = boolean("dry_run", dry_run), boolean("external", external)
        return remove_orphan_files(
            self.store, self.options, before_ms, external=external, dry_run=dry_run
        )

    def analyze(self) -> Snapshot:
        """Find figures of all rows and columns, and make them known to query planners.

        Returns:
            The snapshot that names them.

        Raises:
            NotFoundError: the table has no snapshot.
        """
        return analyze_table(self.store, self.options)

    def fsck(
        self, *, read_rows: bool = False, cross_check_records: int | None = 100_000
    ) -> FsckReport:
        """Check that the files of the table, in all branches, fit together.

        Args:
            read_rows: also read every data file.
            cross_check_records: how many records of manifest lists, manifests and index manifests
                are decoded by fastavro as well and compared value by value, shared out among the
                files, smallest first; 0 for none, None for all. A record takes about 40 µs.

        Returns:
            A list of what is wrong, empty for a table in order. Its attribute `avro` says how many
            records were compared, and how many files only in part or not at all.
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
        """A column by its name; dots lead into rows unless a column is called so."""
        string("name", name)
        schema = self.store.schemas.latest()
        name = string("name", name)
        is_whole = schema is not None and any(field.name == name for field in schema.fields)
        return (name,) if is_whole else tuple(name.split("."))


@dataclass(frozen=True, slots=True)
class _Given:
    """Arguments that go over the table's options."""

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
    """A point in time, epoch milliseconds.

    Raises:
        InvalidInputError: a negative age, or a text that is not a time.
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
    """A time, or how long ago it was."""
    moment = parse_epoch_ms(text)
    if moment is not None:
        return moment
    try:
        if not text.strip()[-1:].isalpha():
            raise invalid_argument("older_than", text, _AGES)
        return system_clock() - parse_duration(text)
    except UnreadableValueError as error:
        raise invalid_argument("older_than", text, _AGES) from error
