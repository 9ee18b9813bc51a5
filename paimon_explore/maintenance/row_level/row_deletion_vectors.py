"""The deletion vectors of a bucket after rows of its files were deleted.

The index files that hold a vector that changes are replaced by new ones, with all vectors that they
held and that stay. A bucket of a table with buckets has one index file; without buckets there may
be several, and only those are written anew that have to be.

Spec: concepts/spec/tableindex, deletion vectors; `deletion-vector.index-file.target-size`.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import BucketVectors
from paimon_explore.maintenance.row_level.candidate_files import bitmap
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET
from paimon_explore.read.split_reader import load_vector
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.write.write_target import WriteTarget

_FRAME_BYTES = 64
"""About what a vector takes besides two bytes per row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChange:
    """What happens to the files of a bucket.

    Attributes:
        gone: names of data files that are removed.
        marked: positions that are deleted from now on, by data file.
    """

    gone: frozenset[str]
    marked: Mapping[str, Ints]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedVectors:
    """Index files that come and go."""

    added: IndexEntries
    gone: IndexEntries


def changed_vectors(scan: ScanTarget, split: DataSplit, change: VectorChange) -> ChangedVectors:
    """Write the vectors of a bucket anew, as far as they change.

    Args:
        scan: the table at its snapshot.
        split: any files of the bucket, out of a plan of that snapshot.
        change: what happens to the bucket's files.
    """
    held = _held(scan, split)
    is_bucketed = scan.options.value(opt.BUCKET) != DYNAMIC_BUCKET
    names = change.gone | frozenset(change.marked)
    touched = [row for row, files in held if not names.isdisjoint(files)]
    if is_bucketed and (touched or change.marked):
        touched = [row for row, _ in held]
    kept = [
        name
        for row, files in held
        if row in touched
        for name in files
        if name not in change.gone and name not in change.marked
    ]
    vectors = [(name, vector) for name in kept if (vector := _known(scan, split, name)) is not None]
    for name, rows in change.marked.items():
        vectors.append((name, bitmap(rows) | BitMap64(_known(scan, split, name) or ())))
    written = BucketVectors(
        WriteTarget(store=scan.store, schema=scan.schema, options=scan.options), split
    )
    try:
        added = [written.written(part) for part in _rolled(vectors, scan, whole=is_bucketed)]
    except BaseException:
        written.abort()
        raise
    return ChangedVectors(
        added=IndexEntries.concat(added), gone=IndexEntries.from_rows([dict(r) for r in touched])
    )


def _held(scan: ScanTarget, split: DataSplit) -> list[tuple[dict[str, object], tuple[str, ...]]]:
    """The index files of the bucket, and the data files whose vectors they hold."""
    if scan.snapshot is None:
        return []
    place = (split.partition, split.bucket)
    found = []
    for row in scan.store.manifests.index_of(scan.snapshot).of_type(DELETION_VECTORS_INDEX).rows():
        if (row["partition"], row["bucket"]) == place:
            ranges = row["dv_ranges"]
            files = [str(part["data_file"]) for part in ranges] if isinstance(ranges, list) else []
            found.append((row, tuple(files)))
    return found


def _known(scan: ScanTarget, split: DataSplit, name: str) -> DeletionVector | None:
    """The vector that a data file has now."""
    found = split.source.deletion_files.get(name)
    return None if found is None else load_vector(scan.store.file_io, found)


def _rolled(
    vectors: Sequence[tuple[str, DeletionVector]], scan: ScanTarget, *, whole: bool
) -> Iterator[Sequence[tuple[str, DeletionVector]]]:
    """The vectors by index file: all in one for a real bucket, else by size."""
    limit = scan.options.value(opt.DELETION_VECTOR_INDEX_FILE_TARGET_SIZE)
    part: list[tuple[str, DeletionVector]] = []
    size = 0
    for name, vector in vectors:
        part.append((name, vector))
        size += _FRAME_BYTES + 2 * len(vector)
        if size >= limit and not whole:
            yield part
            part, size = [], 0
    if part:
        yield part
