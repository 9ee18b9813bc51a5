"""`format("paimon_explore")`: a Spark Python Data Source over scan plans, write tasks and commits.

`pushFilters` is not implemented: in Spark 4.1 to 4.3 a filter that is pushed into one use of a
DataFrame leaks into its other uses, so that rows are lost. The option `where` passes a predicate to
the planner; Spark applies its own filters to the rows it gets.

The options of `format("paimon_explore")`.

Spark passes their names in lower case.

| option | |
| --- | --- |
| `path` | the table's folder, the argument of `load` and `save`; for reads also `…/t$files` |
| `where` | SQL condition that filters files and rows (`dt = '2026-01-01' AND a > 3`) |
| `columns` | selected columns, `a, b` or a JSON list |
| `branch` | the branch to read or write |
| `scan.snapshot-id`, `scan.tag-name`, `scan.version`, `scan.watermark` | the point in time |
| `scan.timestamp`, `scan.timestamp-millis` | the same |
| `incremental-between`, `incremental-between-timestamp` | the changes between two snapshots |
| `scan.mode`, `read.changelog`, `read.ignore-deletes`, … | for streams, see `stream` |
| `storage.<name>` | a setting or secret of the storage |
| any other table option | its value for this read or write |
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from paimon_explore.commit.overwrite import WHOLE_TABLE, Overwrite
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_spelling import unknown_names
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.spark.column_matching import matched_columns
from paimon_explore.spark.executor_tasks import WriteJob, read_splits, write_rows
from paimon_explore.spark.python_worker_patches import lighten_worker
from paimon_explore.spark.read_plan import ReadJob, groups, narrowed, plan_read, read_schema
from paimon_explore.spark.reads.special_reads import KindJob, SpecialRead, special_read, system_of
from paimon_explore.spark.stream_source import (
    NO_LIMITS,
    ROW_KIND,
    PaimonStreamReader,
    StreamLimits,
    stream_schema,
)
from paimon_explore.spark.writes.driver_commit import publish, withdraw
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.table_base import write_target
from paimon_explore.table.table_write import TableWriter
from paimon_explore.write.write_target import WriteTarget


# Spark may commit with another copy of the writer, in another process, than the tasks used. So the
# messages contain everything that the commit needs.
@dataclass
class WrittenFiles(WriterCommitMessage):
    """The files written by one task, and their job.

    Attributes:
        messages: for the commit.
        job: the job's id, part of the files' names.
        commit_user: the commit user of the job.
    """

    messages: list[CommitMessage]
    job: str
    commit_user: str


def collected(
    target: WriteTarget, messages: Sequence[WriterCommitMessage | None]
) -> tuple[WriteTarget, list[CommitMessage]]:
    """Return the target of the job and the messages of all tasks; failed tasks sent None."""
    sent = [message for message in messages if isinstance(message, WrittenFiles)]
    if sent:
        target = replace(target, job=sent[0].job, commit_user=sent[0].commit_user)
    return target, [message for one in sent for message in one.messages]


# A batch is repeated after a crash between its commit and the checkpoint. The query's id,
# stored in the checkpoint, is the commit user, and the batch id is the commit identifier; a batch
# that is already committed is not committed again, and the files of the second attempt are removed.
_QUERY_ID = "sql.streaming.queryId"
_BATCH_ID = "streaming.sql.batchId"


class PaimonStreamWriter(DataSourceStreamArrowWriter):
    """Writes the rows of each batch in Spark tasks, with one commit per batch."""

    def __init__(self, job: WriteJob, what: Overwrite | None) -> None:
        self._job = job
        self._what = what

    def write(  # type: ignore[override] # PySpark declares rows for Arrow writers too
        self, iterator: Iterable[pa.RecordBatch]
    ) -> WrittenFiles:
        """Write the rows of one task of one batch."""
        query, batch = stream_place()
        target = self._job.target
        target = replace(target, job=f"{target.job}b{batch}", commit_user=f"spark-{query}")
        messages = write_rows(replace(self._job, target=target), iterator)
        return WrittenFiles(messages=messages, job=target.job, commit_user=target.commit_user)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Commit the batch, unless it is already committed."""
        target, written = collected(self._job.target, messages)
        publish(target, written, self._what, batchId, completes=True)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Remove the files of the batch, unless they are committed."""
        target, written = collected(self._job.target, messages)
        if written:
            withdraw(target, written, batchId)


def stream_place() -> tuple[str, str]:
    """Return the query id and batch id of this task.

    Raises:
        InvalidInputError: the task does not belong to a stream.
    """
    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY_ID)
    batch = None if context is None else context.getLocalProperty(_BATCH_ID)
    if query is None or batch is None:
        raise InvalidInputError(
            "The write runs outside a Structured Streaming query. Use DataFrame.writeStream."
        )
    return query, batch


NAME = "paimon_explore"


class SplitGroup(InputPartition):
    """The splits of one task."""

    def __init__(self, splits: tuple[Split, ...]) -> None:
        super().__init__(None)
        self.splits = splits


class RowsPart(InputPartition):
    """Rows that were computed in the driver."""

    def __init__(self, rows: pa.Table) -> None:
        super().__init__(None)
        self.rows = rows


class RowsReader(DataSourceReader):
    """Returns rows that were computed in the driver."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition with the rows."""
        return [RowsPart(self._rows)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows."""
        return iter(partition.rows.to_batches() if isinstance(partition, RowsPart) else ())

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the rows, which are sent with the task."""
        return {"_rows": None}


class PaimonReader(DataSourceReader):
    """Reads the splits of one scan plan, or of changes."""

    def __init__(self, job: ReadJob | KindJob, groups: Sequence[tuple[Split, ...]]) -> None:
        self._job = job
        self._groups = groups

    def partitions(self) -> Sequence[InputPartition]:
        """Return one partition per group of splits; at least one, because Spark requires one."""
        return [SplitGroup(group) for group in self._groups] or [SplitGroup(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one group."""
        splits = partition.splits if isinstance(partition, SplitGroup) else ()
        if isinstance(self._job, KindJob):
            return self._job.rows(splits)
        return read_splits(self._job, splits)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the groups, which are sent per task."""
        return {"_job": self._job, "_groups": ()}


class PaimonWriter(DataSourceArrowWriter):
    """Writes rows in Spark tasks and commits once on the driver."""

    def __init__(self, job: WriteJob, what: Overwrite | None) -> None:
        self._job = job
        self._what = what

    def write(  # type: ignore[override] # PySpark declares rows for Arrow writers too
        self, iterator: Iterable[pa.RecordBatch]
    ) -> WrittenFiles:
        """Write the rows of one task."""
        target = self._job.target
        messages = write_rows(self._job, iterator)
        return WrittenFiles(messages=messages, job=target.job, commit_user=target.commit_user)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Commit the files of all tasks."""
        target, written = collected(self._job.target, messages)
        publish(target, written, self._what, completes=True)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Remove all files, unless committed: Spark also aborts a commit that took effect."""
        target, written = collected(self._job.target, messages)
        withdraw(target, written)


class PaimonDataSource(DataSource):
    """A Paimon table by its path; see `paimon_explore.spark.data_source`.

    The snapshot is fixed when the table is loaded.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        lighten_worker()
        self._options = source_options(dict(options))
        self._scan: Scan | SpecialRead | None = None

    @classmethod
    def name(cls) -> str:
        """Return the name to pass to `format`."""
        return NAME

    def schema(self) -> StructType:
        """Return the Spark schema of the selected columns and snapshot."""
        if self._options.changelog:
            return stream_schema(self._streamed(), kinds=True)
        found = self._pinned()
        return found.schema if isinstance(found, SpecialRead) else read_schema(found)

    def __getstate__(self) -> dict[str, object]:
        """Return the state with the scan: Spark pickles the source right after it is loaded."""
        self._pinned()
        return self.__dict__.copy()

    def _pinned(self) -> Scan | SpecialRead:
        if self._scan is None:
            self._scan = self._options.scan()
        return self._scan

    def _streamed(self) -> Scan:
        found = self._pinned()
        if isinstance(found, SpecialRead):
            is_system = system_of(self._options.path)[1] is not None
            source = "a system table" if is_system else "an incremental query"
            raise UnsupportedFeatureError(
                f"streaming from {source}",
                hint="Stream from the table itself. The option 'read.changelog' adds row kinds.",
            )
        return found

    def reader(self, schema: StructType) -> PaimonReader | RowsReader:
        """Plan a batch read; a narrower schema selects columns."""
        if self._options.changelog:
            raise InvalidInputError(
                "Option 'read.changelog' only applies to streaming reads.",
                hint="Read the system table audit_log to get the row kinds.",
            )
        lighten_worker()
        found = self._pinned()
        parallelism = os.cpu_count() or 1
        if not isinstance(found, SpecialRead):
            return PaimonReader(*plan_read(narrowed(found, schema), parallelism, schema))
        special = found.narrowed(schema)
        if special.job is not None:
            return PaimonReader(special.job, groups(special.splits, parallelism))
        assert special.rows is not None  # noqa: S101 - a read has a job or rows
        return RowsReader(special.rows)

    def streamReader(self, schema: StructType) -> PaimonStreamReader:  # noqa: N802 - Spark's name
        """Return a stream reader; a narrower schema selects columns."""
        columns = StructType([field for field in schema.fields if field.name != ROW_KIND])
        scan = narrowed(self._streamed(), columns)
        return PaimonStreamReader(
            scan,
            schema,
            os.cpu_count() or 1,
            self._options.limits,
            ignores_deletes=self._options.ignores_deletes,
        )

    def writer(self, schema: StructType, overwrite: bool) -> PaimonWriter:  # noqa: FBT001 - Spark's
        """Check the columns and return a batch writer; an overwrite replaces all rows.

        With the option `dynamic-partition-overwrite=true` it replaces the partitions of the new
        rows. The table's own value does not count, as in Paimon's Spark connector.
        """
        job, replaced = self._job(schema, replaces=overwrite)
        return PaimonWriter(job, replaced if overwrite else None)

    def streamWriter(  # noqa: N802 - Spark's name
        self,
        schema: StructType,
        overwrite: bool,  # noqa: FBT001 - Spark's
    ) -> PaimonStreamWriter:
        """Return a stream writer; in `complete` mode each batch replaces all rows."""
        job, _ = self._job(schema, replaces=overwrite)
        return PaimonStreamWriter(job, WHOLE_TABLE if overwrite else None)

    def _job(self, schema: StructType, *, replaces: bool) -> tuple[WriteJob, Overwrite]:
        if self._options.is_reading:
            name = "columns" if self._options.where is None else "where"
            raise InvalidInputError(
                f"Option {name!r} only applies to reads.", hint="Filter or select on the DataFrame."
            )
        options = self._options
        if replaces:
            options = replace(options, table=_WHOLE | options.table)
        target = write_target(options.open(), replaces=replaces)
        if target.schema.primary_keys and target.options.value(opt.BUCKET) == DYNAMIC_BUCKET:
            raise UnsupportedFeatureError(
                "writing by path to a primary-key table with dynamic buckets",
                hint="Use pe.spark.write(df, table), which assigns each key to a bucket.",
            )
        writer = TableWriter(store=target.store, schema=target.schema, options=target.options)
        job = WriteJob(target=target, columns=matched_columns(schema, target.schema))
        return job, writer.replaced(None)


class PaimonNamedSource(PaimonDataSource):
    """The same source named like the official connector, if that is not installed."""

    @classmethod
    def name(cls) -> str:
        """Return the name to pass to `format`."""
        return "paimon"


_CHANGELOG = "read.changelog"
_IGNORE_DELETES = "read.ignore-deletes"
_STREAM = frozenset({"checkpointlocation", "queryname"})
_LIMITS = {
    "maxfilespertrigger": "files",
    "maxrowspertrigger": "rows",
    "maxbytespertrigger": "size",
    "maxsnapshotspertrigger": "snapshots",
}
_LIMIT = "read.stream."
_OWN = frozenset(
    {
        "path",
        "where",
        "columns",
        _CHANGELOG,
        _IGNORE_DELETES,
        *_LIMITS,
        *(_LIMIT + name for name in _LIMITS),
    }
    | _STREAM
)
_STORAGE = "storage."
_WHOLE = {opt.DYNAMIC_PARTITION_OVERWRITE.key: "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of one read or write.

    Attributes:
        path: the table's folder.
        where: rows to read; None for all.
        columns: columns to read; None for all.
        table: table options that override the table's own.
        storage: settings of the storage.
        changelog: rows of a stream start with the column `_row_kind`.
        limits: limits of a stream's batch.
        ignores_deletes: a stream without that column skips deleted and replaced rows.
    """

    path: str
    where: str | None
    columns: tuple[str, ...] | None
    table: dict[str, str]
    storage: Mapping[str, str]
    changelog: bool = False
    limits: StreamLimits = NO_LIMITS
    ignores_deletes: bool = False

    @property
    def is_reading(self) -> bool:
        """Return whether an option that only applies to reads is set."""
        return self.changelog or self.where is not None or self.columns is not None

    def open(self) -> Table:
        """Open the table.

        Raises:
            NotFoundError: there is no table, branch, snapshot or tag.
            InvalidInputError: an option has a wrong value.
        """
        return open_table(self.path, storage_options=self.storage, options=self.table)

    def scan(self) -> Scan | SpecialRead:
        """Return the scan of these options, with its snapshot.

        Raises:
            NotFoundError, InvalidInputError: as for `open`, or invalid `where` or `columns`.
        """
        path, system = system_of(self.path)
        return special_read(replace(self, path=path).open(), system, self.columns, self.where)


def source_options(given: Mapping[str, str]) -> SourceOptions:
    """Parse the options.

    Raises:
        InvalidInputError: the path is missing or an option is unknown.
    """
    path = given.get("path")
    if not path:
        raise InvalidInputError(
            "The data source requires the path of a table.",
            hint="Use load('/path') or save('/path'). CREATE TABLE … USING paimon_explore does not "
            "pass options to the data source; use CREATE TEMPORARY VIEW v USING paimon_explore "
            "OPTIONS (path '/path').",
        )
    storage = {k[len(_STORAGE) :]: v for k, v in given.items() if k.startswith(_STORAGE)}
    table = {k: v for k, v in given.items() if k not in _OWN and not k.startswith(_STORAGE)}
    for name, meant in unknown_names(table).items():
        hint = "See the options of Paimon tables." if meant is None else f"Did you mean {meant!r}?"
        raise InvalidInputError(f"Unknown option {name!r}.", hint=hint)
    return SourceOptions(
        path=path,
        where=given.get("where"),
        columns=_columns(given.get("columns")),
        table=table,
        storage=storage,
        changelog=given.get(_CHANGELOG, "false").lower() == "true",
        limits=_limits(given),
        ignores_deletes=given.get(_IGNORE_DELETES, "false").lower() == "true",
    )


def _limits(given: Mapping[str, str]) -> StreamLimits:
    found: dict[str, int] = {}
    for option, name in _LIMITS.items():
        text = given.get(_LIMIT + option, given.get(option))
        if text is None:
            continue
        if not text.strip().isdigit() or int(text) < 1:
            raise InvalidInputError(
                f"Option {option!r} must be an integer of at least 1, not {text!r}."
            )
        found[name] = int(text)
    return StreamLimits(**found)


def _columns(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    if not text.lstrip().startswith("["):
        return tuple(name.strip() for name in text.split(",") if name.strip())
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"Option 'columns' must be a JSON list, not {text!r}.") from error
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise InvalidInputError(f"Option 'columns' must be a JSON list of names, not {text!r}.")
    return tuple(found)
