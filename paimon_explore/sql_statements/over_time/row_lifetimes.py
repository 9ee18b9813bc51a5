"""For a range of snapshots: which rows are read at which of them, each read once.

Files, or merged groups of files, that several snapshots share are read once. In append tables the
files that each commit added and removed are in its manifests; for others each snapshot is planned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_ENABLED,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.small_files import read_split
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import branches_read, plan_table
from paimon_explore.scan.manifest_arrays import column, numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.split_generator import files_as_splits
from paimon_explore.store.expired import explain_missing_files

FIRST, LAST = "_first", "_last"
"""Columns of `lifetime_rows`: the places of the first and last snapshot that has a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lifetime:
    """Rows that are read from the snapshot at one place to that at another."""

    split: DataSplit
    first: int
    last: int


def lifetime_rows(
    target: ScanTarget, snapshots: Sequence[Snapshot], columns: Sequence[str], where: Expression
) -> pa.RecordBatchReader | None:
    """Read the rows of several snapshots.

    Args:
        target: the table, with the schema of all snapshots.
        snapshots: in order.
        columns: to read.
        where: a filter; rows that do not match may be returned.

    Returns:
        The columns, `FIRST` and `LAST`; None if the rows of a snapshot are not those of its files.
    """
    target = target.for_read()
    if target.created_since is not None or target.only_bucket is not None:
        return None
    is_plain = target.keys is None and len(branches_read(target)) == 1
    for option in (DELETION_VECTORS_ENABLED, DATA_EVOLUTION_ENABLED):
        is_plain = is_plain and not target.options.value(option)
    found = _of_files(target, snapshots) if is_plain else _of_plans(target, snapshots, where)
    if found is None:
        return None
    reader = SplitReader(
        store=target.store,
        schema=target.schema,
        options=target.options,
        columns=tuple(columns),
        predicate=where if is_plain else TRUE,
    )
    schema = arrow_schema(target.schema.project(columns))
    for name in (FIRST, LAST):
        schema = schema.append(pa.field(name, pa.int32()))

    def batches() -> Iterator[pa.RecordBatch]:
        with explain_missing_files(target.store, *snapshots):
            for life in found:
                for batch in read_split(reader, life.split):
                    ends = [
                        pa.array(np.full(batch.num_rows, end, np.int32))
                        for end in (life.first, life.last)
                    ]
                    yield pa.RecordBatch.from_arrays([*batch.columns, *ends], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _of_files(target: ScanTarget, snapshots: Sequence[Snapshot]) -> list[_Lifetime] | None:
    """Files of an append table; those with the same lifetime are split as in a plan."""
    end = len(snapshots) - 1
    if [one.id for one in snapshots] != [*range(snapshots[0].id, snapshots[-1].id + 1)]:
        return None
    plan = plan_table(replace(target, snapshot=snapshots[0], travelled=True))
    if not isinstance(plan.splits, Splits):
        return None
    sources = [(0, plan.splits)]
    starts: dict[str, int] = {}
    lasts: dict[tuple[str, int], int] = {}
    for at, entries in enumerate(_deltas(target, snapshots[1:]), start=1):
        for name in _names(entries.of_kind(FileKind.DELETE)):
            lasts[name, starts.pop(name, 0)] = at - 1
        added = entries.of_kind(FileKind.ADD)
        if len(added):
            files = target.located_changes(added, snapshots[at])
            sources.append((at, files_as_splits(files, target.rules)))
            starts |= dict.fromkeys(_names(added), at)
    found: list[_Lifetime] = []
    for first, splits in sources:
        for split in splits:
            ends = np.array([lasts.get((name, first), end) for name in _names(split.files)])
            found += [
                _Lifetime(split=split.only(np.flatnonzero(ends == last)), first=first, last=last)
                for last in np.unique(ends).tolist()
                if last >= first
            ]
    return found


def _deltas(target: ScanTarget, snapshots: Sequence[Snapshot]) -> Iterator[ManifestEntries]:
    """The changes of each commit; all manifests are read at once."""
    manifests = target.store.manifests
    with explain_missing_files(target.store, *snapshots):
        lists = manifests.list_many([one.delta_manifest_list for one in snapshots])
        entries = manifests.read_many([name for files in lists for name in files.names])
    start = 0
    for files in lists:
        counts = [numbers(files.table, f"num_{kind}_files").sum() for kind in ("added", "deleted")]
        yield entries.slice(start, sum(map(int, counts)))
        start += sum(map(int, counts))


def _of_plans(
    target: ScanTarget, snapshots: Sequence[Snapshot], where: Expression
) -> list[_Lifetime] | None:
    """Splits of the plans of all snapshots."""
    open_ones: dict[object, _Lifetime] = {}
    found: list[_Lifetime] = []
    for at, snapshot in enumerate(snapshots):
        plan = plan_table(replace(target, snapshot=snapshot, travelled=True), where)
        if not all(isinstance(split, DataSplit) for split in plan.splits):
            return None
        here: dict[object, _Lifetime] = {}
        for split in plan.splits:
            assert isinstance(split, DataSplit)  # noqa: S101 - checked above
            vectors = tuple(sorted(split.deletion_files.items()))
            known = (split.partition, split.bucket, (*_names(split.files),), vectors)
            before = open_ones.pop(known, None)
            here[known] = (
                _Lifetime(split=split, first=at, last=at)
                if before is None
                else replace(before, last=at)
            )
        found += open_ones.values()
        open_ones = here
    return [*found, *open_ones.values()]


def _names(entries: ManifestEntries) -> list[str]:
    return [str(name) for name in as_python(column(entries.table, "file_name"))]
