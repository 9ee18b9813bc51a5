"""The deletion vectors of a bucket during a compaction.

One index file contains all vectors of a bucket. It is rewritten when a vector changes: when rows of
a file are replaced, or when a file is rewritten without its deleted rows.

Spec: concepts/spec/tableindex, deletion vectors.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from paimon_explore.encoding.deletion_vector import DeletionVector, encode_vectors
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.fileio.requests_ahead import requests_ahead
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.read.deletion_vector_filter import load_vector, vector_part
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.write.write_target import WriteTarget


class BucketVectors:
    """The deletion vectors of the live files of one bucket.

    Args:
        target: the table.
        split: the files and the locations of their vectors.
    """

    def __init__(self, target: WriteTarget, split: DataSplit) -> None:
        self._target = target
        self._split = split
        self._names = [str(name) for name in split.files.table.column("file_name").to_pylist()]
        self._known = split.deletion_files
        self._deleted: dict[str, list[npt.NDArray[np.uint64]]] = {}
        self._removed: set[str] = set()
        self._written: list[str] = []

    def delete(self, file: int, positions: npt.NDArray[np.uint64]) -> None:
        """Mark rows of a file as deleted."""
        if len(positions):
            self._deleted.setdefault(self._names[file], []).append(positions)

    def remove(self, files: Sequence[int]) -> None:
        """Remove the vectors of files that are rewritten."""
        self._removed.update(self._names[file] for file in files)

    @property
    def _is_changed(self) -> bool:
        return bool(self._deleted) or not self._removed.isdisjoint(self._known)

    def write(self) -> IndexEntries:
        """Write the new index file of the bucket; empty if no vector changes."""
        if not self._is_changed:
            return IndexEntries.empty()
        names = [n for n in self._names if n in self._known or n in self._deleted]
        kept = [name for name in names if name not in self._removed]
        known = [vector_part(self._known[name]) for name in kept if name in self._known]
        with requests_ahead(self._target.store.file_io, known):
            return self.write_index([(name, self._vector(name)) for name in kept])

    def _vector(self, name: str) -> DeletionVector:
        found = self._known.get(name)
        positions = BitMap64()
        if found is not None:
            positions = BitMap64(load_vector(self._target.store.file_io, found))
        for more in self._deleted.get(name, ()):
            positions |= BitMap64(more.tolist())
        return positions

    def write_index(self, vectors: Sequence[tuple[str, DeletionVector]]) -> IndexEntries:
        """Write an index file of vectors by data file name."""
        target, split = self._target, self._split
        wide = target.options.value(opt.DELETION_VECTORS_BITMAP64)
        data, ranges = encode_vectors(vectors, wide=wide)
        names = target.file_names()
        name = f"index-{names.unique}-{next(names.numbers)}"
        folder = target.partition_path(split.partition)
        path = target.store.paths.index_file(folder, split.bucket, name)
        self._written.append(path)
        target.store.file_io.create(path, data)
        return IndexEntries.from_rows(
            [
                {
                    "kind": FileKind.ADD.value,
                    "partition": split.partition,
                    "bucket": split.bucket,
                    "index_type": DELETION_VECTORS_INDEX,
                    "file_name": name,
                    "file_size": len(data),
                    "row_count": len(ranges),
                    "dv_ranges": [
                        {
                            "data_file": part.data_file,
                            "offset": part.offset,
                            "length": part.length,
                            "cardinality": part.cardinality,
                        }
                        for part in ranges
                    ],
                }
            ]
        )

    def abort(self) -> None:
        """Delete the new index files."""
        discard(self._target.store.file_io, self._written)


def replaced_vectors(index: IndexEntries, new: IndexEntries) -> IndexEntries:
    """Return the index file that a new one replaces; the commit checks that it still exists.

    Args:
        index: the index files of the bucket when the change was planned.
        new: the new index file; empty if no vector changes.
    """
    return index.of_type(DELETION_VECTORS_INDEX) if len(new) else IndexEntries.empty()
