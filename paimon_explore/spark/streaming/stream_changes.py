"""The changes of a stream: their assignment to tasks, and the rows of streams without row kinds.

The tasks of a batch run in parallel, so all changes of a key go to one task, in the order of the
commits. In a table without a primary key the order does not matter.

A stream without row kinds contains new rows only. With a primary key an update is represented by
its new row. Deleted rows, and replaced rows without a key, cannot be represented: the task raises
an error, unless `read.ignore-deletes` is set.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from paimon_explore.data_types.arrow_buffers import int64_values
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.merge.numpy_columns import mask_array
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit, DifferenceSplit, RetractedSplit, Split
from paimon_explore.spark.read_plan import groups

_UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 1, 2, 3


class ChangeGroup(InputPartition):
    """The splits of one task: of the table's state, or of changes.

    Attributes:
        splits: read one after the other.
        commits: the kinds of the commits by snapshot id, for errors; empty for a state.
        whole: whether they belong to a state.
    """

    def __init__(
        self, splits: Sequence[Split], commits: Mapping[int, str], *, whole: bool = False
    ) -> None:
        super().__init__(None)
        self.splits = tuple(splits)
        self.commits = dict(commits)
        self.whole = whole

    def commit_of(self, split: Split) -> str:
        """Return the commit of a split, for errors."""
        number = split.snapshot_id
        kind = self.commits.get(number or 0)
        return f"snapshot {number} ({kind})" if kind else "a commit"


def change_groups(
    target: ScanTarget, found: Iterable[tuple[Snapshot, Sequence[Split]]], parallelism: int
) -> list[ChangeGroup]:
    """Group the changes of commits into tasks.

    Args:
        target: the table.
        found: the changes of each commit, oldest first.
        parallelism: tasks that can run at the same time.
    """
    splits: list[Split] = []
    commits: dict[int, str] = {}
    for snapshot, splits_of_commit in found:
        commits[snapshot.id] = snapshot.commit_kind.value
        splits.extend(splits_of_commit)
    parts = _by_key(target, splits) if target.keys is not None else groups(splits, parallelism)
    return [ChangeGroup(part, commits) for part in parts]


def _by_key(target: ScanTarget, splits: Sequence[Split]) -> Iterable[Sequence[Split]]:
    """Group splits in order, such that all changes of a key are in one group."""
    if not set(target.schema.partition_keys) <= set(target.schema.primary_keys):
        return [splits] if splits else []
    counts: dict[bytes, set[int]] = {}
    for split in splits:
        counts.setdefault(split.partition, set()).update(n for _, n in _buckets(split))
    found: dict[object, list[Split]] = {}
    for split in splits:
        first = min(counts[split.partition])
        in_bucket = len(counts[split.partition]) == 1 and first > 0
        where = (split.partition, *(_buckets(split) if in_bucket else ()))
        found.setdefault(where, []).append(split)
    return found.values()


def _buckets(split: Split) -> set[tuple[int, int]]:
    """Return the buckets of a split, each with the bucket count its files were written with."""
    match split:
        case DataSplit():
            return {(split.bucket, split.total_buckets)}
        case RetractedSplit():
            return _buckets(split.of)
        case DifferenceSplit():
            return {found for part in (*split.before, *split.after) for found in _buckets(part)}
        case _:
            return {(0, -1)}


def new_rows(
    batches: Iterator[pa.RecordBatch], *, keyed: bool, commit: str, place: str
) -> Iterator[pa.RecordBatch]:
    """Return the rows that exist after a commit, of batches whose last column is the row kind.

    Args:
        batches: the changes of one split.
        keyed: whether a new row replaces the one of the same key.
        commit: the commit.
        place: the table's folder.

    Raises:
        UnsupportedFeatureError: a row was deleted, or replaced in a table without a key.
    """
    replaced = False
    for batch in batches:
        kinds = int64_values(batch.column(batch.num_columns - 1))
        before = kinds == _UPDATE_BEFORE
        after = np.append(kinds[1:] == _UPDATE_AFTER, True)
        lone = (before & ~after).any() or (replaced and kinds[0] != _UPDATE_AFTER)
        if lone or (kinds == _DELETE).any() or (before.any() and not keyed):
            raise _refused(commit, place)
        replaced = bool(before[-1])
        yield batch.filter(mask_array(~before)) if before.any() else batch
    if replaced:
        raise _refused(commit, place)


def _refused(commit: str, place: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"streaming without row kinds from {commit}, which deletes or replaces rows,",
        place,
        hint="Set the option 'read.changelog' to true to read the changes with their row kinds, or "
        "'read.ignore-deletes' to true to skip such changes.",
    )
