"""The changes of a stream: which task reads them, and which of them a stream can tell.

The tasks of a batch run side by side, so all changes of a key go to one task, in the order of the
commits. Of a table without a primary key the order does not matter.

A stream without row kinds tells new rows only. Of a table with a primary key that is enough for an
update, which its new row tells. A deleted row, and any change of a row without a key, would be left
out: the task refuses it, unless `read.ignore-deletes` asks for that.
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
    """The splits of one task, of a state or of changes.

    Attributes:
        splits: read one after the other.
        commits: the kinds of the commits by snapshot id, for errors; empty for a state.
        whole: whether they are of a state.
    """

    def __init__(
        self, splits: Sequence[Split], commits: Mapping[int, str], *, whole: bool = False
    ) -> None:
        super().__init__(None)
        self.splits = tuple(splits)
        self.commits = dict(commits)
        self.whole = whole

    def commit_of(self, split: Split) -> str:
        """The commit that a split tells, for errors."""
        number = split.snapshot_id
        kind = self.commits.get(number or 0)
        return f"snapshot {number} ({kind})" if kind else "a commit"


def change_groups(
    target: ScanTarget, found: Iterable[tuple[Snapshot, Sequence[Split]]], parallelism: int
) -> list[ChangeGroup]:
    """The changes of commits, for the tasks.

    Args:
        target: the table.
        found: what each commit changed, oldest first.
        parallelism: tasks that can run at the same time.
    """
    splits: list[Split] = []
    commits: dict[int, str] = {}
    for snapshot, told in found:
        commits[snapshot.id] = snapshot.commit_kind.value
        splits.extend(told)
    parts = _by_key(target, splits) if target.keys is not None else groups(splits, parallelism)
    return [ChangeGroup(part, commits) for part in parts]


def _by_key(target: ScanTarget, splits: Sequence[Split]) -> Iterable[Sequence[Split]]:
    """Splits in their order, such that all changes of a key are together."""
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
    """The buckets of a split, each with the number of buckets that its files were written under."""
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
    """The rows that are there after a commit, of batches whose last column is the row kind.

    Args:
        batches: the changes that one split tells.
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
        f"reading rows that {commit} deleted or replaced in a stream without row kinds",
        place,
        hint="Set the option 'read.changelog' to true for the column _row_kind, or "
        "'read.ignore-deletes' to true to leave such rows out.",
    )
