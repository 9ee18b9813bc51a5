"""The merge of rows that are all at hand and complete for their keys."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Aggregator
from paimon_explore.merge.engines.deduplicate_first_row import newest_rows, oldest_rows
from paimon_explore.merge.key_records import Merged, Records, RowKind, is_retract
from paimon_explore.merge.keys.key_groups import Groups, group_rows
from paimon_explore.merge.keys.key_index import key_slots, winners
from paimon_explore.merge.keys.normalized_keys import WordSource, picked, words_of
from paimon_explore.merge.merge_spec import SEQUENCE_NUMBER, VALUE_KIND, MergeSpec, needed_columns
from paimon_explore.merge.numpy_columns import (
    Int8s,
    index_array,
    int8_array,
    int64_array,
    ints_of,
    joined,
    narrow_index,
)
from paimon_explore.merge.record_layers import Layers
from paimon_explore.metadata.options.option_enums import MergeEngine

if TYPE_CHECKING:
    from paimon_explore.merge.aggregators.layered_reduction import Layered

_INSERT = np.int8(RowKind.INSERT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A merge made ready: the spec, its functions, and what the caller asked for.

    Attributes:
        spec: the merge.
        functions: aggregate functions of the needed columns.
        keep_retracts: results that are retracts stay, and system columns are put behind.
        by_run_order: parts are oldest first and newer in every record than those before, but for
            parts of the same run, which share no key. Sequence numbers order nothing then.
        key_order: results are to be in key order.
        alone_too: engines that compute do so for keys with one row, too, as Java does where it
            compacts by lookup: functions may change a single row or refuse it. Else such a row
            stays as it is, whatever its kind.
    """

    spec: MergeSpec
    functions: Mapping[str, Aggregator]
    keep_retracts: bool = False
    by_run_order: bool = False
    key_order: bool = True
    alone_too: bool = False

    @property
    def passes_rows(self) -> bool:
        """Whether a row that is alone with its key stays as it is."""
        return not self.alone_too or self.spec.engine in _CHOOSERS


def functions_of(spec: MergeSpec) -> Mapping[str, Aggregator]:
    """The functions of the columns that the merge looks at.

    Raises:
        UnsupportedFeatureError: there is no such function.
        InvalidInputError: a function that cannot be used on its column.
    """
    if not spec.functions:
        return {}
    from paimon_explore.merge.aggregators.registry import aggregator  # noqa: PLC0415 - many modules

    wanted = needed_columns(spec)
    return {
        column.name: aggregator(spec.functions[column.name], column)
        for column in spec.row_type
        if column.name in wanted and column.name in spec.functions
    }


@dataclass(slots=True)
class Piece:
    """Rows to be merged: parts of runs, oldest run first.

    Columns are put together when they are first asked for.
    """

    parts: Sequence[pa.RecordBatch]
    _columns: dict[str, Column] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(part.num_rows for part in self.parts)

    def column(self, name: str) -> Column:
        """All values of a column."""
        found = self._columns.get(name)
        if found is None:
            found = joined([part.column(name) for part in self.parts])
            self._columns[name] = found
        return found

    def keys(self, names: Sequence[str]) -> list[list[Column]]:
        """The key columns, part by part."""
        return [[part.column(name) for name in names] for part in self.parts]

    def kinds(self) -> Int8s:
        """Row kinds; parts without them are +I."""
        return np.concatenate([kinds_of(part) for part in self.parts])

    def numbers(self) -> Ints:
        """Sequence numbers."""
        return ints_of(self.column(SEQUENCE_NUMBER))


def kinds_of(part: pa.RecordBatch) -> Int8s:
    """A batch's row kinds, +I where it has none."""
    if VALUE_KIND not in part.schema.names:
        return np.zeros(part.num_rows, np.int8)
    return ints_of(part.column(VALUE_KIND)).astype(np.int8, copy=False)


def retracts_of(part: pa.RecordBatch) -> Bools | None:
    """Which rows of a batch are retracts; None where none is."""
    if VALUE_KIND not in part.schema.names:
        return None
    retracts = is_retract(kinds_of(part))
    return retracts if retracts.any() else None


def merge_piece(piece: Piece, task: Task) -> Iterator[pa.RecordBatch]:
    """Merge rows that are complete for their keys; batches may be empty."""
    if (len(piece.parts) == 1 and task.passes_rows) or not piece.count:
        for part in piece.parts:
            yield passed(part, task)
        return
    if task.spec.engine in _CHOOSERS and not task.key_order and not task.keep_retracts:
        for part, mask in zip(piece.parts, _chosen(piece, task), strict=True):
            yield _only(part, mask, task)
        return
    if _in_part_order(piece, task):
        if task.spec.engine in _CHOOSERS:
            yield _chosen_by_parts(piece, task)
            return
        folded = _folded(piece, task)
        if folded is not None:
            yield folded
            return
    yield merge_groups(piece, task, record_groups(piece, task))


def chosen_rows(piece: Piece, task: Task) -> list[Bools | None]:
    """For each part which of its rows are in the result of an engine that chooses; None: all."""
    if len(piece.parts) == 1 or not piece.count:
        masks: Sequence[Bools | None] = [None] * len(piece.parts)
    else:
        masks = _chosen(piece, task)
    return [_without_retracts(*found) for found in zip(piece.parts, masks, strict=True)]


def record_groups(piece: Piece, task: Task) -> Groups:
    """The rows by key, oldest first."""
    keys = [piece.column(name) for name in task.spec.keys]
    return group_rows(keys, _record_order(piece, task), count=piece.count)


def merge_groups(piece: Piece, task: Task, groups: Groups) -> pa.RecordBatch:
    """Merge grouped rows, in key order."""
    choose = _CHOOSERS.get(task.spec.engine)
    if choose is None:
        return _computed(piece, task, groups)
    kinds = piece.kinds()
    rows = choose(groups, kinds, ignore_delete=task.spec.ignore_delete)
    return _taken(piece, task, rows, kinds)


def passed(part: pa.RecordBatch, task: Task) -> pa.RecordBatch:
    """Rows that need no merge, for each is alone with its key."""
    return _only(part, None, task)


def _only(part: pa.RecordBatch, mask: Bools | None, task: Task) -> pa.RecordBatch:
    """The rows of a part where a mask is true; None: all."""
    if not task.keep_retracts:
        mask = _without_retracts(part, mask)
    columns = [part.column(name) for name in task.spec.columns]
    if task.keep_retracts:
        columns += [part.column(SEQUENCE_NUMBER), int8_array(kinds_of(part))]
    if mask is None:
        return _batch(columns, part.num_rows, part, task)
    rows = np.flatnonzero(mask)
    if len(rows) < part.num_rows:
        index = narrow_index(rows, part.num_rows)
        columns = [column.take(index) for column in columns]
    return _batch(columns, len(rows), part, task)


def _without_retracts(part: pa.RecordBatch, mask: Bools | None) -> Bools | None:
    retracts = retracts_of(part)
    if retracts is None:
        return mask
    return ~retracts if mask is None else mask & ~retracts


def _batch(columns: list[Column], count: int, like: pa.RecordBatch, task: Task) -> pa.RecordBatch:
    fields = [like.schema.field(name) for name in task.spec.columns]
    if task.keep_retracts:
        fields += [pa.field(SEQUENCE_NUMBER, pa.int64(), nullable=False)]
        fields += [pa.field(VALUE_KIND, pa.int8(), nullable=False)]
    if columns:
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
    shell = nb.build_struct(pa.struct([]), [], np.ones(count, np.bool_))
    return pa.RecordBatch.from_struct_array(shell)  # type: ignore[arg-type]  # a struct


# ---------------------------------------------------------------- the order of a key's records


def _record_order(piece: Piece, task: Task) -> list[WordSource]:
    """What orders the records of a key; records equal in all of it stay in the order of parts."""
    spec = task.spec
    words = [
        word
        for name in spec.sequence_fields
        for word in words_of(piece.column(name), descending=spec.sequence_descending)
    ]
    if not task.by_run_order:
        words.append(picked(piece.numbers()))
        kinds = piece.kinds()
        if kinds.any():
            words.append(picked(~is_retract(kinds)))
    return words


def _parts_ascend(piece: Piece) -> bool:
    """Whether every part's sequence numbers are above those of the parts before it."""
    high: int | None = None
    for part in piece.parts:
        numbers = ints_of(part.column(SEQUENCE_NUMBER))
        if high is not None and int(numbers.min()) <= high:
            return False
        high = int(numbers.max())
    return True


# ---------------------------------------------------------------- engines that choose


def _in_part_order(piece: Piece, task: Task) -> bool:
    """Whether parts are the ages of records, and nothing but additions or the newest matters."""
    spec = task.spec
    if spec.sequence_fields or spec.sequence_groups:
        return False
    newest_wins = spec.engine is MergeEngine.DEDUPLICATE and not spec.ignore_delete
    if not newest_wins and any(retracts_of(part) is not None for part in piece.parts):
        return False
    return task.by_run_order or _parts_ascend(piece)


def _chosen_by_parts(piece: Piece, task: Task) -> pa.RecordBatch:
    """The newest or oldest record of each key in key order, without any sorting of records."""
    layers = Layers(key_slots(piece.keys(task.spec.keys)).without_gaps())
    return _taken(piece, task, layers.newest if _newest(task) else layers.oldest, piece.kinds())


def _newest(task: Task) -> bool:
    return task.spec.engine is not MergeEngine.FIRST_ROW


_CHOOSERS: Mapping[MergeEngine, Callable[..., Ints]] = {
    MergeEngine.DEDUPLICATE: newest_rows,
    MergeEngine.FIRST_ROW: oldest_rows,
}


def _chosen(piece: Piece, task: Task) -> list[Bools]:
    """For each part which of its rows are chosen: nothing is moved."""
    if _in_part_order(piece, task):
        return winners(piece.keys(task.spec.keys), newest=_newest(task))
    choose = _CHOOSERS[task.spec.engine]
    groups = record_groups(piece, task)
    mask = np.zeros(piece.count, np.bool_)
    mask[choose(groups, piece.kinds(), ignore_delete=task.spec.ignore_delete)] = True
    return np.split(mask, np.cumsum([part.num_rows for part in piece.parts])[:-1])


def _taken(piece: Piece, task: Task, rows: Ints, kinds: Int8s) -> pa.RecordBatch:
    if not task.keep_retracts:
        rows = rows[~is_retract(kinds[rows])]
    index = index_array(rows)
    columns = [piece.column(name).take(index) for name in task.spec.columns]
    if task.keep_retracts:
        columns += [int64_array(piece.numbers()[rows]), int8_array(kinds[rows])]
    return _batch(columns, len(rows), piece.parts[0], task)


# ---------------------------------------------------------------- engines that compute


def _folded(piece: Piece, task: Task) -> pa.RecordBatch | None:
    """Parts laid over each other, oldest first; None where a function cannot work in that way."""
    spec = task.spec
    functions = [_layered(spec, name) for name in spec.columns]
    layers = Layers(key_slots(piece.keys(spec.keys)).without_gaps())
    columns = []
    for name, function in zip(spec.columns, functions, strict=True):
        values = None if function is None else function(piece.column(name), layers)
        if values is None:
            return None
        columns.append(values)
    if task.keep_retracts:
        newest = layers.newest
        alone = (newest == layers.oldest) & task.passes_rows
        columns.append(int64_array(piece.numbers()[newest]))
        columns.append(int8_array(np.where(alone, piece.kinds()[newest], _INSERT)))
    return _batch(columns, layers.count, piece.parts[0], task)


def _layered(spec: MergeSpec, name: str) -> "Layered | None":
    from paimon_explore.merge.aggregators.layered_reduction import (  # noqa: PLC0415 - engines that compute
        LAYERED,
        last_non_null_value,
        last_value,
    )

    if name in spec.primary_keys:
        return last_value
    if spec.engine is MergeEngine.PARTIAL_UPDATE:
        return last_non_null_value
    function = spec.functions.get(name)
    return last_value if function is None else LAYERED.get(function.name)


def _computed(piece: Piece, task: Task, groups: Groups) -> pa.RecordBatch:
    """Keys with one row keep it as it is, unless these are merged, too, as the others are."""
    kinds = piece.kinds()
    worked = (groups.sizes > 1) | task.alone_too
    if not worked.any():
        return _taken(piece, task, groups.order, kinds)
    merged = _merged(piece, task, groups, kinds, worked)
    firsts = groups.order[groups.starts]
    kinds_found = kinds[firsts]
    kinds_found[worked] = merged.kinds
    keep = np.ones(len(firsts), np.bool_) if task.keep_retracts else ~is_retract(kinds_found)
    rows = np.where(worked, piece.count + np.cumsum(worked) - 1, firsts)[keep]
    columns = []
    for name in task.spec.columns:
        if name in task.spec.keys:
            columns.append(piece.column(name).take(index_array(firsts[keep])))
        else:
            both = pa.concat_arrays([piece.column(name), merged.column(name)])
            columns.append(both.take(index_array(rows)))
    if task.keep_retracts:
        numbers = piece.numbers()[firsts]
        numbers[worked] = merged.numbers
        columns += [int64_array(numbers), int8_array(kinds_found)]
    return _batch(columns, len(rows), piece.parts[0], task)


def _merged(piece: Piece, task: Task, groups: Groups, kinds: Int8s, worked: Bools) -> Merged:
    """The merge of these groups."""
    sizes = groups.sizes
    rows = groups.order[np.repeat(worked, sizes)]
    starts = np.cumsum(sizes[worked]) - sizes[worked]
    unknown = task.by_run_order and not task.keep_retracts
    numbers = np.zeros(len(rows), np.int64) if unknown else piece.numbers()[rows]
    records = Records(piece.column, rows, starts, kinds[rows], numbers)
    spec = task.spec
    if spec.engine is MergeEngine.PARTIAL_UPDATE:
        from paimon_explore.merge.engines.partial_update import update_partially  # noqa: PLC0415 - as above

        return update_partially(records, task.functions, spec)
    from paimon_explore.merge.engines.aggregation import aggregate  # noqa: PLC0415 - as above

    return aggregate(records, task.functions, remove_on_delete=spec.remove_on_delete)
