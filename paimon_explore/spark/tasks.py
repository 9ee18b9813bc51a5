"""What runs on executors, and nothing else."""

import pickle
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from paimon_explore.maintenance.row_level.key_bootstrap import key_index
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.scan.split import Split
from paimon_explore.spark.plan import ReadJob
from paimon_explore.spark.schema import from_spark, to_spark
from paimon_explore.write.append import AppendWriter
from paimon_explore.write.primary_key import UpsertWriter, needs_key_index
from paimon_explore.write.target import WriteTarget

WRITE_ROWS = 65_536
_ARCHIVES = (".zip", ".jar")


def forget_archives() -> None:
    """Make the next task of this worker start quicker.

    PySpark calls `importlib.invalidate_caches()` in every task, at which Python reads the contents
    of pyspark.zip, py4j.zip and the Spark jar again: 0.1 CPU-s a task. Entries that are not in the
    cache are not read again; a later import makes them anew. Harmless when either side changes.
    """
    for path in [path for path in sys.path_importer_cache if path.endswith(_ARCHIVES)]:
        del sys.path_importer_cache[path]


def read_splits(job: ReadJob, splits: Iterable[Split]) -> Iterator[pa.RecordBatch]:
    """The rows of some splits, in the form that Spark demands."""
    forget_archives()
    for split in splits:
        for batch in job.reader.read(split):
            yield to_spark(batch, job.row_type, job.wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteJob:
    """What all tasks of a write have in common; crosses to them by pickling.

    Attributes:
        target: the table.
        columns: the table's column for each column of Spark's rows, in order; more of Spark's
            columns are not written.
    """

    target: WriteTarget
    columns: tuple[str, ...]


def write_rows(job: WriteJob, batches: Iterable[pa.RecordBatch]) -> list[CommitMessage]:
    """Write the rows of one task; all its files are removed again if this raises."""
    forget_archives()
    with _writer(job.target) as writer:
        for batch in gathered(batches):
            taken = batch.select(list(range(len(job.columns))))
            writer.write(from_spark(taken, job.columns))
        return writer.prepare_commit()


def _writer(target: WriteTarget) -> UpsertWriter | AppendWriter:
    schema = target.schema
    if not schema.primary_keys:
        return AppendWriter(target)
    everywhere = needs_key_index(schema, target.options)
    return UpsertWriter(target, key_index=key_index(target) if everywhere else None)


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of at least `WRITE_ROWS`, but the last."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= WRITE_ROWS:
            yield _one(waiting)
            waiting, count = [], 0
    if count:
        yield _one(waiting)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)  # type: ignore[attr-defined] # not in stubs


def pack(messages: list[CommitMessage]) -> bytes:
    """Messages on their way to the driver."""
    return pickle.dumps(messages)


def unpack(data: bytes) -> list[CommitMessage]:
    """Messages of a task of this very job."""
    found: list[CommitMessage] = pickle.loads(data)  # noqa: S301 - bytes of our own task
    return found
