"""Writes of `Table`: write files, commit them, and remove them if the commit fails."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from paimon_explore.arguments import invalid_argument, mapping, optional_string
from paimon_explore.commit.commit_attempt import NO_NOTE, CommitNote
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.key_conflicts import StaleRecordsError
from paimon_explore.commit.overwrite import NEW_PARTITIONS, WHOLE_TABLE, Overwrite, check_partition
from paimon_explore.commit.planned_again import PlannedTable, repeated, with_latest_schema
from paimon_explore.errors import (
    CommitOutcomeUnknownError,
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.uploads import Uploads, uploading
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.auto_compaction import auto_compact
from paimon_explore.maintenance.compaction.compact import (
    commit_buckets,
    compact_postponed,
    compact_table,
    numbered_buckets,
    sort_table,
)
from paimon_explore.maintenance.post_commit import run_post_commit
from paimon_explore.maintenance.row_level.assignments import NewValue
from paimon_explore.maintenance.row_level.merge_into import MergeSpec, merge_rows
from paimon_explore.maintenance.row_level.merge_join import On
from paimon_explore.maintenance.row_level.primary_key_rows import write_primary_key_rows
from paimon_explore.maintenance.row_level.update_delete import (
    RowLevelResult,
    delete_rows,
    update_rows,
)
from paimon_explore.maintenance.row_level.upsert_key import upsert_merge
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.table_options import (
    DYNAMIC_PARTITION_OVERWRITE,
    SNAPSHOT_IGNORE_EMPTY_COMMIT,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import LatestSnapshot, Snapshot
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.merge_builder import Merge
from paimon_explore.table.progress import progress
from paimon_explore.table.table_base import is_keyed
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.input.arrow_stream import is_repeatable
from paimon_explore.write.input.cast_policy import CastPolicy
from paimon_explore.write.input.converted_rows import converted_rows
from paimon_explore.write.input.table_batches import Rows, with_partition
from paimon_explore.write.primary_key_writer import needs_key_index
from paimon_explore.write.write_target import WriteTarget, abort

if TYPE_CHECKING:
    from paimon_explore.write.adopted_files import AdoptionMode, ForeignFile

Result = TypeVar("Result")
Specs: TypeAlias = Sequence[Mapping[str, object]]
"""Partitions, each as values of some partition columns."""
RowLevelWork: TypeAlias = Callable[[TableStore, TableSchema, TableOptions], RowLevelResult]
"""Writes what becomes of rows of a table."""
RewritePlan: TypeAlias = Callable[[TableStore, TableSchema, TableOptions], list[CommitMessage]]
"""Writes files that replace others."""
CommitAct: TypeAlias = Callable[[Committer, list[CommitMessage]], list[Snapshot]]
"""Commits messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWriter:
    """Writes to one branch of a table, in one commit per call.

    Attributes:
        store: the table's files.
        schema: its latest schema.
        options: its options, dynamic ones included.
        latest: the latest snapshot, if it was read together with the schema.
        note: properties of the commits.
        commit_user: the commit user; None for a new one.
        cast: how input values are converted to the types of the columns.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    latest: LatestSnapshot | None = None
    note: CommitNote = NO_NOTE
    commit_user: str | None = None
    cast: CastPolicy = CastPolicy.SAFE

    @property
    def target(self) -> WriteTarget:
        """The table as the target of file writers."""
        return WriteTarget(store=self.store, schema=self.schema, options=self.options)

    @property
    def _table(self) -> PlannedTable:
        return self.store, self.schema, self.options

    def _note(self, operation: str) -> CommitNote:
        """Return the note with the name that Paimon's Spark connector gives an operation."""
        return replace(self.note, operation=operation)

    def _latest(self) -> "TableWriter":
        """Return the writer with the latest schema."""
        _, schema, options = with_latest_schema(self._table)
        return replace(self, schema=schema, options=options, latest=None)

    def _again(self, act: Callable[["TableWriter"], Result], data: object = ()) -> Result:
        """Run an operation; repeat it after a conflict if its input can be read again."""
        if not is_repeatable(data):
            return act(replace(self, latest=None))
        return repeated(self.options, lambda retry: act(self._latest() if retry else self))

    def insert(self, data: Rows) -> Snapshot | None:
        """Add rows; in a primary-key table they are merged with those of the same key.

        If another commit wrote the same keys of a primary-key table meanwhile, or assigned buckets
        (dynamic buckets), the rows are written again after its rows, if the input can be read
        again.

        Returns:
            The new snapshot; None if there were no rows, unless the table's option
            `snapshot.ignore-empty-commit` is false.
        """
        skips = self.options.value(SNAPSHOT_IGNORE_EMPTY_COMMIT) is not False
        commit = partial(Committer.commit, ignore_empty=skips, note=self._note("WRITE"))
        ordered = partial(commit, ordered=True)
        is_ordered = self.schema.primary_keys and is_repeatable(data)
        insert = partial(TableWriter._insert, data=data)
        try:
            return self._again(partial(insert, act=ordered if is_ordered else commit), data)
        except StaleRecordsError:
            if not is_ordered:
                raise
        return insert(self._latest(), act=commit)

    def upsert(self, data: Rows) -> Snapshot | None:
        """Insert or update rows; see `Table.upsert`."""
        if self.schema.primary_keys:
            return self.insert(data)
        rows = converted_rows(data, self.schema.row_type, self.cast)
        return self.merge(upsert_merge(rows, self.schema.row_type, self.options))

    def _insert(self, data: Rows, act: CommitAct) -> Snapshot | None:
        data = converted_rows(data, self.schema.row_type, self.cast)
        return self._write(data, act, compacts=True)

    def add_files(
        self,
        files: "Sequence[ForeignFile]",
        mode: "AdoptionMode",
        partition: Mapping[str, object] | None,
    ) -> Snapshot | None:
        """Adopt existing files; see `Table.add_files`."""
        from paimon_explore.write import adopted_files

        target = self.target
        expected = (
            None if partition is None else adopted_files.given_partition_path(target, partition)
        )
        messages = adopted_files.adopt_files(target, files, mode=mode, partition_path=expected)
        snapshot = self._commit(messages, partial(Committer.commit, note=self.note))
        if mode is adopted_files.AdoptionMode.MOVE:
            adopted_files.delete_moved(files)
        return snapshot

    def overwrite(self, data: Rows, partition: Mapping[str, object] | None) -> Snapshot | None:
        """Replace rows; see `Table.overwrite`."""
        act = partial(TableWriter._overwrite, data=data, partition=partition)
        return self._again(act, data)

    def _overwrite(self, data: Rows, partition: Mapping[str, object] | None) -> Snapshot | None:
        what = self.replaced(partition)
        data = converted_rows(data, self.schema.row_type, self.cast)
        if partition:
            data = with_partition(data, self.schema.row_type, partition)
        overwrite = partial(Committer.overwrite, what=what, note=self._note("OVERWRITE"))
        return self._write(data, overwrite, replaces=True)

    def delete(self, where: Where) -> Snapshot | None:
        """Delete rows; see `Table.delete`."""
        if where is None:
            raise InvalidInputError(
                "delete() requires a condition, but where is None.",
                hint="Call truncate() or delete('true') to delete all rows.",
            )
        return self._change_rows("DELETE", partial(delete_rows, where=where))

    def update(self, values: Mapping[str, NewValue], where: Where | NotGiven) -> Snapshot | None:
        """Update rows; see `Table.update`."""
        refuse_none(where, "where", "Omit where, or pass where='true', to update all rows.")
        mapping("set", values, hint="Map each column name to its new value.")
        condition = None if isinstance(where, NotGiven) else where
        return self._change_rows("UPDATE", partial(update_rows, values=values, where=condition))

    def start_merge(
        self, source: Rows, on: On, aliases: tuple[str | None, str | None] = (None, None)
    ) -> Merge:
        """Start a merge; see `Table.merge`.

        Args:
            source: the rows to merge into the table.
            on: the condition under which rows match.
            aliases: other names of the source and of the target.
        """
        for name, alias in zip(("source_alias", "target_alias"), aliases, strict=True):
            optional_string(name, alias)
        spec = MergeSpec(source=source, on=on, source_alias=aliases[0], target_alias=aliases[1])
        return Merge(spec=spec, run=self.merge)

    def merge(self, spec: MergeSpec) -> Snapshot | None:
        """Merge other rows into the table; see `Table.merge`."""
        return self._change_rows("MERGE", partial(merge_rows, spec=spec), spec.source)

    def _change_rows(
        self, operation: str, work: RowLevelWork, source: object = ()
    ) -> Snapshot | None:
        """Update, delete or merge rows, and commit the result with the name of the operation."""
        act = partial(TableWriter._change_once, operation=operation, work=work)
        return self._again(act, source)

    def _change_once(self, operation: str, work: RowLevelWork) -> Snapshot | None:
        result = work(self.store, self.schema, self.options)
        note = self._note(operation)
        planned_on = result.planned_on if result.checks_columns else None
        return self._commit(
            result.messages,
            lambda committer, m: committer.commit(
                m, check_appends=result.checks_columns, planned_on=planned_on, note=note
            ),
            compacts=bool(self.schema.primary_keys),
        )

    def drop_partitions(self, partitions: Sequence[object]) -> Snapshot | None:
        """Remove all rows of partitions; see `Table.drop_partitions`."""
        return self.drop(self.dropped(partitions))

    def dropped(self, partitions: Sequence[object]) -> list[Mapping[str, object]]:
        """Return the partitions that the arguments of `drop_partitions` mean.

        Raises:
            InvalidInputError: there are none, or an argument is not a partition.
        """
        specs = [spec for given in partitions for spec in self.partition_specs(given)]
        if not specs or not all(specs):
            msg = "drop_partitions() requires at least one partition."
            raise InvalidInputError(msg, hint="To remove all rows, use truncate().")
        return specs

    def partition_specs(self, given: object) -> list[Mapping[str, object]]:
        """Return the partitions of an argument; a single partition may stand alone.

        Raises:
            InvalidInputError: something else.
        """
        return specs_of(given, "a dict", hint=partition_hint(self.schema.partition_keys))

    def drop(self, partitions: Sequence[Mapping[str, object]]) -> Snapshot | None:
        """Remove all rows of partitions; an empty mapping means all partitions."""
        self._check(partitions)
        what = Overwrite(specs=tuple(partitions))
        note = self._note("TRUNCATE")
        snapshot = self._commit([], partial(Committer.overwrite, what=what, note=note))
        if self.store.environment is not None:
            from paimon_explore.commit.catalog_partitions import remove_dropped_partitions

            made = [] if snapshot is None else [snapshot]
            remove_dropped_partitions(self.store, self.schema, self.options, made)
        return snapshot

    def compact(
        self,
        *,
        full: bool,
        partitions: Sequence[Mapping[str, object]] | None,
        buckets: Collection[int] | None = None,
    ) -> Snapshot | None:
        """Compact files; see `Table.compact`."""
        self._check(partitions)
        watched = partial(progress, what="compacting")
        spread = self._rewrite(partial(compact_postponed, partitions=partitions))
        made = [] if spread is None else [spread]

        def compact_once(writer: "TableWriter") -> None:
            table = writer.store, writer.schema, writer.options
            chosen = None if buckets is None else numbered_buckets(*table, buckets)
            messages = compact_table(
                *table, full=full, partitions=partitions, buckets=chosen, progress=watched
            )
            committer = Committer(*table[:2], options=table[2], commit_user=self.commit_user)
            commit = partial(committer.commit, note=self.note)
            commit_buckets(writer.target, messages, commit, made)
            if made:
                run_post_commit(*table, made[-1])

        self._again(compact_once)
        return made[-1] if made else None

    def _rewrite(self, plan: RewritePlan) -> Snapshot | None:
        return self._again(partial(TableWriter._rewrite_once, plan=plan))

    def _rewrite_once(self, plan: RewritePlan) -> Snapshot | None:
        return self._commit(plan(*self._table), partial(Committer.commit, note=self.note))

    def sort(
        self,
        *,
        strategy: str | None,
        columns: Sequence[str],
        partitions: Sequence[Mapping[str, object]] | None,
    ) -> Snapshot | None:
        """Sort the rows by columns; see `Table.compact`."""
        self._check(partitions)
        plan = partial(sort_table, strategy=strategy, columns=columns, partitions=partitions)
        return self._rewrite(plan)

    def replaced(self, partition: Mapping[str, object] | None) -> Overwrite:
        """Return what an overwrite replaces.

        Args:
            partition: values of partition columns, or None.

        Raises:
            InvalidInputError: a column is not a partition column.
            UnsupportedFeatureError: keys of the new rows may be in other partitions.
        """
        what = self._replaced(partition)
        if needs_key_index(self.schema, self.options) and what != WHOLE_TABLE:
            raise UnsupportedFeatureError(
                "overwriting partitions of a table whose primary key does not contain the "
                "partition columns",
                hint="A key of the new rows may be in another partition. Delete the rows of the "
                "partition with delete(where), then upsert the new ones.",
            )
        return what

    def partition_argument(
        self, partition: Mapping[str, object] | NotGiven | None
    ) -> Mapping[str, object] | None:
        """Check the argument of an overwrite; None if the new rows or the options decide.

        Raises:
            InvalidInputError: it is None and all partitions would be replaced, or it is not a
            mapping.
        """
        if partition is NOT_GIVEN:
            return None
        if partition is None:
            if self.schema.partition_keys and self._replaced(None) == WHOLE_TABLE:
                hint = "Pass partition={} to replace all rows of the table."
                refuse_none(partition, "partition", hint)
            return None
        return checked_partition(partition, self.schema.partition_keys)

    def _replaced(self, partition: Mapping[str, object] | None) -> Overwrite:
        if partition is not None:
            self._check((partition,))
            return Overwrite(specs=(dict(partition),))
        dynamic = self.options.value(DYNAMIC_PARTITION_OVERWRITE)
        return NEW_PARTITIONS if dynamic and self.schema.partition_keys else WHOLE_TABLE

    def _check(self, partitions: Sequence[Mapping[str, object]] | None) -> None:
        """Reject partitions with other columns or with values that do not fit."""
        partition_type = self.schema.partition_type
        for partition in partitions or ():
            check_partition(partition_type, partition)

    def _write(
        self, data: Rows, act: CommitAct, *, replaces: bool = False, compacts: bool = False
    ) -> Snapshot | None:
        """Write rows to new files and commit them."""
        file_io, uploads = uploading(self.store.file_io)
        table = replace(self.store, file_io=file_io), self.schema, data
        if self.schema.primary_keys:
            messages = write_primary_key_rows(
                *table, options=self.options, replaces=replaces, latest=self.latest
            )
        else:
            messages = write_append(*table, options=self.options, replaces=replaces)
        return self._commit(messages, act, compacts=compacts, uploads=uploads)

    def _commit(
        self,
        messages: list[CommitMessage],
        act: CommitAct,
        *,
        compacts: bool = False,
        uploads: Uploads | None = None,
    ) -> Snapshot | None:
        """Commit, and remove the data files of a commit that certainly failed."""
        uploads = uploads or Uploads()
        try:
            committer = Committer(
                self.store,
                self.schema,
                options=self.options,
                commit_user=self.commit_user,
                before_publish=uploads.finish,
            )
            made = act(committer, messages)
        except CommitOutcomeUnknownError:
            raise
        except PaimonError:
            uploads.settle()
            abort(self.target, messages)
            raise
        uploads.finish()
        return self.finish(committer, made, messages if compacts else ())

    def finish(
        self,
        committer: Committer,
        made: Sequence[Snapshot],
        compacted: Sequence[CommitMessage] = (),
    ) -> Snapshot | None:
        """Compact and maintain the table after a commit, as its options require.

        Args:
            committer: the committer.
            made: the snapshots of the commit.
            compacted: the messages whose buckets may be compacted.

        Returns:
            The last snapshot; None if there is none.
        """
        if not made:
            return None
        snapshots = list(made)
        if compacted:
            snapshots += auto_compact(committer, self._table, compacted)
        run_post_commit(*self._table, snapshots[-1])
        return snapshots[-1]


def commit_note(properties: Mapping[str, str] | None) -> CommitNote:
    """Return what a commit stores in its snapshot.

    Args:
        properties: texts by key.

    Raises:
        InvalidInputError: not a mapping of texts.

    >>> commit_note({"job": "nightly"}).properties
    {'job': 'nightly'}
    """
    if properties is None:
        return NO_NOTE
    given = mapping("properties", properties, hint=_PROPERTIES)
    for key, value in given.items():
        if not key:
            raise invalid_argument("A key of properties", key, "a text that is not empty")
        if not isinstance(value, str):
            raise invalid_argument(f"Property {key!r}", value, "a text", hint=_PROPERTIES)
    return CommitNote(properties=dict(properties))


_PROPERTIES = "Pass texts by key, such as {'job': 'nightly', 'run': '7'}."


def checked_user(commit_user: str | None) -> str | None:
    """Check the name of a commit user.

    Raises:
        InvalidInputError: not a text, or an empty one.
    """
    if optional_string("commit_user", commit_user) == "":
        raise invalid_argument("commit_user", commit_user, "a text that is not empty or None")
    return commit_user


def check_keyed(schema: TableSchema, options: TableOptions, name: str) -> None:
    """Check that a table has a key, for an upsert.

    Raises:
        InvalidInputError: it has none.
    """
    if not is_keyed(schema, options):
        raise InvalidInputError(
            f"upsert() requires a primary key, but table {name} has none.",
            hint="Add rows with append(), update matching rows with merge(), or set the option "
            "'upsert-key'.",
        )


def partition_hint(names: Sequence[str]) -> str:
    """Return how to pass a partition, for error messages.

    >>> partition_hint(["dt", "hr"])
    'Pass a dict with values of the partition columns: {"dt": …, "hr": …}.'
    """
    if not names:
        return "The table is not partitioned."
    example = ", ".join(f'"{name}": …' for name in names)
    return f"Pass a dict with values of the partition columns: {{{example}}}."


def checked_partition(partition: object, names: Sequence[str]) -> Mapping[str, object]:
    """Check that an argument is a mapping of partition values.

    Args:
        partition: the argument.
        names: the partition columns, for the error.

    Raises:
        InvalidInputError: it is not a mapping.
    """
    hint = f"{partition_hint(names)} An empty dict replaces all rows."
    return mapping("partition", partition, hint=hint)


def specs_of(
    given: object, what: str = "a dict of the partition's values", *, hint: str = ""
) -> list[Mapping[str, object]]:
    """Return the partitions of an argument, one or several.

    Raises:
        InvalidInputError: one is not a dict.
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    found: list[Mapping[str, object]] = []
    for spec in given if several and isinstance(given, Iterable) else [given]:
        if not isinstance(spec, Mapping):
            raise invalid_argument("A partition", spec, what, hint=hint)
        found.append(spec)
    return found
