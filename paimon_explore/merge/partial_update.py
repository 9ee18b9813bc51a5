"""The merge engine `partial-update`: records update some columns of a row.

A record does one of three things to each column: nothing, a step (`Step`), or, together with all
other columns, a *reset*: the row becomes the record. Resets are a key's first record if it is a
retract, and records that remove the row. In every sequence group each record has a recency: its
ordering columns are all null (it is ignored), or it is not older than the row so far, or older.
Without removals the recency follows from a running maximum. If a record of a group can remove the
row, which changes the recency of later records, keys with -D records are processed record by
record.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Aggregator, Step, Steps
from paimon_explore.merge.aggregators import first_last_min_max
from paimon_explore.merge.key_records import Merged, Records, RowKind
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.merge_spec import MergeSpec, SequenceGroup, needed_groups
from paimon_explore.merge.numpy_columns import Int8s, nulls_mask, take_or_null

_IGNORED, _NOT_OLDER, _OLDER = 0, 1, 2
Recency: TypeAlias = npt.NDArray[np.int8]
"""Per record: ignored, not older, or older than the row so far, by the order of one group."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The effect of each record.

    Attributes:
        records: the records that are not ignored; every key has one.
        resets: which of them replace the row.
        removed: which of them remove it.
        recencies: the recency of the records per sequence group.
    """

    records: Records
    resets: Bools
    removed: Bools
    recencies: Mapping[SequenceGroup, Recency]


def update_partially(
    records: Records, functions: Mapping[str, Aggregator], spec: MergeSpec
) -> Merged:
    """Merges records that each set some columns.

    Args:
        records: of keys with several records.
        functions: by column, for columns in sequence groups.
        spec: the handling of retracts, and the sequence groups.

    Returns:
        A row per key: -D if its last record removes it or all records are retracts, else +I; with
        the sequence number of the last record that is not ignored.

    Raises:
        FormatError: there are -U or -D records, and no option defines how to handle them.
    """
    retracts = records.retracts
    first = np.zeros(len(retracts), np.bool_)
    first[records.starts] = True
    resets = first & retracts
    removed = np.zeros(len(retracts), np.bool_)
    recencies: dict[SequenceGroup, Recency] = {}
    if spec.sequence_groups:
        counts = resets | ~retracts if spec.ignore_delete else np.ones(len(resets), np.bool_)
        recencies, removed = _recencies(records, needed_groups(spec), counts)
    elif spec.remove_on_delete:
        removed = records.kinds == RowKind.DELETE
    elif retracts.any() and not spec.ignore_delete:
        raise _refused()
    plan = _Plan(records, resets | removed, removed, recencies)
    adds = ~retracts
    counts = adds if spec.ignore_delete else np.ones(len(adds), np.bool_)
    lasts = records.last_where(counts)
    gone = removed[records.lasts] | ~records.any_of(adds)
    kinds = np.where(gone, np.int8(RowKind.DELETE), np.int8(RowKind.INSERT))
    numbers = np.where(lasts < 0, 0, records.numbers[lasts])
    return Merged(partial(_column, plan, functions, spec), kinds, numbers)


def _refused() -> FormatError:
    return FormatError(
        "Merge engine 'partial-update' cannot merge deletes (-D) or old values of "
        "updates (-U) by default.",
        hint="Set 'ignore-delete' to 'true', define sequence groups, or create the table with "
        "'partial-update.remove-record-on-delete' = 'true'.",
    )


def _column(plan: _Plan, functions: Mapping[str, Aggregator], spec: MergeSpec, name: str) -> Column:
    records = plan.records
    values = records.column(name)
    if name in spec.primary_keys:
        return take_or_null(values, records.rows[records.starts])
    for group, recency in plan.recencies.items():
        if name in group.ordering:
            sets = (recency == _NOT_OLDER) | plan.resets
            return take_or_null(values, _last_set(records, sets))
        if name in group.columns:
            function = functions.get(name)
            if function is None:
                replacing = _replacing_steps(plan, recency, ignore_delete=spec.ignore_delete)
                return first_last_min_max.last_value(values, replacing)
            steps = _function_steps(plan, recency, ignore_delete=spec.ignore_delete)
            return function(values, steps)
    kept = plan.resets | ~records.retracts
    kinds = np.where(plan.resets, np.int8(Step.REPLACE), np.int8(Step.ADD))
    steps = Steps(records.rows, kinds, records.starts).kept(kept)
    return first_last_min_max.last_non_null_value(
        values, steps if plan.removed.any() else steps.plain()
    )


def _last_set(records: Records, sets: Bools) -> Ints:
    positions = records.last_where(sets)
    return np.where(positions < 0, -1, records.rows[positions])


def _replacing_steps(plan: _Plan, recency: Recency, *, ignore_delete: bool) -> Steps:
    """Steps of a column without a function in a sequence group: the newest value, even null."""
    records = plan.records
    kinds = np.full(len(recency), Step.REPLACE, np.int8)
    applies = recency == _NOT_OLDER
    if not ignore_delete:
        kinds[applies & records.retracts & ~plan.removed] = Step.CLEAR
    return Steps(records.rows, kinds, records.starts).kept(applies | plan.resets)


def _function_steps(plan: _Plan, recency: Recency, *, ignore_delete: bool) -> Steps:
    """Steps of a column with a function in a sequence group.

    If a key's first record is a retract, it first replaces the row and is then retracted from it.
    """
    records = plan.records
    retracts = records.retracts
    kinds = np.where(recency == _OLDER, np.int8(Step.ADD_REVERSED), np.int8(Step.ADD))
    kinds[retracts] = Step.RETRACT
    applies = (recency != _IGNORED) & ~plan.removed & ~(retracts & ignore_delete)
    steps = Steps(records.rows, kinds, records.starts)
    if not plan.resets.any():
        return steps.kept(applies)
    positions = np.repeat(np.arange(len(kinds)), 1 + plan.resets)
    second = np.diff(positions, prepend=-1) == 0
    replaces = plan.resets[positions] & ~second
    both = np.where(replaces, np.int8(Step.REPLACE), kinds[positions])
    starts = records.starts + np.concatenate([[0], np.cumsum(plan.resets)])[records.starts]
    return Steps(records.rows[positions], both, starts).kept(replaces | applies[positions])


# ---------------------------------------------------------------- recencies


def _recencies(
    records: Records, groups: Sequence[SequenceGroup], counts: Bools
) -> tuple[dict[SequenceGroup, Recency], Bools]:
    """The recency of every record in every group, and which records remove the row."""
    orders = [np.where(counts, _order(records, group), -1) for group in groups]
    found = [_running(records, order) for order in orders]
    removed = np.zeros(len(records.rows), np.bool_)
    removing = [group.removes for group in groups]
    if any(removing):
        walked = np.flatnonzero(records.any_of(records.kinds == RowKind.DELETE))
        _walk(records, walked, (orders, removing), (found, removed))
    return dict(zip(groups, found, strict=True)), removed


def _order(records: Records, group: SequenceGroup) -> Ints:
    """The rank of each record by the group's ordering columns; -1 if they are all null."""
    columns = [take_or_null(records.column(name), records.rows) for name in group.ordering]
    empty = np.ones(len(records.rows), np.bool_)
    for column in columns:
        valid = nulls_mask(column)
        empty &= np.zeros(len(empty), np.bool_) if valid is None else ~valid
    return np.where(empty, -1, ranks(columns, count=len(empty)))


def _running(records: Records, order: Ints) -> Recency:
    """The recency of each record relative to the greatest record of its key so far.

    The ranks of later keys are shifted above those of earlier ones, so that one running maximum
    works for all keys.
    """
    shift = records.group_ids * (int(order.max(initial=0)) + 2)
    highest = np.maximum.accumulate(order + shift)
    before = np.concatenate([[-1], highest[:-1]])
    before[records.starts] = -1
    recency = np.where(order + shift >= before, np.int8(_NOT_OLDER), np.int8(_OLDER))
    recency[order < 0] = _IGNORED
    return recency


def _walk(
    records: Records,
    keys: Ints,
    groups: tuple[Sequence[Ints], Sequence[bool]],
    result: tuple[Sequence[Recency], Bools],
) -> None:
    """Recency for keys whose row may be removed: a removal sets the order of all groups."""
    orders, removing = groups
    recencies, removed = result
    ends = records.lasts + 1
    kinds: Int8s = records.kinds
    for key in keys.tolist():
        row = [-1] * len(orders)
        for at in range(int(records.starts[key]), int(ends[key])):
            own = [int(order[at]) for order in orders]
            newer = [mine >= 0 and mine >= current for mine, current in zip(own, row, strict=True)]
            removes = any(new and may for new, may in zip(newer, removing, strict=True))
            removed[at] = removes and kinds[at] == RowKind.DELETE
            for recency, mine, new in zip(recencies, own, newer, strict=True):
                recency[at] = _IGNORED if mine < 0 else _NOT_OLDER if new else _OLDER
            if removed[at]:
                row = own
            else:
                row = [
                    mine if new else current
                    for mine, current, new in zip(own, row, newer, strict=True)
                ]
