"""Profiles columns from metadata alone: statistics of data files, partitions and ANALYZE.

The figures are those of the rows only if every stored row is a row of the table. Otherwise they
are bounds: deleted and replaced rows are included, and bounds of texts may be truncated.
Spec: concepts/spec/manifest, statistics; concepts/spec/snapshot, statistics.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    int64_values,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    TEXTS,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
)
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.profile.column_collectors import extremes, positive_zeros, unprofiled
from paimon_explore.inspection.profile.column_profile import (
    SHOWN_VALUES,
    ColumnProfile,
    FrequentValue,
    Value,
    edge_value,
    value_of,
)
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.statistics_file import ColumnStatistics, Statistics
from paimon_explore.read.row_rules import rules_of
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import as_binary, column, distinct, numbers
from paimon_explore.scan.plan import ScanTarget, file_stages, packed_splits
from paimon_explore.scan.predicate.expression import NULL, TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.pruning.file_statistics import key_stats, value_stats
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats
from paimon_explore.scan.splits.data_split import Splits

BOUNDS_NOTE = "From statistics: lower and upper bounds; deleted and replaced rows are included."
FILTER_NOTE = "From statistics of the files that may contain matching rows."
_BATCH_FILES = 1 << 15
"""Files whose statistics are decoded at a time."""
RULES_NOTE = "No statistics: the catalog restricts which rows or values may be read."


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsProfile:
    """Profiles of columns from metadata.

    Attributes:
        columns: the profiles; fields follow their ROW column.
        rows: number of rows, an upper bound if not exact; None if it is unknown.
        is_exact: whether the number of rows is exact.
        notes: remarks on all figures.
    """

    columns: tuple[ColumnProfile, ...]
    rows: int | None
    is_exact: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """The live files of one branch.

    Attributes:
        target: the branch.
        entries: the files.
        rows: number of rows of the table in them; an upper bound if not `is_exact`.
        is_exact: whether each stored row is a row of the table.
        counts_exact: whether the number of rows is exact.
    """

    target: ScanTarget
    entries: ManifestEntries
    rows: int
    is_exact: bool
    counts_exact: bool


def profile_statistics(
    target: ScanTarget, row_type: RowType, where: Expression = TRUE
) -> StatisticsProfile:
    """Profile columns without reading data files.

    Args:
        target: the table and the snapshot.
        row_type: the columns, or parts of them.
        where: the filter, bound to the table's columns; only files that may match are considered.

    Raises:
        PaimonError: a metadata file cannot be read.
    """
    if target.store.environment is not None and rules_of(target, row_type.names, where):
        columns = tuple(one for field in row_type for one in _unknown((field.name,), field.type))
        return StatisticsProfile(columns=columns, rows=None, is_exact=False, notes=(RULES_NOTE,))
    files = [_files(one, where) for one in branches_read(target) if one.snapshot is not None]
    whole = len(files) <= 1 and not target.options.value(DATA_EVOLUTION_ENABLED)
    is_exact = whole and all(one.is_exact for one in files)
    batches = [batch for one in files for batch in _bounds(one, row_type)]
    found: list[ColumnProfile] = []
    for number, field in enumerate(row_type):
        own, *nested = _unknown((field.name,), field.type)
        parts = [batch[number] for batch in batches]
        found += [_column(own, field, files, parts, is_exact=is_exact), *nested]
    notes = [] if is_exact else [BOUNDS_NOTE]
    if where == TRUE:
        found, note = _analyzed(found, target)
        notes += [note] if note else []
    else:
        notes.append(FILTER_NOTE)
    return StatisticsProfile(
        columns=tuple(found),
        rows=sum(one.rows for one in files) if whole else None,
        is_exact=whole and all(one.counts_exact for one in files),
        notes=tuple(notes),
    )


def _unknown(path: tuple[str, ...], data_type: DataType) -> Iterator[ColumnProfile]:
    """Profiles without figures of a column and of its nested fields."""
    yield ColumnProfile(path=path, type=data_type, is_exact=False, reason=unprofiled(data_type))
    if isinstance(data_type, RowType):
        for field in data_type:
            yield from _unknown((*path, field.name), field.type)


def _files(target: ScanTarget, where: Expression) -> _Files:
    snapshot = target.snapshot
    assert snapshot is not None  # noqa: S101 - by the caller
    parts = split_predicate(where, target.schema.partition_keys)
    partitions = PartitionFilter(row_type=target.schema.partition_type, predicate=parts.pushed)
    entries = live_files(target.store, snapshot, partitions)
    for stage in file_stages(target, entries, parts.rest):
        entries = stage.kept
    located = target.located(entries, snapshot)
    splits = () if target.keys is None else packed_splits(target, located)
    raw = target.keys is None or (isinstance(splits, Splits) and bool(splits.raw.all()))
    vectors = [vector for vector in located.vectors if vector is not None]
    deleted = [vector.cardinality for vector in vectors]
    matches_all = parts.rest == TRUE
    return _Files(
        target=target,
        entries=entries,
        rows=int(numbers(entries.table, "row_count").sum()) - sum(n or 0 for n in deleted),
        is_exact=raw and not vectors and matches_all,
        counts_exact=raw and None not in deleted and matches_all,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ColumnBounds:
    """The statistics of a column of some files.

    Attributes:
        files: number of files.
        missing: number of files without bounds although they may contain values.
        nulls: number of nulls; None if it is unknown.
        low: the extremes of the lower bounds; empty if there are none.
        high: the extremes of the upper bounds.
    """

    files: int
    missing: int
    nulls: int | None
    low: Column
    high: Column


def _column(
    unknown: ColumnProfile,
    field: DataField,
    files: Sequence[_Files],
    parts: Sequence[_ColumnBounds],
    *,
    is_exact: bool,
) -> ColumnProfile:
    """The profile of a column from the statistics of all files."""
    counts = [part.nulls for part in parts]
    nulls = None if None in counts else sum(count or 0 for count in counts)
    if not isinstance(field.type, AtomicType):
        return replace(unknown, nulls=nulls, is_exact=is_exact)
    missing = sum(part.missing for part in parts)
    truncated = field.type.root in (*TEXTS, *BYTES)
    notes = []
    if missing:
        total = sum(part.files for part in parts)
        notes.append(f"bounds are missing in {missing:,} of {plural(total, 'file')}")
    elif truncated and parts:
        notes.append("bounds may be truncated")
    found = replace(
        unknown,
        nulls=nulls,
        minimum=_extreme(0, [part.low for part in parts], field.type),
        maximum=_extreme(1, [part.high for part in parts], field.type),
        is_exact=is_exact and not missing and not truncated,
        notes=tuple(notes),
    )
    return _partition_column(found, field, files) if files else found


def _bounds(files: _Files, row_type: RowType) -> Iterator[list[_ColumnBounds]]:
    """The statistics of all columns, for one batch of files after the other."""
    known = files.target.schema.row_type
    fields = [known.field(field.name) or field for field in row_type]
    for start in range(0, len(files.entries), _BATCH_FILES):
        entries = files.entries.slice(start, _BATCH_FILES)
        yield _batch_bounds(files.target, entries, fields)


def _batch_bounds(
    target: ScanTarget, entries: ManifestEntries, fields: Sequence[DataField]
) -> list[_ColumnBounds]:
    rows = numbers(entries.table, "row_count")
    stats = value_stats(entries, target.store.schemas.load, fields).columns
    keys = target.keys
    unbounded = [
        field.name
        for field in fields
        if keys is not None and keys.field(field.name) and _missing(stats[field.name], rows)
    ]
    if keys is not None and unbounded:
        of_keys = key_stats(entries, keys).columns
        stats = {**stats, **{name: of_keys[name] for name in unbounded}}
    return [_reduced(stats[field.name], rows) for field in fields]


def _reduced(stats: ColumnStats, rows: Ints) -> _ColumnBounds:
    counts = stats.null_count
    return _ColumnBounds(
        files=len(rows),
        missing=_missing(stats, rows),
        nulls=None if counts.null_count else int(int64_values(counts).sum()),
        low=_known_extremes(stats.minimum),
        high=_known_extremes(stats.maximum),
    )


def _known_extremes(bounds: Column) -> Column:
    known = bounds.drop_null()
    return extremes(known) if len(known) else known


def _missing(stats: ColumnStats, rows: Ints) -> int:
    """The number of files without bounds although they may contain values."""
    if not stats.minimum.null_count:
        return 0
    all_null = valid_mask(stats.null_count) & (int64_values(stats.null_count) == rows)
    return int(np.count_nonzero(~valid_mask(stats.minimum) & ~all_null))


def _extreme(index: int, bounds: list[Column], kind: AtomicType) -> Value | None:
    """The smallest (0) or the largest (1) of bounds."""
    known = [part for part in bounds if len(part)]
    if not known:
        return None
    found = extremes(pa.concat_arrays(known))
    return value_of(positive_zeros(found) if kind.root in FLOATS else found, kind, index)


def _partition_column(
    found: ColumnProfile, field: DataField, files: Sequence[_Files]
) -> ColumnProfile:
    """The profile of a partition column, whose values are known for each file."""
    row_type = files[0].target.schema.partition_type
    if field.name not in row_type.names or len(files) > 1 or not len(files[0].entries):
        return found
    table = files[0].entries.table
    different, codes = distinct(as_binary(column(table, "partition")))
    decode = PartitionFilter(row_type=row_type).decode
    values = decode(different).column(field.name)
    rows = np.bincount(codes, weights=numbers(table, "row_count")).astype(np.int64)
    encoded = values.dictionary_encode("encode")
    groups = int64_values(encoded.indices)
    counts = np.bincount(groups, weights=rows).astype(np.int64)
    dictionary = encoded.dictionary
    valid = dictionary.is_valid().to_numpy(zero_copy_only=False)
    order = np.argsort(-counts, kind="stable")
    shown = order[valid[order]][:SHOWN_VALUES]
    kind = field.type
    assert isinstance(kind, AtomicType)  # noqa: S101 - of a partition column
    chosen = take_rows(dictionary, shown)
    exact = files[0].is_exact
    return replace(
        found,
        nulls=int(counts[~valid].sum()),
        distinct=int(valid.sum()),
        minimum=_extreme(0, [dictionary.drop_null()], kind),
        maximum=_extreme(1, [dictionary.drop_null()], kind),
        frequent=tuple(
            FrequentValue(value=value_of(chosen, kind, i), count=int(counts[at]))
            for i, at in enumerate(shown.tolist())
        ),
        is_exact=exact,
        notes=(),
    )


def _analyzed(found: list[ColumnProfile], target: ScanTarget) -> tuple[list[ColumnProfile], str]:
    """Add the figures of ANALYZE, and return a remark on them."""
    snapshot = target.snapshot
    if snapshot is None or snapshot.statistics is None:
        return found, ""
    try:
        statistics = target.store.statistics.load(snapshot.statistics)
    except PaimonError as error:
        return found, f"The statistics of ANALYZE cannot be read: {error.message}"
    current = _is_current(statistics, snapshot)
    ids = {field.id for field in target.schema.fields}
    columns = {s.column_id: s for s in statistics.columns.values() if s.column_id in ids}
    by_path = {(f.name,): columns[f.id] for f in target.schema.fields if f.id in columns}
    merged = [
        _with_analysis(one, by_path[one.path], current=current) if one.path in by_path else one
        for one in found
    ]
    when = f"from ANALYZE of snapshot {statistics.snapshot_id}"
    state = "" if current else ", before the latest changes"
    return merged, f"Distinct values and lengths are {when}{state}."


def _is_current(statistics: Statistics, snapshot: Snapshot) -> bool:
    """Whether the statistics describe the rows of the snapshot."""
    if statistics.snapshot_id == snapshot.id:
        return True
    is_next = statistics.snapshot_id == snapshot.id - 1
    return is_next and snapshot.commit_kind is CommitKind.ANALYZE


def _with_analysis(
    found: ColumnProfile, known: ColumnStatistics, *, current: bool
) -> ColumnProfile:
    length = None
    if isinstance(found.type, AtomicType) and found.type.root in (*TEXTS, *BYTES):
        length = known.average_length
    found = replace(
        found,
        distinct=known.distinct_count if found.distinct is None else found.distinct,
        average_length=None if length is None else float(length),
        max_length=None if length is None else known.max_length,
    )
    if not current or found.is_exact or known.null_count is None:
        return found
    found = replace(found, nulls=known.null_count)
    if known.min is None or known.max is None:
        return found
    low, high = (_analyzed_value(text, found.type) for text in (known.min, known.max))
    return replace(found, minimum=low, maximum=high, is_exact=True, notes=())


def _analyzed_value(text: str, data_type: DataType) -> Value:
    """A bound of ANALYZE: dates and times are numbers, in files of old versions texts."""
    if (
        isinstance(data_type, AtomicType)
        and data_type.root in (TypeRoot.DATE, TypeRoot.TIME)
        and text.lstrip("-").isdigit()
    ):
        return edge_value(int(text), data_type)
    return Value(text=text, literal=NULL)
