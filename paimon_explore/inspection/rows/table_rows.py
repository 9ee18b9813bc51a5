"""Makes row views: plans the scan, selects the files, counts the rows that are known."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.data_file_reader import (
    Bounded,
    OpenDataFile,
    Paged,
    PagesError,
    StoredColumn,
)
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.partition_argument import Given
from paimon_explore.inspection.rendering.code_snippet import point_code, point_options
from paimon_explore.inspection.rendering.number_format import at_snapshot
from paimon_explore.inspection.rendering.value_text import partitions_of
from paimon_explore.inspection.rows.row_code import LiveFiles, RowScope, RowsRequest, rows_code
from paimon_explore.inspection.rows.row_units import (
    LARGE_ROWS,
    KeyedTable,
    RowUnit,
    file_units,
    units_of,
)
from paimon_explore.inspection.rows.rows_view import RowsView
from paimon_explore.inspection.rows.unit_reader import UnitReader
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, ManifestEntries
from paimon_explore.read.data_file import DataFileSource, ReadRequest, open_rows
from paimon_explore.read.split_reader import SplitFile
from paimon_explore.scan.branch_scan import branches_read, plan_table
from paimon_explore.scan.live_entries import PartitionFilter, read_entries
from paimon_explore.scan.manifest_arrays import text
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.scan.requested_columns import project
from paimon_explore.scan.splits.data_split import DataSplit, PlainSplit, Split, Splits

_STATISTICS = frozenset(
    f"{kind}_{part}" for kind in ("key", "value") for part in ("min", "max", "null_counts")
)
_COLUMNS = frozenset(ENTRY_SCHEMA.names) - _STATISTICS


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsArguments:
    """The arguments of `Table.rows`."""

    where: Where | None = None
    columns: Sequence[str] | None = None
    partition: Given = None
    bucket: int | None = None
    file: str | None = None
    merged: bool | None = None


def table_rows(
    inspector: Inspector, given: RowsArguments, pinned: ScanTarget | None = None
) -> RowsView:
    """The rows of a table at the inspector's snapshot; see `Table.rows`.

    Args:
        inspector: the table.
        given: what to show.
        pinned: what `Table.scan` reads; None for the inspector's snapshot, with the latest schema
            if it is the latest.

    Raises:
        InvalidInputError: the condition or a column is invalid, or merged rows of a single file
            of a primary-key table are requested.
        NotFoundError: there is no such snapshot, partition, bucket or live file.
        PaimonError: a manifest cannot be read.
    """
    view = inspector.view
    travelled = not inspector.is_newest if pinned is None else pinned.travelled
    target = pinned or view.target(inspector.snapshot, travelled=travelled)
    at = inspector.snapshot_id if travelled else 0
    tag = inspector.timeline().only_tag(at) if at else ""
    row_type = target.schema.row_type
    names = row_type.names if given.columns is None else project(given.columns, row_type).names
    where = TRUE if given.where is None else bind(predicate(given.where), row_type)
    is_whole = given.partition is None and given.bucket is None and given.file is None
    live = None if is_whole and given.merged is not False else _live(target)
    scope = RowScope() if live is None else live.scope(given.partition, given.bucket, given.file)
    is_merged = _is_merged(given, target, scope)
    request = RowsRequest(
        expression=point_code(view.expression, at, tag),
        location=view.location,
        options=point_options(at, tag),
        scope=scope,
        where=where,
        columns=None if given.columns is None else tuple(names),
        merged=given.merged,
        in_partition=TRUE if live is None else live.condition(scope),
    )
    made = RowsView(
        name=at_snapshot(view.name, inspector.snapshot_id),
        target=target,
        scope=scope,
        columns=tuple(names),
        where=where,
        rest=where,
        is_merged=is_merged,
        units=(),
        request=request,
        partitions=() if live is None else live.partitions.texts,
        code=rows_code(request),
    )
    return _merged(made, live) if is_merged or live is None else _records(made, live)


def _is_merged(given: RowsArguments, target: ScanTarget, scope: RowScope) -> bool:
    if scope.file is None or not target.schema.primary_keys:
        return given.merged is not False
    if given.merged:
        raise InvalidInputError(
            "A single file of a primary-key table has stored records, not merged rows.",
            hint="Pass merged=False, or the partition and bucket of the file.",
        )
    return False


def _live(target: ScanTarget) -> LiveFiles:
    partitions = PartitionFilter(row_type=target.schema.partition_type)
    parts = [
        live_entries(
            read_entries(
                branch.store, branch.store.manifests.all(branch.snapshot), partitions, _COLUMNS
            )
        )
        for branch in branches_read(target)
        if branch.snapshot is not None
    ]
    entries = ManifestEntries.concat(parts) if parts else ManifestEntries.empty()
    return LiveFiles(entries, target.schema.partition_type)


def _merged(view: RowsView, live: LiveFiles | None) -> RowsView:
    target = view.target
    plan = plan_table(target, view.where)
    splits: Sequence[PlainSplit] = plan.splits
    partitions = view.partitions
    if live is not None:
        splits = _within(splits, live, view.scope)
    elif isinstance(splits, Splits):
        table = splits.files.entries.table
        partitions = partitions_of(table, target.schema.partition_type).texts
    units = units_of(splits, _keyed(target))
    if view.scope.file is not None:
        units = [unit for unit in units if _name_of(unit) == view.scope.file]
    if plan.rest != TRUE:
        units = [replace(unit, is_exact=False) for unit in units]
    return replace(view, units=tuple(units), rest=plan.rest, partitions=partitions)


def _keyed(target: ScanTarget) -> KeyedTable | None:
    keys = target.keys
    if keys is None:
        return None
    reader = UnitReader(target, TRUE, ()).split_reader(keys.names)

    def points_of(split: DataSplit, file: int) -> list[object]:
        source = SplitFile(split=split, row=file, reader=reader).source()
        return split_points(source, keys.fields[0], LARGE_ROWS)

    return KeyedTable(row_type=target.schema.row_type, keys=keys, points_of=points_of)


def _within(splits: Sequence[PlainSplit], live: LiveFiles, scope: RowScope) -> list[PlainSplit]:
    """The splits with files of a scope; all files of a split are in one bucket."""
    names = live.names(scope)
    return [split for split in splits if not names.isdisjoint(_names(split))]


def _names(split: Split) -> list[str]:
    return [str(name) for name in as_python(text(split.files.table, "file_name"))]


def _name_of(unit: RowUnit) -> str | None:
    """The name of the file of a unit; None if there are several."""
    if unit.files is None or len(unit.files) > 1 or not isinstance(unit.split, DataSplit):
        names = _names(unit.split)
        return names[0] if unit.files is None and len(names) == 1 else None
    return _names(unit.split)[unit.files[0]]


def _records(view: RowsView, live: LiveFiles) -> RowsView:
    target = view.target
    if len(branches_read(target)) > 1:
        raise InvalidInputError(
            "Stored records of a table that reads several branches cannot be listed together.",
            hint="Open one of its branches: pe.open_table(path, branch=…).",
        )
    if target.snapshot is None:
        return view
    located = target.located(live.entries, target.snapshot).take(
        np.array(live.in_order(), np.int64)
    )
    split = Splits.one(located) if len(located.entries) else None
    if split is None:
        return view
    names = live.names(view.scope)
    own = _names(split)
    units = tuple(
        unit
        for unit, name in zip(file_units(split.of), own, strict=True)
        if view.scope.is_whole or name in names
    )
    exact = view.where == TRUE
    units = units if exact else tuple(replace(unit, is_exact=False) for unit in units)
    return replace(view, units=units, live=split)


def split_points(source: DataFileSource, field: DataField, rows: int) -> list[object]:
    """Ascending values of the first key column, about `rows` rows apart.

    The rows between two values need not be exactly those between two row groups or pages: any
    values divide the keys.

    Args:
        source: a file sorted by key.
        field: the first key column.
        rows: minimum number of rows between two values.

    Returns:
        The values; none if the file has no statistics or cannot be read, which is reported when
        its rows are read.
    """
    try:
        with open_rows(source, ReadRequest(fields=(field,), from_keys=True)) as opened:
            columns = opened.columns(opened.request)
            if not columns.stored or not columns.unchanged[0]:
                return []
            candidates = list(_candidates(opened.file, columns.stored[0], rows))
    except PaimonError:
        return []
    found: list[object] = []
    last = 0
    for first, value in candidates:
        if value is not None and first - last >= rows:
            found.append(value)
            last = first
    return found


def _candidates(
    file: OpenDataFile, column: StoredColumn, rows: int
) -> Iterator[tuple[int, object]]:
    """Row positions, ascending, each with a lower bound of the values from there on."""
    bounds = file.bounds(column) if isinstance(file, Bounded) else None
    for index, span in enumerate(file.spans):
        if bounds is not None and index:
            yield span.first, bounds.minimum[index].as_py()
        if span.rows > rows:
            yield from _page_candidates(file, column, index)


def _page_candidates(
    file: OpenDataFile, column: StoredColumn, index: int
) -> Iterator[tuple[int, object]]:
    pages = file.paged((column,), index) if isinstance(file, Paged) else None
    if pages is None:
        return
    try:
        found = pages.bounds(column)
    except PagesError:
        return  # the statistics of the row groups are left
    if found is None:
        return
    firsts = found.firsts.tolist()
    for page in range(1, len(found.bounds.minimum)):
        yield firsts[page], found.bounds.minimum[page].as_py()
