"""A split: the files one reader takes, with all it needs to find and interpret them.

Splits cross process borders (Spark tasks), so they hold plain values and slices of Arrow tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.paths import MAIN_BRANCH


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionFile:
    """Where the deletion vector of one data file lies.

    Attributes:
        path: the index file.
        offset: byte of the vector's size field.
        length: as recorded; its meaning differs by layout, see `encoding.deletion_vector`.
        cardinality: number of deleted rows; None in files of old writers.
    """

    path: str
    offset: int
    length: int
    cardinality: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSplit:
    """Files of one bucket that are read together.

    Attributes:
        snapshot_id: the snapshot they were planned at; None for files of several snapshots.
        partition: partition row as in the manifest, with its 4-byte arity.
        bucket: the bucket; 0 in tables without buckets.
        total_buckets: bucket count the files were written under; -1 dynamic or none, -2 postponed.
        files: n entries, ordered as they have to be read.
        paths: n absolute paths of the files.
        raw_convertible: the files' rows are the table's rows; no merge is needed.
        deletion_files: by data file name, for the files that have a deletion vector.
        branch: the branch whose schemas the files' schema ids name.
        same_rows: files with the same number hold different columns of the same rows (data
            evolution); empty where every file holds rows of its own.
    """

    snapshot_id: int | None
    partition: bytes
    bucket: int
    total_buckets: int
    files: ManifestEntries
    paths: tuple[str, ...]
    raw_convertible: bool
    deletion_files: Mapping[str, DeletionFile] = field(default_factory=dict)
    branch: str = MAIN_BRANCH
    same_rows: tuple[int, ...] = ()

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        counts = self.files.table.column("row_count").to_pylist()
        return sum(count for count in counts if count is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredSplit:
    """Buckets of several partitions, laid over each other by key (chain tables).

    Attributes:
        layers: the buckets' files, oldest partition first; each is merged by itself, then a key's
            row of a later layer counts as written later.
        partition: partition row that all resulting rows have.
    """

    layers: tuple[DataSplit, ...]
    partition: bytes

    @property
    def snapshot_id(self) -> int | None:
        """None: the layers are of several branches."""
        return None

    @property
    def files(self) -> ManifestEntries:
        """The files of all layers."""
        return ManifestEntries.concat([layer.files for layer in self.layers])

    @property
    def raw_convertible(self) -> bool:
        """False: layers are always merged."""
        return False

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        return sum(layer.row_count for layer in self.layers)


Split: TypeAlias = DataSplit | LayeredSplit
"""What one reader takes."""
