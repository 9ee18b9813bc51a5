"""Update of a bucket's deletion vectors after rows were deleted.

Index files with a changed vector are replaced by new ones, which also contain their unchanged
vectors. In tables with fixed buckets a bucket has one index file; bucket-unaware tables may have
several, of which only the affected ones are rewritten.

Spec: concepts/spec/tableindex, deletion vectors; `deletion-vector.index-file.target-size`.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.errors import undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import BucketVectors
from paimon_explore.maintenance.row_level.candidate_files import bitmap
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET
from paimon_explore.read.deletion_vector_filter import load_vectors
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.write.write_target import WriteTarget

_OVERHEAD_BYTES = 64
"""Approximate size of a vector without its rows, which take two bytes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChange:
    """The changes to the data files of a bucket.

    Attributes:
        removed: names of data files that are removed.
        deleted: newly deleted positions by data file.
    """

    removed: frozenset[str]
    deleted: Mapping[str, Ints]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedVectors:
    """New and removed index files."""

    added: IndexEntries
    removed: IndexEntries


def changed_vectors(scan: ScanTarget, split: DataSplit, change: VectorChange) -> ChangedVectors:
    """Write the changed vectors of a bucket.

    Args:
        scan: the table at a snapshot.
        split: any files of the bucket, from a plan of that snapshot.
        change: the changes to the bucket's files.
    """
    index_files = _index_files(scan, split)
    is_bucketed = scan.options.value(opt.BUCKET) != DYNAMIC_BUCKET
    names = change.removed | frozenset(change.deleted)
    affected = [row for row, files in index_files if not names.isdisjoint(files)]
    if is_bucketed and (affected or change.deleted):
        affected = [row for row, _ in index_files]
    kept = [
        name
        for row, files in index_files
        if row in affected
        for name in files
        if name not in change.removed and name not in change.deleted
    ]
    known = _load_vectors(scan, split, [*kept, *change.deleted])
    vectors = [(name, known[name]) for name in kept if name in known]
    for name, rows in change.deleted.items():
        vectors.append((name, bitmap(rows) | BitMap64(known.get(name, ()))))
    vector_writer = BucketVectors(
        WriteTarget(store=scan.store, schema=scan.schema, options=scan.options), split
    )
    with undo_on_error(vector_writer.abort):
        added = [
            vector_writer.write_index(part)
            for part in _by_index_file(vectors, scan, single_file=is_bucketed)
        ]
    return ChangedVectors(
        added=IndexEntries.concat(added),
        removed=IndexEntries.from_rows([dict(row) for row in affected]),
    )


def _index_files(
    scan: ScanTarget, split: DataSplit
) -> list[tuple[dict[str, object], tuple[str, ...]]]:
    """Return the index files of the bucket, and the data files whose vectors they contain."""
    if scan.snapshot is None:
        return []
    bucket = (split.partition, split.bucket)
    found = []
    for row in scan.store.manifests.index_of(scan.snapshot).of_type(DELETION_VECTORS_INDEX).rows():
        if (row["partition"], row["bucket"]) == bucket:
            ranges = row["dv_ranges"]
            files = [str(part["data_file"]) for part in ranges] if isinstance(ranges, list) else []
            found.append((row, tuple(files)))
    return found


def _load_vectors(
    scan: ScanTarget, split: DataSplit, names: Sequence[str]
) -> dict[str, DeletionVector]:
    """Load the current vectors of those data files that have one."""
    known = split.source.deletion_files.get((split.partition, split.bucket), {})
    found = {name: known[name] for name in names if name in known}
    return dict(zip(found, load_vectors(scan.store.file_io, [*found.values()]), strict=True))


def _by_index_file(
    vectors: Sequence[tuple[str, DeletionVector]], scan: ScanTarget, *, single_file: bool
) -> Iterator[Sequence[tuple[str, DeletionVector]]]:
    """Group the vectors into index files: one for a fixed bucket, else by size."""
    limit = scan.options.value(opt.DELETION_VECTOR_INDEX_FILE_TARGET_SIZE)
    part: list[tuple[str, DeletionVector]] = []
    size = 0
    for name, vector in vectors:
        part.append((name, vector))
        size += _OVERHEAD_BYTES + 2 * len(vector)
        if size >= limit and not single_file:
            yield part
            part, size = [], 0
    if part:
        yield part
