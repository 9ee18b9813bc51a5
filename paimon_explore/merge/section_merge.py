"""In-memory merge of a section: all rows of a range of keys.

The merge engines that select one record per key: `deduplicate` and `first-row`.

The rows are selected from rows sorted by key and age. If whole runs are newer than others,
`merge.keys.key_index` selects them without sorting rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, concat_arrays
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.key_records import Merged, Records, RowKind, is_retract
from paimon_explore.merge.keys.key_groups import Groups, group_tied_rows
from paimon_explore.merge.keys.key_index import number_keys, winners, winning_rows
from paimon_explore.merge.keys.normalized_keys import KeySource, key_source, normalized_keys
from paimon_explore.merge.merge_spec import SEQUENCE_NUMBER, VALUE_KIND, MergeSpec, needed_columns
from paimon_explore.merge.merge_tree import MergeTree
from paimon_explore.merge.numpy_columns import (
    Int8s,
    index_array,
    int8_array,
    int64_array,
    ints_of,
    mask_array,
    narrow_index,
)
from paimon_explore.metadata.options.option_enums import MergeEngine

if TYPE_CHECKING:
    from paimon_explore.merge.aggregation_steps import Aggregator
    from paimon_explore.merge.aggregators.layered_reduction import Layered


def newest_rows(groups: Groups, kinds: Int8s, *, ignore_delete: bool) -> Ints:
    """The last row of each key.

    Args:
        groups: rows by key, oldest first.
        kinds: of all rows.
        ignore_delete: ignore -U and -D rows; a key with only such rows has no row, unless it has
            exactly one.
    """
    if ignore_delete:
        groups = _without_retract_rows(groups, kinds)
    return groups.order[groups.lasts]


def oldest_rows(groups: Groups, kinds: Int8s, *, ignore_delete: bool) -> Ints:
    """The first row of each key.

    Raises:
        FormatError: a key with several rows has -U or -D rows that are not ignored.
    """
    if ignore_delete:
        groups = _without_retract_rows(groups, kinds)
    elif is_retract(kinds[groups.order[np.repeat(groups.sizes > 1, groups.sizes)]]).any():
        raise FormatError(
            "Merge engine 'first-row' cannot merge deletes (-D) or old values of updates (-U).",
            hint="Set 'ignore-delete' = 'true' to skip them.",
        )
    return groups.order[groups.starts]


def _without_retract_rows(groups: Groups, kinds: Int8s) -> Groups:
    """Drops retract rows of keys with several rows."""
    sizes = groups.sizes
    keep = ~is_retract(kinds[groups.order]) | np.repeat(sizes == 1, sizes)
    return groups.where(keep)


_INSERT = np.int8(RowKind.INSERT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A merge with its functions and modes.

    Attributes:
        spec: the merge spec.
        functions: aggregate functions of the needed columns.
        keep_retracts: keep results that are retracts, and append the system columns.
        by_run_order: parts are in age order: all records are newer than those of the parts before,
            except parts of the same run, which share no key. Sequence numbers are not compared.
        key_order: return results in key order.
        merge_single_rows: compute keys with a single row as well, as Java does in lookup
            compaction: functions may change or refuse such a row. Otherwise it is unchanged, of any
            kind.
    """

    spec: MergeSpec
    functions: "Mapping[str, Aggregator]"
    keep_retracts: bool = False
    by_run_order: bool = False
    key_order: bool = True
    merge_single_rows: bool = False

    @property
    def keeps_single_rows(self) -> bool:
        """Whether keys with a single row are unchanged."""
        return not self.merge_single_rows or self.spec.engine in _SELECTORS

    @property
    def newest_wins(self) -> bool:
        """Whether the newest record of a key decides alone, also if it is a retract."""
        return self.spec.engine is MergeEngine.DEDUPLICATE and not self.spec.ignore_delete


def functions_of(spec: MergeSpec) -> "Mapping[str, Aggregator]":
    """The aggregators of the columns that the merge needs.

    Raises:
        UnsupportedFeatureError: a function does not exist.
        InvalidInputError: a function does not support its column.
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
class Section:
    """Rows to merge: parts of sorted runs with all rows of their keys.

    Columns are concatenated on first access.

    Attributes:
        parts: the rows, in the order of the runs.
        leaves: for each part the leaf of its run, if there is a tree.
        tree: orders tied records; None if there are none, or if parts are in their order.
    """

    parts: Sequence[pa.RecordBatch]
    leaves: Sequence[int] = ()
    tree: MergeTree | None = None
    _columns: dict[str, Column] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of rows."""
        return sum(part.num_rows for part in self.parts)

    @property
    def is_one_part(self) -> bool:
        """Whether no key has several rows, and none matter to the order of later ones."""
        return len(self.parts) == 1 and self.tree is None

    def column(self, name: str) -> Column:
        """All values of a column."""
        found = self._columns.get(name)
        if found is None:
            found = concat_arrays([part.column(name) for part in self.parts])
            self._columns[name] = found
        return found

    def keys(self, names: Sequence[str]) -> list[list[Column]]:
        """The key columns of each part."""
        return [[part.column(name) for name in names] for part in self.parts]

    def kinds(self) -> Int8s:
        """Row kinds; +I for parts without row kinds."""
        return np.concatenate([kinds_of(part) for part in self.parts])

    def numbers(self) -> Ints:
        """Sequence numbers."""
        return ints_of(self.column(SEQUENCE_NUMBER))


def kinds_of(part: pa.RecordBatch) -> Int8s:
    """The row kinds of a batch; +I if it has none."""
    if VALUE_KIND not in part.schema.names:
        return np.zeros(part.num_rows, np.int8)
    return ints_of(part.column(VALUE_KIND)).astype(np.int8, copy=False)


def retracts_of(part: pa.RecordBatch) -> Bools | None:
    """Which rows of a batch are retracts; None if there are none."""
    if VALUE_KIND not in part.schema.names:
        return None
    retracts = is_retract(kinds_of(part))
    return retracts if retracts.any() else None


def merge_section(section: Section, task: Task) -> Iterator[pa.RecordBatch]:
    """Merges a section; batches may be empty."""
    if (section.is_one_part and task.keeps_single_rows) or not section.count:
        for part in section.parts:
            yield pass_through(part, task)
        return
    if task.spec.engine in _SELECTORS and not task.key_order and not task.keep_retracts:
        for part, mask in zip(section.parts, _selected(section, task), strict=True):
            yield _only(part, mask, task)
        return
    if _in_part_order(section, task):
        if task.spec.engine in _SELECTORS:
            yield _select_by_layers(section, task)
            return
        folded = _merge_layers(section, task)
        if folded is not None:
            yield folded
            return
    elif task.newest_wins and section.tree is None:
        yield _taken(section, task, _newest_records(section, task), section.kinds())
        return
    yield merge_groups(section, task, record_groups(section, task))


def merge_whole(
    whole: pa.RecordBatch, sizes: Sequence[int], task: Task
) -> Iterator[pa.RecordBatch]:
    """Merges many small parts that are consecutive in one batch; batches may be empty.

    Args:
        whole: the rows of all parts.
        sizes: the number of rows of each part, all positive.
        task: the merge.
    """
    spec = task.spec
    selects = task.newest_wins or (
        spec.engine in _SELECTORS and VALUE_KIND not in whole.schema.names
    )
    if selects and task.by_run_order and not task.keep_retracts and not spec.sequence_fields:
        keys = [whole.column(name) for name in spec.keys]
        yield _only(whole, winning_rows(keys, newest=_newest(task)), task)
        return
    starts = np.cumsum(sizes) - sizes
    parts = [whole.slice(start, size) for start, size in zip(starts.tolist(), sizes, strict=True)]
    columns = dict(zip(whole.schema.names, whole.columns, strict=True))
    yield from merge_section(Section(parts, _columns=columns), task)


def selected_rows(section: Section, task: Task) -> list[Bools | None]:
    """For each part which of its rows deduplicate or first-row selects; None for all."""
    if section.is_one_part or not section.count:
        masks: Sequence[Bools | None] = [None] * len(section.parts)
    else:
        masks = _selected(section, task)
    return [_without_retracts(*found) for found in zip(section.parts, masks, strict=True)]


def record_groups(section: Section, task: Task) -> Groups:
    """The rows by key, oldest first. Of one merge tree every section must be asked for once."""
    groups, tied = tied_groups(section, task)
    if section.tree is None:
        return groups
    leaves = np.repeat(section.leaves, [part.num_rows for part in section.parts])
    return section.tree.ordered(groups, tied, leaves)


def tied_groups(section: Section, task: Task) -> tuple[Groups, Bools]:
    """The rows by key and sequence number, and which are tied with the one before.

    Tied rows are equal in their sequence fields and numbers, and in the order of the parts.
    """
    keys = [section.column(name) for name in task.spec.keys]
    return group_tied_rows(keys, _record_order(section, task), count=section.count)


def merge_kept_rows(section: Section, kept: Bools, task: Task) -> Iterator[pa.RecordBatch]:
    """Merges some rows of a section: of each key the order of all its rows counts."""
    if section.tree is None:
        yield from merge_section(Section(_filtered(section.parts, kept)), task)
        return
    groups = record_groups(section, task)
    groups = groups.where(kept[groups.order])
    if len(groups.starts):
        yield merge_groups(section, task, groups)


def _filtered(parts: Sequence[pa.RecordBatch], kept: Bools) -> list[pa.RecordBatch]:
    found = []
    begin = 0
    for part in parts:
        mask = kept[begin : begin + part.num_rows]
        begin += part.num_rows
        if mask.any():
            found.append(part if mask.all() else part.filter(mask_array(mask)))
    return found


def merge_groups(section: Section, task: Task, groups: Groups) -> pa.RecordBatch:
    """Merges grouped rows, in key order."""
    select = _SELECTORS.get(task.spec.engine)
    if select is None:
        return _computed(section, task, groups)
    kinds = section.kinds()
    rows = select(groups, kinds, ignore_delete=task.spec.ignore_delete)
    return _taken(section, task, rows, kinds)


def pass_through(part: pa.RecordBatch, task: Task) -> pa.RecordBatch:
    """The result for rows that need no merge, because each key has a single row."""
    return _only(part, None, task)


def _only(part: pa.RecordBatch, mask: Bools | None, task: Task) -> pa.RecordBatch:
    """The result for the rows of a part where a mask is true; None for all."""
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
        columns = [pc.take(column, index) for column in columns]
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
    return nb.rows_without_columns(count)


# ---------------------------------------------------------------- the order of a key's records


def _record_order(section: Section, task: Task) -> list[KeySource]:
    """Normalized keys that order the records of a key; tied records are equal in all of them."""
    spec = task.spec
    sources = [
        source
        for name in spec.sequence_fields
        for source in normalized_keys(section.column(name), descending=spec.sequence_descending)
    ]
    if not task.by_run_order:
        sources.append(key_source(section.numbers()))
    return sources


def _parts_ascend(section: Section) -> bool:
    """Whether the sequence numbers of every part are above those of the parts before it."""
    high: int | None = None
    for part in section.parts:
        numbers = ints_of(part.column(SEQUENCE_NUMBER))
        if high is not None and int(numbers.min()) <= high:
            return False
        high = int(numbers.max())
    return True


# ---------------------------------------------------------------- engines that select rows


def _in_part_order(section: Section, task: Task) -> bool:
    """Whether parts are in age order and no retracts have to be merged."""
    spec = task.spec
    if section.tree is not None or spec.sequence_fields or spec.sequence_groups:
        return False
    if not task.newest_wins and any(retracts_of(part) is not None for part in section.parts):
        return False
    return task.by_run_order or _parts_ascend(section)


def _select_by_layers(section: Section, task: Task) -> pa.RecordBatch:
    """The newest or oldest record of each key in key order, without sorting records."""
    from paimon_explore.merge.record_layers import RecordLayers  # noqa: PLC0415 - merges by layers

    layers = RecordLayers(number_keys(section.keys(task.spec.keys)).without_gaps())
    return _taken(section, task, layers.newest if _newest(task) else layers.oldest, section.kinds())


def _newest_records(section: Section, task: Task) -> Ints:
    """The newest record of each key in key order, without sorting records."""
    numbers = number_keys(section.keys(task.spec.keys)).without_gaps()
    order = _record_order(section, task)
    newest = np.full(numbers.count, -1)
    begin = 0
    for keys in numbers.parts:
        rows = np.arange(begin, begin + len(keys))
        begin += len(keys)
        known = newest.take(keys)
        again = np.flatnonzero(known >= 0)
        wins = np.ones(len(keys), np.bool_)
        wins[again] = ~_is_older(order, rows[again], known[again])
        newest[keys[wins]] = rows[wins]
    return newest


def _is_older(order: Sequence[KeySource], rows: Ints, others: Ints) -> Bools:
    """Whether each row is before the other one in the order of the records of their key."""
    older = np.zeros(len(rows), np.bool_)
    tied = np.ones(len(rows), np.bool_)
    for source in order:
        values, known = source(rows), source(others)
        older |= tied & (values < known)
        tied &= values == known
    return older


def _newest(task: Task) -> bool:
    return task.spec.engine is not MergeEngine.FIRST_ROW


_SELECTORS: Mapping[MergeEngine, Callable[..., Ints]] = {
    MergeEngine.DEDUPLICATE: newest_rows,
    MergeEngine.FIRST_ROW: oldest_rows,
}


def _selected(section: Section, task: Task) -> list[Bools]:
    """For each part which of its rows are selected."""
    if _in_part_order(section, task):
        return winners(section.keys(task.spec.keys), newest=_newest(task))
    if task.newest_wins and section.tree is None:
        rows = _newest_records(section, task)
    else:
        select = _SELECTORS[task.spec.engine]
        groups = record_groups(section, task)
        rows = select(groups, section.kinds(), ignore_delete=task.spec.ignore_delete)
    mask = np.zeros(section.count, np.bool_)
    mask[rows] = True
    return np.split(mask, np.cumsum([part.num_rows for part in section.parts])[:-1])


def _taken(section: Section, task: Task, rows: Ints, kinds: Int8s) -> pa.RecordBatch:
    if not task.keep_retracts:
        rows = rows[~is_retract(kinds[rows])]
    columns = [section.column(name) for name in task.spec.columns]
    if len(rows) < section.count or (rows != np.arange(len(rows))).any():
        index = index_array(rows)
        columns = [pc.take(column, index) for column in columns]
    if task.keep_retracts:
        columns += [int64_array(section.numbers()[rows]), int8_array(kinds[rows])]
    return _batch(columns, len(rows), section.parts[0], task)


# ---------------------------------------------------------------- engines that compute


def _merge_layers(section: Section, task: Task) -> pa.RecordBatch | None:
    """Merges by record layers; None if a function does not support them."""
    spec = task.spec
    functions = [_layered(spec, name) for name in spec.columns]
    from paimon_explore.merge.record_layers import RecordLayers  # noqa: PLC0415 - merges by layers

    layers = RecordLayers(number_keys(section.keys(spec.keys)).without_gaps())
    columns = []
    for name, function in zip(spec.columns, functions, strict=True):
        values = None if function is None else function(section.column(name), layers)
        if values is None:
            return None
        columns.append(values)
    if task.keep_retracts:
        newest = layers.newest
        alone = (newest == layers.oldest) & task.keeps_single_rows
        columns.append(int64_array(section.numbers()[newest]))
        columns.append(int8_array(np.where(alone, section.kinds()[newest], _INSERT)))
    return _batch(columns, layers.count, section.parts[0], task)


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


def _computed(section: Section, task: Task, groups: Groups) -> pa.RecordBatch:
    """Merges by an engine that computes values; single rows are unchanged unless requested."""
    kinds = section.kinds()
    worked = (groups.sizes > 1) | task.merge_single_rows
    if not worked.any():
        return _taken(section, task, groups.order, kinds)
    merged = _merged(section, task, groups, kinds, worked)
    firsts = groups.order[groups.starts]
    kinds_found = kinds[firsts]
    kinds_found[worked] = merged.kinds
    keep = np.ones(len(firsts), np.bool_) if task.keep_retracts else ~is_retract(kinds_found)
    rows = np.where(worked, section.count + np.cumsum(worked) - 1, firsts)[keep]
    columns = []
    for name in task.spec.columns:
        if name in task.spec.keys:
            columns.append(pc.take(section.column(name), index_array(firsts[keep])))
        else:
            both = pa.concat_arrays([section.column(name), merged.column(name)])
            columns.append(pc.take(both, index_array(rows)))
    if task.keep_retracts:
        numbers = section.numbers()[firsts]
        numbers[worked] = merged.numbers
        columns += [int64_array(numbers), int8_array(kinds_found)]
    return _batch(columns, len(rows), section.parts[0], task)


def _merged(section: Section, task: Task, groups: Groups, kinds: Int8s, worked: Bools) -> Merged:
    """Merges the records of the groups in `worked`."""
    sizes = groups.sizes
    rows = groups.order[np.repeat(worked, sizes)]
    starts = np.cumsum(sizes[worked]) - sizes[worked]
    unknown = task.by_run_order and not task.keep_retracts
    numbers = np.zeros(len(rows), np.int64) if unknown else section.numbers()[rows]
    records = Records(section.column, rows, starts, kinds[rows], numbers)
    spec = task.spec
    if spec.engine is MergeEngine.PARTIAL_UPDATE:
        from paimon_explore.merge.partial_update import update_partially  # noqa: PLC0415 - as above

        return update_partially(records, task.functions, spec)
    from paimon_explore.merge.aggregation_steps import aggregate  # noqa: PLC0415 - as above

    return aggregate(records, task.functions, remove_on_delete=spec.remove_on_delete)
