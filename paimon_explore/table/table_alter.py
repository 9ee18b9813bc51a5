"""The methods of a table that change its schema, its tags and its branches.

The modules that do the work are imported on first use, so that opening a table stays fast.
"""

from collections.abc import Mapping
from datetime import date
from typing import get_args

from paimon_explore.arguments import (
    boolean,
    invalid_argument,
    mapping,
    optional_integer,
    optional_string,
    string,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.time_travel import (
    TimestampLike,
    TimeTravel,
    asked_point,
    epoch_ms,
    named_point,
)
from paimon_explore.table import lazy_types as types
from paimon_explore.table.latest_schema import latest_options
from paimon_explore.table.table_base import TAG_HINT, BaseTable, changeable_store
from paimon_explore.table.table_definition import (
    ColumnType,
    OptionValue,
    column_type,
    option_texts,
)

_ALTER = "Call a method of the table instead, such as add_column() or set_options()."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AlterableTable(BaseTable):
    """A table with changes of its schema, tags and branches; `maintenance` has the rarer ones."""

    @property
    def _latest_options(self) -> TableOptions:
        return latest_options(self._store, self._dynamic_options)

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
                    "A change", change, "a SchemaChange, such as SetComment", hint=_ALTER
                )
        return alter_schema(changeable_store(self), changes, check=boolean("check", check))

    def add_column(
        self,
        name: str,
        data_type: ColumnType,
        *,
        comment: str | None = None,
        after: str | None = None,
    ) -> TableSchema:
        """Add a nullable column.

        Args:
            name: the column, or `row.field` for a field of a ROW column.
            data_type: its type: a text such as `DECIMAL(10, 2)`, or an Arrow type.
            comment: its comment.
            after: the column to put it after; None adds it at the end.

        Raises:
            AlreadyExistsError: the table has such a column.
            InvalidInputError: not a type, or one that is NOT NULL.
            NotFoundError: there is no column `after`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.notes").add_column("author", "STRING", after="id").row_type.names
        ('id', 'author', 'text', 'stars')
        """
        from paimon_explore.metadata.schema.schema_change import AddColumn, Move, Position

        optional_string("comment", comment)
        optional_string("after", after)
        move = None if after is None else Move(position=Position.AFTER, reference=after)
        kind = column_type(string("name", name), data_type)
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

    def alter_column_type(
        self, name: str, data_type: ColumnType, *, check: bool = True
    ) -> TableSchema:
        """Change the type of a column; stored values are cast on read, nullability stays.

        Args:
            name: the column, or `row.field` for a field of a ROW column.
            data_type: its new type: a text such as `DECIMAL(10, 2)`, or an Arrow type.
            check: reject a type that stored values do not fit: that would truncate them, overflow
                or make them null. Files are read if types and statistics do not decide it.

        Raises:
            InvalidInputError: there is no such cast, or stored values do not fit; the message
                counts them and shows one.
            NotFoundError: there is no such column.

        >>> import paimon_explore as pe
        >>> schema = pe.demo().table("demo.notes").alter_column_type("stars", "BIGINT")
        >>> schema.field("stars").type.root.value
        'BIGINT'
        """
        from paimon_explore.metadata.schema.schema_change import ChangeType

        kind = column_type(string("name", name), data_type)
        change = ChangeType(column=self._path(name), type=kind, keep_nullability=True)
        return self.alter(change, check=check)

    def set_options(self, options: Mapping[str, OptionValue | None]) -> TableSchema:
        """Set table options, or reset them to their defaults.

        Args:
            options: values by key, such as `{"snapshot.time-retained": "2 h"}`; None resets the
                option to its default. Durations without a unit are milliseconds, sizes bytes.

        Raises:
            InvalidInputError: an unknown option, a value that cannot be read, or an option that
                cannot be changed.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> t.set_options({"snapshot.num-retained.min": 5}).options["snapshot.num-retained.min"]
        '5'
        >>> schema = t.set_options({"snapshot.num-retained.min": None})
        >>> "snapshot.num-retained.min" in schema.options
        False
        """
        from paimon_explore.metadata.schema.schema_change import RemoveOption, SetOption

        given = mapping("options", options)
        texts = option_texts({k: v for k, v in given.items() if v is not None})  # type: ignore[misc]  # by values
        changes = (
            SetOption(key=key, value=texts[key]) if key in texts else RemoveOption(key=key)
            for key in given
        )
        return self.alter(*changes)

    def create_tag(
        self, name: str, snapshot: int | None = None, *, retained: "types.Duration | None" = None
    ) -> "types.Tag":
        """Create a tag: a name for a snapshot, which keeps its files.

        Args:
            name: the tag.
            snapshot: the snapshot's id; None for the latest.
            retained: how long the tag is kept, such as `7 d` or a timedelta; None for the option
                `tag.default-time-retained`, or for ever without it. Later
                `maintenance.expire_tags` deletes it, and so do commits that expire snapshots
                (here) or any commit (Java).

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
        store = changeable_store(self, hint=TAG_HINT)
        return tag_operations.create_tag(store, self._latest_options, request)

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

        return tag_operations.delete_tag(
            changeable_store(self), self._latest_options, string("name", name)
        )

    def create_branch(self, name: str, tag: str | None = None) -> None:
        """Create a branch, from the snapshot of a tag or empty.

        Args:
            name: the branch.
            tag: where it starts. None for an empty branch: it has the schema of the table, but no
                snapshots and no rows. For a branch with the present rows, create a tag first.

        Raises:
            AlreadyExistsError: there is a branch of that name.
            NotFoundError: there is no such tag.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.create_branch("trial", "before")
        >>> t.create_branch("blank")
        >>> pe.open_table(t.path, branch="trial").count()
        2
        >>> pe.open_table(t.path, branch="blank").count()
        0
        """
        from paimon_explore.maintenance.references import branch_operations

        branch_operations.create_branch(
            changeable_store(self), string("name", name), optional_string("tag", tag)
        )

    def delete_branch(self, name: str) -> None:
        """Delete a branch; `maintenance.remove_orphan_files` removes files that only it needed.

        Raises:
            NotFoundError: there is no such branch.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> t.delete_branch("draft")
        >>> list(t.branches)
        []
        """
        from paimon_explore.maintenance.references import branch_operations

        branch_operations.delete_branch(changeable_store(self), string("name", name))

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

        branch_operations.fast_forward(changeable_store(self), string("branch", branch))
        follow_iceberg_rollback(self._store, self._latest_options)

    def rollback_to(
        self,
        point: int | str | date | Snapshot | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
    ) -> Snapshot:
        """Make an earlier snapshot the latest one; all later snapshots and their tags are removed.

        Consumers keep their positions: reset those that have read removed snapshots with
        `table.maintenance.consumers.reset`, or they skip the commits that take the place of these.
        To keep all snapshots, write the rows of that snapshot as a new one instead:

            table.overwrite(table.at(snapshot=5), partition={})

        Args:
            point: a snapshot or its id; or text: the name of a tag, else a time in ISO format; or a
                date or datetime; as in `at`.
            snapshot: a snapshot id.
            tag: the name of a tag.
            timestamp: the latest snapshot at or before a time, in the forms of `at`.

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

        given = TimeTravel(
            snapshot=optional_integer("snapshot", snapshot),
            tag=optional_string("tag", tag),
            timestamp_ms=None if timestamp is None else epoch_ms(timestamp),
        )
        store = changeable_store(self)
        asked = asked_point(store, given, point, "rollback_to")
        if asked.version is not None:
            asked = named_point(store, asked.version)
        if asked.tag is not None:
            made = rollback.rollback_to_tag(store, asked.tag)
        else:
            number = asked.snapshot
            if number is None:
                found = asked.pinned(store).found
                assert found is not None  # noqa: S101 - by a time or watermark
                number = found.id
            made = rollback.rollback_to_snapshot(store, number)
        follow_iceberg_rollback(store, self._latest_options)
        return made

    def _path(self, name: str) -> tuple[str, ...]:
        """The path of a column; dots lead into ROW columns unless a column has that very name."""
        string("name", name)
        schema = self._store.schemas.latest()
        name = string("name", name)
        is_whole = schema is not None and any(field.name == name for field in schema.fields)
        return (name,) if is_whole else tuple(name.split("."))
