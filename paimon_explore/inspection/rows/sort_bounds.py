"""The best value that each unit may have in a column, by the statistics of its files."""

from collections.abc import Mapping, Sequence

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import AtomicType
from paimon_explore.inspection.rows.row_sort import RowOrder
from paimon_explore.inspection.rows.row_units import RANGED_TYPES, RowUnit
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED, MERGE_ENGINE
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.splits.data_split import DataSplit

_SELECTING = (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)


def unit_bounds(target: ScanTarget, units: Sequence[RowUnit], order: RowOrder) -> list[object]:
    """The best value of each unit; None if it is unknown.

    A merge that computes values may give values outside of the bounds of its files.
    """
    (wanted,) = target.schema.project([order.column]).fields
    nothing: list[object] = [None] * len(units)
    if not isinstance(wanted.type, AtomicType) or wanted.type.root not in RANGED_TYPES:
        return nothing
    if target.options.value(DATA_EVOLUTION_ENABLED) or len(branches_read(target)) > 1:
        return nothing
    if target.snapshot is None:
        return nothing
    partitions = PartitionFilter(row_type=target.schema.partition_type, predicate=None)
    entries = live_files(target.store, target.snapshot, partitions)
    stats = value_stats(entries, target.store.schemas.load, [wanted]).columns.get(order.column)
    if stats is None:
        return nothing
    side = stats.maximum if order.descending else stats.minimum
    names = entries.table.column("file_name").to_pylist()
    known = dict(zip(names, as_python(side), strict=True))
    exact = order.column in target.schema.primary_keys or (
        target.options.value(MERGE_ENGINE) in _SELECTING
    )
    return [_bound(unit, known, order, is_exact=exact) for unit in units]


def _bound(
    unit: RowUnit, known: Mapping[object, object], order: RowOrder, *, is_exact: bool
) -> object:
    split = unit.split
    if not isinstance(split, DataSplit) or not (split.raw_convertible or is_exact):
        return None
    names = split.source.entries.table.column("file_name")
    files = range(split.count) if unit.files is None else unit.files
    values = [known.get(names[split.start + at].as_py()) for at in files]
    best = max if order.descending else min
    return None if None in values else best(values)  # type: ignore[type-var]  # of one column
