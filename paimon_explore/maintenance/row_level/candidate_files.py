"""Candidate files of a row-level operation: the files that may contain matching rows."""

from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.read.deletion_vector_filter import positions
from paimon_explore.read.split_reader import SplitFile
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import numbers, row_array
from paimon_explore.scan.plan import ScanTarget, prune_files
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsTable, may_match
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.row_id_ranges import row_ranges, same_rows
from paimon_explore.scan.splits.split_generator import make_splits
from paimon_explore.write.table_layouts import ROW_ID


def plan_candidate_files(
    scan: ScanTarget, where: Expression
) -> tuple[Sequence[DataSplit], Expression]:
    """Plan the splits that may contain matching rows, with complete manifest entries.

    Returns:
        The splits, and the residual predicate to evaluate on rows.
    """
    check_single_branch(scan)
    parts = split_predicate(where, scan.schema.partition_keys)
    if scan.snapshot is None:
        return (), parts.rest
    partition_filter = PartitionFilter(row_type=scan.schema.partition_type, predicate=parts.pushed)
    entries = live_files(scan.store, scan.snapshot, partition_filter)
    on_columns = split_predicate(parts.rest, scan.schema.row_type.names).pushed
    entries = prune_files(scan, entries, on_columns, [])
    entries = _with_row_ids(entries, parts.rest)
    if not len(entries):
        return (), parts.rest
    return make_splits(scan.located(entries, scan.snapshot), scan.rules), parts.rest


def _with_row_ids(entries: ManifestEntries, where: Expression) -> ManifestEntries:
    """Return the files that may have rows with the row ids that a predicate allows.

    Files of the same rows are kept together.
    """
    on_row_ids = split_predicate(where, [ROW_ID.name]).pushed
    if on_row_ids == TRUE or not len(entries):
        return entries
    first, after = row_ranges(entries)
    bounds = ColumnStats(
        minimum=row_array(first),
        maximum=row_array(after - 1),
        null_count=row_array(np.zeros(len(entries), np.int64)),
    )
    stats = StatsTable(row_count=row_array(after - first), columns={ROW_ID.name: bounds})
    matches = may_match(on_row_ids, stats) | (first < 0)
    kept = [rows for rows in same_rows(entries) if matches[rows].any()]
    return entries.take(np.sort(np.concatenate([np.zeros(0, np.int64), *kept])))


def check_single_branch(scan: ScanTarget) -> None:
    """Check that all rows of a table are in one branch.

    Raises:
        UnsupportedFeatureError: the table has a fallback branch with rows.
    """
    if len(branches_read(scan)) > 1:
        raise UnsupportedFeatureError(
            "changing rows of a table with a fallback branch",
            hint="Open the branch that contains the rows, without 'scan.fallback-branch'.",
        )


def live_positions(file: SplitFile) -> Ints:
    """Return the positions of the live rows of a file."""
    rows = np.arange(int(numbers(file.split.files.table, "row_count")[file.row]))
    deleted = file.deleted()
    return rows if deleted is None else rows[np.isin(rows, positions(deleted), invert=True)]


def bitmap(rows: Ints) -> BitMap64:
    """Convert positions to a bitmap."""
    return BitMap64(rows.tolist())
