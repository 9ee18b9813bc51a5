"""`pe.spark.compact`: distributed compaction in Spark tasks, with one commit on the driver.

The driver plans the compaction as a local compaction does. Each task merges some buckets with the
same code and returns commit messages. If a concurrent commit replaced the same files, the other
buckets are committed, and the compaction is planned again (`commit/planned_again`).
"""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from paimon_explore.arguments import boolean
from paimon_explore.commit.committer import new_commit_user
from paimon_explore.commit.planned_again import repeated
from paimon_explore.errors import CommitConflictError, PaimonError
from paimon_explore.maintenance.compaction.auto_compaction import is_auto_compacted
from paimon_explore.maintenance.compaction.compact import (
    CompactionPlan,
    commit_buckets,
    compact_postponed,
    compact_split,
    drop_idle_buckets,
    numbered_buckets,
    plan_compaction,
)
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.table_options import POSTPONE_BUCKET
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.driver_tasks import map_tasks
from paimon_explore.spark.executor_tasks import pack, unpack
from paimon_explore.spark.writes.driver_commit import publish, withdraw
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.table_base import write_target
from paimon_explore.write.write_target import WriteTarget


def compact(
    spark: SparkSession,
    table: Table | str | PathLike[str],
    *,
    full: bool = True,
    partitions: Sequence[Mapping[str, object]] | None = None,
    buckets: Collection[int] | None = None,
    options: Mapping[str, str] | None = None,
) -> Snapshot | None:
    """Compact a table in the tasks of a Spark job, with one commit if no other commit conflicts.

    Args:
        spark: the session.
        table: the table, or its path.
        full: compact every bucket completely; False: only where the table's options require it,
            by the number and sizes of files.
        partitions: partitions to compact, each as values by column; None for the whole table.
        buckets: numbers of the buckets to compact, of a table with fixed buckets; None for all.
        options: table options for this job.

    Returns:
        The snapshot; None if there was nothing to do.

    Raises:
        UnsupportedFeatureError: the table uses a feature that cannot be compacted here.
        CommitConflictError: concurrent commits replaced the same files in each of several attempts.
    """
    check_session(spark)
    boolean("full", full)
    opened = table if isinstance(table, Table) else open_table(table, options=options)

    def spread(_: int) -> Snapshot | None:
        target = write_target(opened, replaces=False)
        table = (target.store, target.schema, target.options)
        messages = compact_postponed(*table, partitions=partitions)
        return commit_rewrite(target, messages)

    before = repeated(opened.options, spread)
    made = [] if before is None else [before]

    def merge(_: int) -> None:
        target = write_target(opened, replaces=False)
        table = (target.store, target.schema, target.options)
        chosen = None if buckets is None else numbered_buckets(*table, buckets)
        plan = plan_compaction(target, full=full, partitions=partitions, buckets=chosen)
        compact_buckets(spark, plan, made)

    repeated(opened.options, merge)
    return made[-1] if made else None


def compact_buckets(spark: SparkSession, plan: CompactionPlan, made: list[Snapshot]) -> None:
    """Compact buckets in Spark tasks and commit; removes all new files on failure.

    Args:
        spark: the session.
        plan: the buckets of a table with a separate job id.
        made: the new snapshots are added to it.
    """
    target, plan = plan.target, drop_idle_buckets(plan)
    messages: list[CommitMessage] = []

    def commit(part: list[CommitMessage]) -> list[Snapshot]:
        snapshot = publish(target, part, None, produced=messages)
        return [] if snapshot is None else [snapshot]

    try:
        if plan.splits:
            work = partial(_compact, plan.without_splits())
            sent = map_tasks(spark, plan.splits, work, "message binary").collect()
            messages = [message for row in sent for message in unpack(bytes(row["message"]))]
        commit_buckets(target, messages, commit, made)
    except BaseException:
        withdraw(target, messages)
        raise


def compact_written(
    spark: SparkSession, table: WriteTarget, written: Sequence[CommitMessage]
) -> Snapshot | None:
    """Compact the buckets that a job has written to, as `auto_compact` does after local writes.

    The rows are committed already, so a failure is a warning. Buckets that conflict with another
    commit are not compacted.

    Args:
        spark: the session.
        table: the table, as the job wrote it.
        written: what was committed.
    """
    if not is_auto_compacted(table.schema, table.options):
        return None
    buckets = {(m.partition, m.bucket) for m in written if m.bucket != POSTPONE_BUCKET}
    target = replace(table, commit_user=new_commit_user(table.options), job=uuid4().hex[:16])
    made: list[Snapshot] = []
    try:
        if buckets:
            compact_buckets(spark, plan_compaction(target, full=False, buckets=buckets), made)
    except CommitConflictError:
        pass  # the next compaction merges the bucket
    except PaimonError as error:
        warnings.warn(
            f"The rows are committed, but the compaction after the commit failed: {error}",
            RuntimeWarning,
            stacklevel=3,
        )
    return made[-1] if made else None


def _compact(plan: CompactionPlan, split: DataSplit) -> Iterator[pa.RecordBatch]:
    """Compact one bucket; returns its commit message."""
    message = compact_split(plan, split)
    found = [] if message is None or message.is_empty else [message]
    yield pa.RecordBatch.from_arrays([pa.array([pack(found)])], names=["message"])
