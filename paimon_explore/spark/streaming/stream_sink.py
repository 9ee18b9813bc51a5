"""Structured Streaming sink: each batch is committed exactly once.

A batch is repeated after a crash between its commit and the checkpoint. The query's id,
stored in the checkpoint, is the commit user, and the batch id is the commit identifier; a batch
that is already committed is not committed again, and the files of the second attempt are removed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from paimon_explore.commit.overwrite import Overwrite
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.executor_tasks import WriteJob, write_rows
from paimon_explore.spark.writes.driver_commit import publish, withdraw
from paimon_explore.spark.writes.task_messages import WrittenFiles, collected

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
