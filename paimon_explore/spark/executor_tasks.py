"""Functions and jobs that run on executors: reading splits and writing rows."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark import TaskContext

from paimon_explore.data_types.arrow_buffers import gathered
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.primary_key_rows import key_index
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.read.small_files import read_split
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.spark.python_worker_patches import lighten_worker
from paimon_explore.spark.read_plan import ReadJob
from paimon_explore.spark.spark_types import from_spark, to_spark
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.write.append_writer import AppendWriter
from paimon_explore.write.primary_key_writer import UpsertWriter, needs_key_index
from paimon_explore.write.write_target import WriteTarget

WRITE_ROWS = 65_536
_NUMBER_BITS = 26


def read_splits(job: ReadJob, splits: Iterable[Split]) -> Iterator[pa.RecordBatch]:
    """Read the rows of some splits in Spark's Arrow schema."""
    lighten_worker()
    with explain_missing_files(job.reader.target.store, job.snapshot):
        for split in splits:
            for batch in read_split(job.reader, split):
                yield to_spark(batch, job.row_type, job.wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteJob:
    """The state shared by all tasks of a write; sent to them by pickling.

    Attributes:
        target: the table.
        columns: the table's column for each column of Spark's rows, in order; further columns of
            Spark are not written.
        shares_buckets: several tasks may write the same bucket.
    """

    target: WriteTarget
    columns: tuple[str, ...]
    shares_buckets: bool = True


def write_rows(job: WriteJob, batches: Iterable[pa.RecordBatch]) -> list[CommitMessage]:
    """Write the rows of one task; removes its files on an error."""
    lighten_worker()
    with _writer(_with_own_numbers(job)) as writer:
        for batch in gathered(batches, WRITE_ROWS):
            taken = batch.select(list(range(len(job.columns))))
            writer.write(from_spark(taken, job.columns))
        return writer.prepare_commit()


def _with_own_numbers(job: WriteJob) -> WriteTarget:
    """Return the target with this task's own range of sequence numbers.

    Rows of later tasks, i.e. later partitions of a DataFrame, are newer. A task with more rows in a
    bucket than its range continues in the next range; of equal keys in both, either may win.
    """
    context = TaskContext.get()
    if context is None or not job.shares_buckets or not job.target.schema.primary_keys:
        return job.target
    return replace(job.target, sequence_offset=context.partitionId() << _NUMBER_BITS)


def _writer(target: WriteTarget) -> UpsertWriter | AppendWriter:
    schema = target.schema
    if not schema.primary_keys:
        return AppendWriter(target)
    everywhere = needs_key_index(schema, target.options)
    index = key_index(target, target.store.snapshots.latest()) if everywhere else None
    return UpsertWriter(target, key_index=index)


def pack(messages: list[CommitMessage]) -> bytes:
    """Serialize commit messages for the driver."""
    return pickle.dumps(messages)


def unpack(data: bytes) -> list[CommitMessage]:
    """Deserialize the commit messages of a task of this job."""
    found: list[CommitMessage] = pickle.loads(data)  # noqa: S301 - bytes of our own task
    return found
