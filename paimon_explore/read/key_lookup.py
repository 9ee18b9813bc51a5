"""Reads of one key: from the newest sorted run on, until a record is found.

Only for sorted runs in order, each of which has only newer records than the runs before it: the
newest record of a key is then in the newest run that contains the key.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    conjuncts,
)


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
        runs: the matching records of each run, from the oldest to the newest.
    """
    for run in reversed(runs):
        found = [batch for batch in run if batch.num_rows]
        if found:
            return iter(found)
    return iter(())
