"""How a transaction stages its operations and commits them in one snapshot.

Each operation commits as usual, but to staged metadata that only the transaction sees
(`staged_table`); its data files are written to the table's folder. The commit combines the staged
snapshots into the messages of one commit (`commit/squash`), which is checked for conflicts with
other commits like that of a single operation.

| a failure | leaves |
| --- | --- |
| an exception in the block, or a conflict | nothing: the files are deleted |
| the process ends before the snapshot is created | files that no snapshot references |
| the process ends between a new schema and the snapshot | the same, and the new schema |

If another commit changed the same rows, partitions or schema, the operations are repeated on the
latest snapshot, if their input can be read again and the transaction has read no rows. Otherwise
the transaction fails with a `CommitConflictError`.

Spec: concepts/concurrency-control.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import Overwrite
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.planned_again import repeated
from paimon_explore.commit.squash import squash, written_partitions
from paimon_explore.encoding.blob.blob_references import MANAGED_SUFFIX
from paimon_explore.errors import (
    CommitOutcomeUnknownError,
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.paths import name as name_of
from paimon_explore.maintenance.schema_publication import SchemaPublication
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import ChangelogProducer
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.catalog_environment import PartitionEnvironment
from paimon_explore.table.table_write import TableWriter
from paimon_explore.table.transactions.staged_table import StagedTable
from paimon_explore.write.input.arrow_stream import is_repeatable
from paimon_explore.write.write_target import message_paths

Operation: TypeAlias = Callable[[StagedTable], object]
"""An operation of a transaction, applied to the staged table."""
_Committed: TypeAlias = tuple[TableWriter, Committer, list[Snapshot], list[CommitMessage]]
_REPLACING = frozenset({"overwrite", "truncate", "drop_partitions"})
_ROW_LEVEL = frozenset({"delete", "update", "merge"})
_SCHEMA = "alter"


class StagedOperations:
    """The operations of a transaction, staged and committed together.

    Args:
        name: the name of the table.
        writer: the writer of the table, with the properties of the commit.
        options: the dynamic options of the table.

    Attributes:
        snapshot: the snapshot of the transaction; None before the commit, and if nothing changed.
    """

    def __init__(self, name: str, writer: TableWriter, options: Mapping[str, str]) -> None:
        self.snapshot: Snapshot | None = None
        self._name = name
        self._store = writer.store
        self._given_options = options
        self._note = writer.note
        self._user = writer.commit_user
        self._operations: list[tuple[str, Operation]] = []
        self._can_repeat = True
        self._has_read = False
        self._outcome = ""
        self._begin()

    # ------------------------------------------------------------ operations

    def _begin(self) -> None:
        """Stage the table at its latest snapshot."""
        self._staged = StagedTable(
            name=self._name, real=self._store, given_options=self._given_options
        )
        self._overwritten = OverwrittenPartitions(since=SeenSnapshot.of(self._staged.base))

    def _run(self, name: str, work: Operation, data: object = ()) -> object:
        """Apply an operation to the staged table; without effect if it raises."""
        self._check_open(name)
        self._check_supported(name)
        result = self._staged.apply(work)
        self._operations.append((name, work))
        self._can_repeat &= is_repeatable(data)
        return result

    def _alter(self, work: Callable[[StagedTable], TableSchema]) -> TableSchema:
        self._check_open(_SCHEMA)
        self._staged.check_alterable()
        schema = self._staged.apply(work)
        self._operations.append((_SCHEMA, work))
        return schema

    def _repeat(self) -> None:
        """Apply all operations to the latest snapshot."""
        self._staged.files.discard()
        self._begin()
        for _, work in self._operations:
            work(self._staged)

    def _note_overwrite(self, what: Overwrite, made: Snapshot | None) -> None:
        """Record the partitions that an operation overwrites."""
        partitions = frozenset[bytes]()
        if what.dynamic and made is not None:
            partitions = written_partitions(self._staged.store, made)
        before = self._overwritten
        self._overwritten = replace(
            before, specs=(*before.specs, *what.specs), partitions=before.partitions | partitions
        )

    def _check_open(self, name: str) -> None:
        if self._outcome:
            raise InvalidInputError(
                f"{name}() was called after the end of the transaction ({self._outcome}).",
                hint="Start another transaction.",
            )

    def _check_supported(self, name: str) -> None:
        """Refuse combinations that one snapshot cannot store."""
        options, before = self._staged.options, {name for name, _ in self._operations}
        writes = before - {_SCHEMA}
        if name in _ROW_LEVEL and writes and options.value(opt.ROW_TRACKING_ENABLED):
            raise UnsupportedFeatureError(
                f"calling {name}() after other writes of a transaction in a table with "
                f"{opt.ROW_TRACKING_ENABLED.key!r} = 'true', where the commit assigns the ids of "
                "new rows,",
                hint=f"Call {name}() first, or in a transaction of its own.",
            )
        is_mixed = bool((writes | {name}) & _REPLACING) and bool((writes | {name}) - _REPLACING)
        producer = options.value(opt.CHANGELOG_PRODUCER)
        if is_mixed and producer is ChangelogProducer.INPUT:
            raise UnsupportedFeatureError(
                f"a transaction of {' and '.join(sorted(writes | {name}))} in a table with "
                "'changelog-producer' = 'input', where an overwrite has no changelog,",
                hint="Use a transaction for the overwrites and another one for the other writes.",
            )
        environment = self._store.environment
        is_listed = options.value(opt.METASTORE_PARTITIONED_TABLE)
        if (
            name == "drop_partitions"
            and is_listed
            and isinstance(environment, PartitionEnvironment)
        ):
            raise UnsupportedFeatureError(
                "drop_partitions() in a transaction in a table with "
                f"{opt.METASTORE_PARTITIONED_TABLE.key!r} = 'true'",
                hint="Call drop_partitions() of the table.",
            )

    # ------------------------------------------------------------ commit

    def _roll_back(self) -> None:
        """Delete the files of the transaction, and end it."""
        self._outcome = "rolled back"
        self._staged.files.discard()

    def _commit_all(self) -> Snapshot | None:
        """Commit all operations; roll back if that certainly failed."""
        try:
            writer, committer, made, messages = self._commit_with_retries()
        except CommitOutcomeUnknownError:
            self._outcome = "unknown outcome"
            raise
        except PaimonError:
            self._roll_back()
            raise
        self._outcome = "committed"
        managed = [path for path in self._staged.files.created if path.endswith(MANAGED_SUFFIX)]
        names = {name_of(path) for path in [*message_paths(writer.target, messages), *managed]}
        self._staged.files.discard(frozenset(names))
        self.snapshot = writer.finish(committer, made, messages)
        return self.snapshot

    def _commit_with_retries(self) -> _Committed:
        """Commit all operations; repeat them after a conflict with another commit."""
        if not self._can_repeat:
            return self._commit_once()
        return repeated(self._staged.options, self._attempt)

    def _attempt(self, retry: int) -> _Committed:
        if retry:
            self._repeat()
        return self._commit_once()

    def _commit_once(self) -> _Committed:
        """Commit the staged snapshots and schemas; deletes the schema files if that fails."""
        staged, store = self._staged, self._store
        schemas = staged.new_schemas()
        schema = schemas[-1] if schemas else staged.base_schema
        options = TableOptions({**schema.options, **self._given_options})
        publication = SchemaPublication(store, schemas)
        messages = squash(staged.store, staged.base, self._seen(schema))
        committer = Committer(
            store,
            schema,
            options=options,
            commit_user=self._user,
            before_publish=publication.publish,
        )
        with publication.withdrawn_on_failure():
            made = self._create_snapshot(committer, messages, schema if schemas else None, options)
            if not made:
                publication.publish()
        writer = TableWriter(store=store, schema=schema, options=options)
        return writer, committer, made, messages

    def _create_snapshot(
        self,
        committer: Committer,
        messages: list[CommitMessage],
        schema: TableSchema | None,
        options: TableOptions,
    ) -> list[Snapshot]:
        names = {name for name, _ in self._operations}
        base = self._staged.base
        checks_columns = bool(names & _ROW_LEVEL) and options.value(opt.DATA_EVOLUTION_ENABLED)
        overwritten = self._overwritten
        return committer.commit(
            messages,
            note=self._note,
            check_appends=checks_columns,
            planned_on=SeenSnapshot.of(base) if checks_columns and base is not None else None,
            ordered=True,
            overwritten=overwritten if names & _REPLACING else None,
            schema=schema,
        )

    def _seen(self, schema: TableSchema) -> SeenSnapshot | None:
        """Return the snapshot on which the records of a table with keys or buckets are based."""
        if not schema.primary_keys:
            is_bucketed = TableOptions(schema.options).value(opt.BUCKET) > 0
            return SeenSnapshot.of(self._staged.base) if is_bucketed else None
        names = {name for name, _ in self._operations}
        reads = bool(names & _ROW_LEVEL) or schema.is_cross_partition or self._has_read
        return SeenSnapshot.of(self._staged.base, reads=reads)
