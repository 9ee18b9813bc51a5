"""The order of sorted runs: whether each has only newer records than the runs before it.

If so, sequence numbers need not be read, and a read of one key ends at the newest run that contains
the key.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    conjuncts,
)
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.key_range_sections import by_age, may_tie

MAX_RUNS = 16
"""Maximum number of files that are merged as separate runs; each needs some batches in memory."""
MAX_LATE_RUNS = 64
"""The same with late materialization, where the batches have few columns."""
_LATE_ROWS = 65_536
"""Minimum rows for late materialization in a merge of a table with few columns ..."""
_FEW_COLUMNS = 16
"""... which are up to this many; a merge of more columns needs fewer rows."""


def runs_in_order(split: DataSplit, runs: list[list[int]]) -> bool:
    """Whether every record of a run is newer than all records of the runs before it."""
    lows = numbers(split.files.table, "min_sequence_number")
    highs = numbers(split.files.table, "max_sequence_number")
    return all(highs[old].max() < lows[new].min() for old, new in pairwise(runs))


def in_order(
    split: DataSplit, runs: list[list[int]], max_runs: int = MAX_RUNS
) -> tuple[list[list[int]], bool]:
    """Sorts runs by age, or up to `max_runs` single files of them, if these are in order.

    Returns:
        The runs from the oldest to the newest, and True; or the runs as they are, and False.

    If each write overlaps only the key range of the previous one, many files form few runs, and
    the first run contains both the oldest and the newest file.
    """
    newest = numbers(split.files.table, "max_sequence_number")
    ordered = by_age(runs, newest)
    if runs_in_order(split, ordered):
        return ordered, True
    files = by_age([[row] for run in runs for row in run], newest)
    found = len(files) <= max_runs and runs_in_order(split, files)
    return (files, True) if found else (runs, False)


def runs_may_tie(split: DataSplit, runs: Sequence[Sequence[int]]) -> bool:
    """Whether records of one key may have the same sequence number."""
    files = np.array([row for run in runs for row in run], np.int64)
    return bool(may_tie(split.files.take(files), np.zeros(len(files), np.int64)).any())


def has_many_rows(split: DataSplit, runs: list[list[int]], columns: int) -> bool:
    """Whether late materialization pays off for the rows of some runs."""
    rows = numbers(split.files.table, "row_count")
    count = sum(int(rows[run].sum()) for run in runs)
    return count * max(columns, _FEW_COLUMNS) >= _LATE_ROWS * _FEW_COLUMNS


def may_retract(split: DataSplit, run: Sequence[int]) -> bool:
    """Whether files may have -U or -D records; pypaimon 2.1 records 0 for level 0 with deletes."""
    counts = split.files.table.column("delete_row_count")
    levels = split.files.table.column("level")
    return any(counts[row].as_py() != 0 or levels[row].as_py() == 0 for row in run)


def selects_one_key(predicate: Expression, keys: Sequence[DataField], spec: MergeSpec) -> bool:
    """Returns whether at most one key can match, and its newest record is the result.

    False for keys with floating-point numbers: 0.0 and -0.0 are equal, but two keys.
    """
    if spec.engine is not MergeEngine.DEDUPLICATE or spec.sequence_fields or spec.ignore_delete:
        return False
    if any(is_root(key.type, TypeRoot.FLOAT, TypeRoot.DOUBLE) for key in keys):
        return False
    fixed = {_compared_with_one_value(part) for part in conjuncts(predicate)}
    return all(key.name in fixed for key in keys)


def _compared_with_one_value(part: Expression) -> str | None:
    """The column that a condition requires to have one value, if it does."""
    match part:
        case Compare(op=CompareOp.EQ, left=Column(path=(name,))):
            return name
        case In(operand=Column(path=(name,)), values=(_,)):
            return name
        case _:
            return None


def newest_records(runs: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Returns the records of the newest run that has any; older runs are not read.

    Args:
        runs: in order; the matching records of each.
    """
    for run in reversed(runs):
        found = [batch for batch in run if batch.num_rows]
        if found:
            return iter(found)
    return iter(())
